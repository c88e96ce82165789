import { resolve } from "node:path";
import { sqsClient } from "../adapters/aws/sqs-client.ts";
import { configFileOf, openProject, stageNamed } from "../project.ts";
import { type ApiProcess, startApi } from "./api-process.ts";
import { claimHome } from "./home.ts";
import { createLanes, type Lanes } from "./lambda/lanes.ts";
import type { Parts } from "./services/parts.ts";
import type { SetupReport } from "./setup/setup-report.ts";
import { type Reloadable, reloadOnSave } from "./reload.ts";
import type { LocalOptions } from "./options.ts";
import type { FolderGone } from "./process/folder-gone.ts";
import { type RuleClock, startRuleClock } from "./tasks/rule-clock.ts";
import { type Fakes, startFakes } from "./fakes.ts";
import { type LocalPlace, begin, type Started } from "./started.ts";
import { stopInOrder } from "./process/stop-in-order.ts";
import { startTasks, type Tasks } from "./tasks/tasks.ts";
import { startWakeClock, type WakeClock } from "./tasks/wake-clock.ts";

export type { LocalEvent, LocalOptions } from "./options.ts";

export interface LocalSystem {
  readonly home: string;
  readonly urls: {
    readonly api: string | null;
    readonly database: string;
    readonly sqs: string;
    readonly dynamodb: string;
    readonly mail: string;
  };
  /** What every process of the system has in its environment: enough for a test to open a runtime of its own. */
  readonly env: Readonly<Record<string, string>>;
  readonly setup: SetupReport;
  readonly postgres: Parts["postgres"];
  /** The child processes that run now; workers are named `worker LANE`, scheduler tasks `scheduler`. */
  processes(): readonly { readonly name: string; readonly pid: number }[];
  /** Resolves when a folder with its data was deleted or moved away: `kill` it then. */
  readonly gone: Promise<FolderGone>;
  /** One more wake, at once. */
  wake(): void;
  /** Stops everything in order: wakes, workers, API, targets, services. Leaves no process. */
  stop(): Promise<void>;
  /** Ends every process with SIGKILL, as a power cut would. What was committed is there at the next start. */
  kill(): Promise<void>;
}

/**
 * Starts the whole system on this machine.
 * @throws AlreadyRunning when another one uses the folder; SetupFailed when the definitions cannot be used; else an
 * error that names the part. Nothing is left running then.
 */
export async function startLocal(options: LocalOptions): Promise<LocalSystem> {
  const environment = options.environment ?? process.env;
  const project = await openProject(options.project ?? configFileOf(environment, process.cwd()));
  const stage = stageNamed(project, options.stage ?? "dev").name;
  const home = claimHome(resolve(options.home), stage);
  const stops: (() => Promise<void> | void)[] = [() => home.release()];
  try {
    return await startAll(options, { project, stage, home, stops });
  } catch (error) {
    await stopInOrder(stops);
    throw error;
  }
}

async function startAll(options: LocalOptions, place: LocalPlace): Promise<LocalSystem> {
  const began = await begin(options, place);
  const { home, stage, stops } = place;
  const { children, env, parts, setup } = began;
  const fakes = await beginFakes(began);
  const workEnv: Record<string, string> = { ...env, ...fakes?.env };
  const tasks = await beginTasks(began, workEnv);
  const api = await beginApi(began, workEnv);
  const lanes = beginLanes(began, workEnv);
  const wakes = beginWakes(began, workEnv);
  const rules = beginRules(began, workEnv);
  beginWatch(began, { api, lanes, wakes, rules, tasks });
  home.announce({ stage, api: api?.url ?? "" });
  return {
    home: home.folder,
    urls: {
      api: api?.url ?? null,
      database: parts.env["DATABASE_URL"] ?? "",
      sqs: parts.env["AWS_ENDPOINT_URL_SQS"] ?? "",
      dynamodb: parts.env["AWS_ENDPOINT_URL_DYNAMODB"] ?? "",
      mail: parts.mail.url,
    },
    env: workEnv,
    setup,
    postgres: parts.postgres,
    processes: () => children.running(),
    gone: began.gone,
    wake: () => wakes?.again(),
    stop: () => stopInOrder(stops),
    async kill() {
      children.killAll();
      await Promise.allSettled([parts.postgres?.stop("kill")]);
      await stopInOrder(stops);
    },
  };
}

