import { resolve } from "node:path";
import { configFileOf, openProject, stageNamed } from "../stage/project.ts";
import { startApi } from "./api-process.ts";
import { claimHome, type FolderGone } from "./home.ts";
import { createLanes, type LanesOptions } from "./lambda/lanes.ts";
import type { OnLine } from "./process/children.ts";
import { debuggedMsMax, startsDebugged } from "./process/debug-ports.ts";
import { stillSecondsMin } from "./lambda/sandbox.ts";
import type { Parts } from "./services/parts.ts";
import type { SetupReport } from "./setup/run-setup.ts";
import { type Reloadable, reloadOnSave, type Reloads } from "./reload.ts";
import { startRuleClock } from "./tasks/rule-clock.ts";
import { startFakes } from "./fakes.ts";
import { begin, type LocalOptions, type LocalPlace, type Started } from "./started.ts";
import { startTasks } from "./tasks/tasks.ts";
import { startWakeClock } from "./tasks/wake-clock.ts";

export type { LocalEvent, LocalOptions } from "./started.ts";

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
  const stops = new AsyncDisposableStack();
  stops.defer(() => home.release());
  try {
    return await startAll(options, { project, stage, home, stops });
  } catch (error) {
    await stops.disposeAsync();
    throw error;
  }
}

async function startAll(options: LocalOptions, place: LocalPlace): Promise<LocalSystem> {
  const began = await begin(options, place);
  const { home, stops } = place;
  const { children, parts, setup, gone } = began;
  const { env, api, wakes } = await startProcesses(began);
  const inherited = options.environment ?? process.env;
  const own = Object.entries(env).filter(([name, value]) => inherited[name] !== value);
  home.announce({ api: api?.url ?? "", env: Object.fromEntries(own) });
  return {
    home: home.folder,
    urls: {
      api: api?.url ?? null,
      database: parts.env["DATABASE_URL"] ?? "",
      sqs: parts.env["AWS_ENDPOINT_URL_SQS"] ?? "",
      dynamodb: parts.env["AWS_ENDPOINT_URL_DYNAMODB"] ?? "",
      mail: parts.mail.url,
    },
    env,
    setup,
    postgres: parts.postgres,
    processes: () => children.running(),
    gone,
    wake: () => wakes?.again(),
    stop: () => stops.disposeAsync(),
    async kill() {
      children.killAll();
      await Promise.allSettled([parts.postgres?.stop("kill")]);
      await stops.disposeAsync();
    },
  };
}

/** What runs the project's code, in the order in which each needs the one before. */
async function startProcesses(began: Started) {
  const { options, children, home, setup, dead, stops, report } = began;
  const { topology } = setup;
  const { timeScale = 1, workerEnv = {} } = options;
  const env: Record<string, string> = { ...began.env };
  const isIn = (part: NonNullable<LocalOptions["without"]>[number]): boolean =>
    options.without?.includes(part) !== true;
  const linesOf =
    (from: string): OnLine =>
    (line, stream) =>
      report({ is: "line", from, stream, line });
  const onProblem = (from: string, what: string, error: unknown): void => report({ is: "problem", from, what, error });
  const until = <T extends { stop(): Promise<void> }>(part: T): T => stops.adopt(part, () => part.stop());

  if (isIn("fakes") && setup.fakes.length > 0)
    Object.assign(env, until(await startFakes(setup.fakes, { children, home: home.folder, env })).env);
  const isExpected = topology.jobTask !== null;
  const onTaskProblem = (what: string, error: unknown): void => onProblem("ecs-events", what, error);
  const tasks = until(await startTasks({ children, env, workerEnv, isExpected, linesOf, onProblem: onTaskProblem }));
  // Every process that starts later launches tasks there.
  Object.assign(env, tasks.settings);
  const onHung = (what: string): void => onProblem("api", what, "it is started again");
  const { ports } = began;
  const api = isIn("api") ? until(await startApi({ children, env, ports, onHung, onLine: linesOf("api") })) : null;
  const onLine = linesOf("worker");
  const debuggedMs = (options.inspectPort ?? null) !== null || startsDebugged(env) ? debuggedMsMax : null;
  const onWorkerStill: LanesOptions["onWorkerStill"] = (lane, pid, cause, seconds) => {
    if (debuggedMs === null) dead.still(lane, pid, cause);
    else if (seconds === stillSecondsMin) report({ is: "still", from: `worker ${lane}`, pid });
  };
  const ended = { onWorkerEnded: dead.ended, onWorkerStill };
  const workers = { children, env: { ...env, ...workerEnv }, timeScale, onLine, ...ended, debuggedMs, onProblem };
  const lanes = isIn("workers") ? until(createLanes(workers)) : null;
  lanes?.apply(setup.queues, topology);
  const clock = { children, env, timeScale, onLine: linesOf("scheduler") };
  const [rule] = isIn("wakes") ? topology.wakes : [];
  const wakes = rule === undefined ? null : until(startWakeClock({ ...clock, rateMinutes: rule.rateMinutes }));
  const rules = isIn("wakes")
    ? until(startRuleClock({ ...clock, wakes: topology.scheduleWakes, onEnded: dead.ruleEnded }))
    : null;
  if (isIn("watch")) until(watchSaves(began, { api, lanes, wakes, rules, tasks }));
  return { env, api, wakes };
}

function watchSaves({ children, env, setup, readAtMs, report, project, home }: Started, parts: Reloadable): Reloads {
  return reloadOnSave({
    ...parts,
    children,
    env,
    root: project.root,
    home: home.folder,
    loaded: setup.loaded,
    code: setup.code,
    readAtMs,
    onReloaded: (file) => report({ is: "reloaded", file }),
    onRejected: (file, what, error) => report({ is: "problem", from: file, what, error }),
  });
}
