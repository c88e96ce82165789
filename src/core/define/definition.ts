/**
 * What a developer's definitions become: plain, checked data that the verbs run.
 * `define.ts` is the typed front door; nothing else constructs these.
 */
import type { Context, SettledJob } from "./context.ts";
import type { JobId, Json } from "../job/job.ts";
import type { Problem } from "./problem.ts";
import type { TaskSize } from "../ports/launcher.ts";
import type { InRun, NewRun, RunId, Tx } from "../ports/ports.ts";
import type { Routes } from "./routes.ts";
import type { ScheduleSpec } from "../ports/schedule.ts";
import type { PerStage } from "./stage.ts";

export interface RetryPolicy {
  readonly maxAttempts: number;
  readonly backoff: "exponential" | "fixed";
  readonly baseMs: number;
  readonly capMs: number;
  readonly jitter: boolean;
}

export interface PayloadIssue {
  readonly path: string;
  readonly message: string;
}

export type PayloadCheck =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly issues: readonly PayloadIssue[] };

export interface JobDefinition {
  readonly id: string;
  readonly lane: string;
  readonly runOn: "lambda" | "fargate";
  /** Names of variables and of secrets that its handler reads: the stage has to give them to its lane. */
  readonly environment?: readonly string[];
  readonly secrets?: readonly string[];
  /** Of its task; null is that of the task definition. */
  readonly size: TaskSize | null;
  readonly timeoutMs: number;
  readonly leaseMs: number;
  readonly retry: RetryPolicy;
  readonly retentionMs: number;
  readonly onAmbiguous: "retry" | "park";
  /** Jobs of this kind at once, exact; null is no cap. */
  readonly concurrency: number | null;
  readonly lock: { readonly name: string; readonly ttlMs: PerStage<number> } | null;
  /** Applies the schema: the value a handler gets has its defaults. */
  readonly check: (payload: unknown) => Promise<PayloadCheck>;
  readonly key: ((payload: unknown) => string) | null;
  readonly run: (payload: unknown, context: Context) => Promise<Json | void>;
  readonly onSettled: ((payload: unknown, settled: SettledJob, tx: Tx) => Promise<void>) | null;
  /** What was found wrong when it was defined; `check` shows all of them together before anything starts. */
  readonly problems?: readonly Problem[];
  /** Jobs this one makes: they belong to the same app. */
  readonly makes?: readonly JobDefinition[];
  /** Of a sweep: starting later than this is alarmed. */
  readonly maxLatenessMs?: number;
  /** A schedule makes it due this much before the nominal time. */
  readonly materializeBeforeMs?: number;
  /** For what starts a run: the run of an input, all of its tasks. */
  readonly plan?: (payload: unknown, how: RunPlanOptions) => Promise<NewRun>;
  /** Its job opens a run and writes the run's jobs page by page: to do the run again is to run such a job again. */
  readonly writesPages?: true;
  /** Its payload may name the moment it works for; what is triggered by hand has no occurrence that would. */
  readonly readsMoment?: true;
  /** For a graph: of its shape; a run keeps the one it was started with. */
  readonly version?: number;
  /** For what starts a run: whether one of its jobs is wanted, asked before that job is claimed. */
  readonly condition?: (run: InRun) => Promise<ConditionResult>;
}

/** What a run's definition says about one of its jobs before it is claimed. */
export type ConditionResult =
  | { readonly wanted: true }
  /** `notTaken`: a branch, which is neither good nor bad for what comes after it. */
  | { readonly wanted: false; readonly reason: string; readonly notTaken: boolean };

/** What a run is planned with, besides its input. */
export interface RunPlanOptions {
  readonly stage: string;
  readonly key: string;
  readonly trace: string;
  readonly starterId: JobId | null;
  readonly parentId: RunId | null;
}

export interface ScheduleDefinition {
  readonly id: string;
  readonly job: JobDefinition;
  /** The stored form for one stage, computed from code; `problems` of the definition are found before this is called. */
  readonly spec: (stage: string, app: string) => ScheduleSpec;
  /** The payload of one occurrence. */
  readonly payload: (occurrence: Occurrence) => unknown;
  readonly problems?: readonly Problem[];
  /** What a reader of its expression may not expect; `check` prints it. */
  readonly notes?: readonly string[];
  /** The settings that differ by stage, by field, as they were written: `check` looks for unknown and missing stages. */
  readonly staged?: Readonly<Record<string, PerStage<unknown>>>;
}

/** What a handler, a payload function or a query learns about the occurrence it runs for. */
export interface Occurrence {
  readonly scheduleId: string;
  readonly scheduledFor: Date;
  readonly timezone: string;
  /** The local date of the nominal time in the schedule's zone, `YYYY-MM-DD`. */
  readonly day: string;
  readonly isCatchUp: boolean;
  readonly missedCount: number;
}

/** Settings of one lane. Defaults come from `topology.ts`. */
export interface LaneDefinition {
  readonly batchSize?: number | PerStage<number>;
  /** Worker processes at once, at least 2. */
  readonly concurrency?: number | PerStage<number>;
}

export interface AppDefinition {
  readonly name: string;
  readonly jobs: readonly JobDefinition[];
  readonly schedules: readonly ScheduleDefinition[];
  readonly lanes: Readonly<Record<string, LaneDefinition>>;
  /** A folder of numbered SQL files of the app's own tables, as a file URL; null when it has none. */
  readonly migrations: URL | null;
  /** Its own HTTP app, or null. */
  readonly routes: Routes | null;
  readonly problems?: readonly Problem[];
}

/** All definitions a process knows, by kind. */
export interface Registry {
  readonly apps: readonly AppDefinition[];
  readonly jobs: ReadonlyMap<string, JobDefinition>;
  readonly schedules: ReadonlyMap<string, ScheduleDefinition>;
}

/** @throws Error on a duplicate id; `check` reports these before anything starts. */
export function registry(apps: readonly AppDefinition[]): Registry {
  const jobs = new Map<string, JobDefinition>();
  const schedules = new Map<string, ScheduleDefinition>();
  for (const app of apps) {
    for (const job of app.jobs) addOnce(jobs, job, "job");
    for (const schedule of app.schedules) addOnce(schedules, schedule, "schedule");
  }
  return { apps, jobs, schedules };
}

function addOnce<T extends { readonly id: string }>(map: Map<string, T>, item: T, what: string): void {
  const known = map.get(item.id);
  if (known !== undefined && known !== item)
    throw new Error(`duplicate ${what} id "${item.id}": ids are unique across apps`);
  map.set(item.id, item);
}