const isWanted = (part: NonNullable<LocalOptions["without"]>[number], { options }: Started): boolean =>
  options.without?.includes(part) !== true;

const linesOf =
  (from: string, { report }: Started) =>
  (line: string, stream: "stdout" | "stderr"): void =>
    report({ is: "line", from, stream, line });

async function beginFakes(started: Started): Promise<Fakes | null> {
  if (!isWanted("fakes", started) || started.setup.fakes.length === 0) return null;
  const { children, env, home, setup, stops } = started;
  const fakes = await startFakes(setup.fakes, { children, home: home.folder, env });
  stops.push(() => fakes.stop());
  return fakes;
}

/** Adds the place where tasks are launched to `env`: every process that starts later needs it. */
async function beginTasks(started: Started, env: Record<string, string>): Promise<Tasks> {
  const { children, options, setup, stops, report } = started;
  const tasks = await startTasks({
    children,
    env,
    workerEnv: options.workerEnv ?? {},
    isExpected: setup.topology.jobTask !== null,
    linesOf: (from) => linesOf(from, started),
    onProblem: (what, error) => report({ is: "problem", from: "ecs-events", what, error }),
  });
  Object.assign(env, tasks.settings);
  stops.push(() => tasks.stop());
  return tasks;
}

async function beginApi(started: Started, env: Readonly<Record<string, string>>): Promise<ApiProcess | null> {
  if (!isWanted("api", started)) return null;
  const { children, ports, stops, report } = started;
  const onHung = (what: string): void => report({ is: "problem", from: "api", what, error: "it is started again" });
  const api = await startApi({ children, env, ports, onHung, onLine: linesOf("api", started) });
  stops.push(() => api.stop());
  return api;
}

function beginLanes(started: Started, env: Readonly<Record<string, string>>): Lanes | null {
  if (!isWanted("workers", started)) return null;
  const { children, options, parts, setup, dead, stops, report } = started;
  const region = parts.env["AWS_REGION"] ?? "us-east-1";
  const client = sqsClient({ region, sqsEndpoint: parts.env["AWS_ENDPOINT_URL_SQS"] ?? null, dynamodbEndpoint: null });
  const lanes = createLanes({
    children,
    client,
    region,
    env: { ...env, ...options.workerEnv },
    timeScale: options.timeScale ?? 1,
    onLine: linesOf("worker", started),
    onWorkerEnded: dead.ended,
    onWorkerStill: dead.still,
    onProblem: (from, what, error) => report({ is: "problem", from, what, error }),
  });
  lanes.apply(setup.queues, setup.topology);
  stops.push(async () => {
    await lanes.stop();
    client.destroy();
  });
  return lanes;
}

function beginWakes(started: Started, env: Readonly<Record<string, string>>): WakeClock | null {
  const [rule] = started.setup.topology.wakes;
  if (!isWanted("wakes", started) || rule === undefined) return null;
  const { children, options, stops } = started;
  const clock = startWakeClock({
    children,
    env: { ...env, ...options.schedulerEnv },
    rateMinutes: rule.rateMinutes,
    timeScale: options.timeScale ?? 1,
    onLine: linesOf("scheduler", started),
  });
  stops.push(() => clock.stop());
  return clock;
}

function beginRules(started: Started, env: Readonly<Record<string, string>>): RuleClock | null {
  if (!isWanted("wakes", started)) return null;
  const { children, options, setup } = started;
  const about = { children, env: { ...env, ...options.schedulerEnv }, timeScale: options.timeScale ?? 1 };
  const to = { onLine: linesOf("scheduler", started), onEnded: started.dead.ruleEnded };
  const clock = startRuleClock({ ...about, ...to, wakes: setup.topology.scheduleWakes });
  started.stops.push(() => clock.stop());
  return clock;
}

function beginWatch(started: Started, parts: Reloadable): void {
  if (!isWanted("watch", started)) return;
  const { children, env, setup, readAtMs, report, stops, project } = started;
  const reloads = reloadOnSave({
    ...parts,
    children,
    env,
    root: project.root,
    home: env["BELFRY_HOME"] ?? "",
    loaded: setup.loaded,
    code: setup.code,
    readAtMs,
    onReloaded: (file) => report({ is: "reloaded", file }),
    onRejected: (file, what, error) => report({ is: "problem", from: file, what, error }),
  });
  stops.push(() => reloads.stop());
}
