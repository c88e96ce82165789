/**
 * What has to exist for a set of apps in a stage, as plain data. The CDK stack and the local system are both built
 * from it, and a test holds the synthesized template to it: what runs here is what is deployed.
 */
import type { AppDefinition, JobDefinition } from "../define/definition.ts";
import type { LaneDefinition } from "../define/lane.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { passLimits } from "../schedule/pass-limits.ts";
import { type Problem, ProblemList } from "../define/problem.ts";
import { ruleOf } from "../calendar/rule.ts";
import { checkTaskSize, jobTaskSize } from "../define/task-size.ts";
import { valueFor } from "../define/stage.ts";
import { checkSizes } from "./deployment-limits.ts";
import { type LaneNeeds, needsOf, settingsOf } from "./lane-settings.ts";
import type { Stage } from "./stages.ts";

export interface Topology extends Pick<Stage, "eventBus" | "eventWebhook" | "archive"> {
  readonly stage: string;
  readonly lanes: readonly LaneTopology[];
  readonly deadLetters: DeadLetterTopology;
  /** Features that have alarms of their own: an alarm that cannot ring is not made. */
  readonly uses: Readonly<Record<"sweeps" | "runs" | "parking" | "circuits" | "objectives", boolean>>;
  readonly lock: { readonly tableName: string };
  readonly wakes: readonly WakeTopology[];
  /** The rules of schedules that have their own (`launch: "rule"`), by id. */
  readonly scheduleWakes: readonly ScheduleWakeTopology[];
  readonly schedulerTask: SchedulerTaskTopology;
  /** The task of jobs on Fargate, where a job does not give its own size; null when there are none. */
  readonly jobTask: JobTaskTopology | null;
  readonly database: DatabaseTopology;
  readonly dispatchWindowMs: number;
  readonly onLockOutage: "postgres" | "skip";
  readonly logRetentionDays: Stage["logRetentionDays"];
  readonly api: { readonly concurrency: number; readonly isReserved: boolean };
  /** The number of the stage among several cells. */
  readonly cell?: number;
  readonly publishes: boolean;
}

/** A queue, its dead-letter queue and the worker between them. */
export interface LaneTopology extends LaneNeeds {
  readonly name: string;
  /** Used where queues have names (locally). Deployed queues get theirs from CloudFormation. */
  readonly queueName: string;
  readonly deadLetterQueueName: string;
  readonly visibilityTimeoutSeconds: number;
  readonly maxReceiveCount: number;
  readonly retentionSeconds: number;
  readonly deadLetterRetentionSeconds: number;
  readonly batchSize: number;
  readonly batchingWindowSeconds: number;
  /** Worker processes at once. */
  readonly concurrency: number;
  readonly functionTimeoutSeconds: number;
  readonly memoryMb: number;
}

/** What drains a lane's dead-letter queue into rows; the same for every lane. */
export type DeadLetterTopology = Pick<
  LaneTopology,
  "batchSize" | "concurrency" | "functionTimeoutSeconds" | "visibilityTimeoutSeconds"
>;

export interface WakeTopology {
  readonly id: string;
  readonly rateMinutes: number;
  /** A wake older than this is not delivered any more: the next one does its work. */
  readonly maximumEventAgeSeconds: number;
  readonly retryAttempts: number;
}

/** A rule that starts `run-schedule` for one schedule. */
export interface ScheduleWakeTopology {
  readonly schedule: string;
  /** Of its job, which runs in the task. */
  readonly lane: string;
  /** AWS's form in UTC: a wake for each of its times, and maybe for others, which find nothing due. */
  readonly expression: string;
  readonly maximumEventAgeSeconds: number;
  readonly retryAttempts: number;
}

export interface SchedulerTaskTopology {
  readonly cpu: number;
  readonly memoryMb: number;
  /** From SIGTERM to SIGKILL. */
  readonly stopTimeoutSeconds: number;
}

export interface JobTaskTopology extends SchedulerTaskTopology {
  /** Whose workers launch it. */
  readonly lanes: readonly string[];
}

export interface DatabaseTopology {
  readonly maxConnections: number;
  readonly poolPerWorker: number;
  readonly poolPerDrain: number;
  readonly poolPerSchedulerTask: number;
  /** Of one API process, beside the one for its transactions. */
  readonly poolPerApi: number;
  /** The most that all API processes together can open: the limit of their role. */
  readonly apiConnections: number;
  /** The most connections all processes together can open. */
  readonly connectionsMax: number;
}

export const defaultLane = "default";

const hourSeconds = 3_600;
const daySeconds = 24 * hourSeconds;
/** What a worker needs around its handlers: claim with its lock wait, an early message, settle and the way out. */
const functionMarginMs = 30_000;
const visibilityFactor = 6;
const poolPerSchedulerTask = 3;
/** Two scheduler tasks overlap while one ends and the next starts. */
const schedulerTasksMax = 2;
const poolPerDrain = 1;
const poolPerApi = 2;
/** Tasks of one kind at once that a kind without `concurrency` is counted with: it has no cap, and should have one. */
const uncappedTasks = 5;
/** Instances of the function that takes the events of tasks. */
const eventFunctionsMax = 2;

export function topology(apps: readonly AppDefinition[], stage: Stage): Topology {
  const lanes = laneNames(apps).map((name) => laneOf(name, apps, stage));
  const scheduleWakes = scheduleWakesOf(apps, stage);
  const deadLetters = { batchSize: 10, concurrency: 2, functionTimeoutSeconds: 30, visibilityTimeoutSeconds: 180 };
  return {
    stage: stage.name,
    lanes,
    deadLetters,
    uses: usesOf(apps, stage),
    lock: { tableName: `belfry-${stage.name}-lock` },
    wakes: [{ id: "pass", rateMinutes: passLimits.wakeMs / 60_000, maximumEventAgeSeconds: 120, retryAttempts: 2 }],
    scheduleWakes,
    schedulerTask: { ...stage.schedulerTask, stopTimeoutSeconds: 30 },
    jobTask: jobTaskOf(apps),
    database: databaseOf(lanes, deadLetters, { schedules: scheduleWakes.length, jobs: jobTasksMax(apps) }, stage),
    dispatchWindowMs: stage.dispatchWindowMs,
    onLockOutage: stage.onLockOutage,
    logRetentionDays: stage.logRetentionDays,
    api: { concurrency: stage.apiConcurrency, isReserved: stage.apiIsReserved ?? false },
    publishes: stage.eventBus !== undefined || stage.eventWebhook !== undefined,
    ...(stage.cell === undefined ? {} : { cell: stage.cell.number }),
    ...(stage.archive === undefined ? {} : { archive: stage.archive }),
    ...(stage.eventBus === undefined ? {} : { eventBus: stage.eventBus }),
    ...(stage.eventWebhook === undefined ? {} : { eventWebhook: stage.eventWebhook }),
  };
}

/** The default lane, every lane an app declares and every lane a job names, sorted. */
function laneNames(apps: readonly AppDefinition[]): readonly string[] {
  const named = apps.flatMap((app) => [...Object.keys(app.lanes), ...app.jobs.map((job) => job.lane)]);
  return [...new Set([defaultLane, ...named])].toSorted();
}

function laneOf(name: string, apps: readonly AppDefinition[], stage: Stage): LaneTopology {
  const jobs = apps.flatMap((app) => app.jobs.filter((job) => job.lane === name));
  const settings: LaneDefinition = Object.assign({}, ...apps.map((app) => app.lanes[name]));
  const batchSize = valueFor(stage.name, settings.batchSize) ?? 10;
  const functionTimeoutSeconds = functionTimeout(jobs);
  return {
    name,
    queueName: `belfry-${stage.name}-${name}`,
    deadLetterQueueName: `belfry-${stage.name}-${name}-dead`,
    visibilityTimeoutSeconds: visibilityFactor * functionTimeoutSeconds,
    maxReceiveCount: 5,
    retentionSeconds: 4 * daySeconds,
    deadLetterRetentionSeconds: 14 * daySeconds,
    batchSize,
    batchingWindowSeconds: batchSize > 10 ? 1 : 0,
    concurrency: valueFor(stage.name, settings.concurrency) ?? stage.laneConcurrency,
    functionTimeoutSeconds,
    memoryMb: settingsOf(name, stage).memoryMb ?? stage.workerMemoryMb,
    ...needsOf(name, apps, stage),
  };
}

/** The longest handler of the lane and the margin. A Fargate job takes the worker only as long as its launch. */
function functionTimeout(jobs: readonly JobDefinition[]): number {
  const onLambda = jobs.filter((job) => job.runOn === "lambda").map((job) => job.timeoutMs);
  const handlerMs = Math.max(contractLimits.timeoutMsDefault, ...onLambda);
  return Math.ceil((Math.min(handlerMs, contractLimits.lambdaTimeoutMsMax) + functionMarginMs) / 1_000);
}

function jobTaskOf(apps: readonly AppDefinition[]): JobTaskTopology | null {
  const jobs = apps.flatMap((app) => app.jobs.filter((job) => job.runOn === "fargate"));
  if (jobs.length === 0) return null;
  const lanes = [...new Set(jobs.map((job) => job.lane))].toSorted();
  return { ...jobTaskSize, stopTimeoutSeconds: 60, lanes };
}

const jobTasksMax = (apps: readonly AppDefinition[]): number =>
  apps
    .flatMap((app) => app.jobs.filter((job) => job.runOn === "fargate"))
    .reduce((sum, { concurrency }) => sum + (concurrency ?? uncappedTasks), 0);

function usesOf(apps: readonly AppDefinition[], stage: Stage): Topology["uses"] {
  const jobs = apps.flatMap((app) => app.jobs);
  return {
    sweeps: jobs.some((job) => job.body.is === "sweep"),
    runs: jobs.some((job) => ["graph", "dataGraph", "fanOut"].includes(job.body.is)),
    parking: jobs.some((job) => job.onAmbiguous === "park"),
    circuits: jobs.some((job) => job.circuit !== null),
    objectives: apps.some(({ name, schedules }) =>
      schedules.some((schedule) => schedule.spec(stage.name, name).objective !== undefined),
    ),
  };
}

/** Schedules that are off in the stage have no rule: a wake would only find them off. */
function scheduleWakesOf(apps: readonly AppDefinition[], stage: Stage): readonly ScheduleWakeTopology[] {
  const schedules = apps.flatMap((app) =>
    app.schedules.map((schedule) => ({ spec: schedule.spec(stage.name, app.name), lane: schedule.job.lane })),
  );
  return schedules
    .filter(({ spec }) => spec.enabled && spec.launch === "rule")
    .map(({ spec, lane }) => ({
      schedule: spec.id,
      lane,
      expression: ruleOf(spec),
      maximumEventAgeSeconds: 120,
      retryAttempts: 2,
    }))
    .toSorted((a, b) => (a.schedule < b.schedule ? -1 : 1));
}

function databaseOf(
  lanes: readonly LaneTopology[],
  drain: DeadLetterTopology,
  tasks: { readonly schedules: number; readonly jobs: number },
  stage: Stage,
): DatabaseTopology {
  const { maxConnections, poolPerWorker } = stage.database;
  const workers = lanes.reduce((sum, lane) => sum + lane.concurrency * poolPerWorker, 0);
  const drains = lanes.length * drain.concurrency * poolPerDrain;
  const schedulers = (schedulerTasksMax + tasks.schedules) * poolPerSchedulerTask;
  const jobs = tasks.jobs * poolPerWorker + (tasks.jobs > 0 ? eventFunctionsMax : 0);
  const apiConnections = stage.apiConcurrency * (poolPerApi + 1);
  const connectionsMax = workers + drains + schedulers + jobs + apiConnections;
  const pools = { poolPerWorker, poolPerDrain, poolPerSchedulerTask, poolPerApi };
  return { maxConnections, ...pools, apiConnections, connectionsMax };
}

/** Of `max_connections`: the rest is for people and what the server itself needs. */
export const poolShareMax = 0.6;

/** Rules that the numbers of a stage, its lanes and its database keep together. */
export function checkTopology(all: Topology): readonly Problem[] {
  const problems = new ProblemList(`stage "${all.stage}"`);
  checkSizes(problems, all);
  const { connectionsMax, maxConnections } = all.database;
  const allowed = Math.floor(poolShareMax * maxConnections);
  if (connectionsMax > allowed) {
    const rule = `must be at most ${allowed}, 60 % of max_connections ${maxConnections}`;
    problems.add(
      "database.connectionsMax",
      connectionsMax,
      rule,
      "lower the concurrency of its lanes or of the API, or use a larger database",
    );
  }
  checkTaskSize(all.schedulerTask, problems, "schedulerTask");
  const wakeMs = Math.max(...all.wakes.map((wake) => wake.rateMinutes * 60_000));
  if (all.dispatchWindowMs < wakeMs) {
    const rule = `must be at least ${wakeMs}, the time between wakes`;
    problems.add("dispatchWindowMs", all.dispatchWindowMs, rule, "raise it");
  }
  return problems.found;
}
