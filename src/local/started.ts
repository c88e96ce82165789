/** What each part of a local system stands on: its child processes, its services and its setup. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Project, stageNamed } from "../stage/project.ts";
import { dropCode } from "./code.ts";
import { type Home, FolderGone } from "./home.ts";
import { createDeadWorkers, type DeadWorkers } from "./lambda/dead-workers.ts";
import { Children, withLastWords } from "./process/children.ts";
import { debugPorts } from "./process/debug-ports.ts";
import { markName } from "./process/operating-system.ts";
import { type Parts, startParts } from "./services/parts.ts";
import { setUp, type SetupFlag, type SetupReport } from "./setup/run-setup.ts";

export interface LocalPlace {
  readonly project: Project;
  readonly stage: string;
  readonly home: Home;
  /** What ends the parts, from the last started to the first; one that fails to stop does not keep the others. */
  readonly stops: AsyncDisposableStack;
}

export interface Started extends LocalPlace {
  readonly options: LocalOptions;
  readonly children: Children;
  /** Of the API: the first that is not taken. */
  readonly ports: readonly number[];
  readonly parts: Parts;
  readonly env: Readonly<Record<string, string>>;
  readonly setup: SetupReport;
  readonly readAtMs: number;
  readonly dead: DeadWorkers;
  /** Resolves when a folder with the system's data was deleted or moved away. */
  readonly gone: Promise<FolderGone>;
  readonly report: (event: LocalEvent) => void;
}

const stopMs = 5_000;
const lookMs = 1_000;

export async function begin(options: LocalOptions, place: LocalPlace): Promise<Started> {
  const { project, stage, home, stops } = place;
  const environment = options.environment ?? process.env;
  const report = options.onEvent ?? (() => {});
  const children = beginChildren(place, report, options.inspectPort ?? null);
  const leftovers = await children.endLeftovers();
  if (leftovers.length > 0) report({ is: "leftovers", names: leftovers });
  const { gone, goneWith } = watchHome(place);
  const ports = typeof options.port === "function" ? await options.port(leftovers.length > 0) : [options.port ?? 0];
  const parts = await startParts({
    home: home.folder,
    environment,
    postgresSettings: options.postgresSettings ?? {},
    onDied(error) {
      if (error instanceof FolderGone) goneWith(error);
      else report({ is: "problem", from: "postgres", what: "died", error });
    },
    onKeyLost: (error) => report({ is: "problem", from: "seal-key", what: "is missing, and a new one is made", error }),
  });
  stops.defer(() => parts.stop());
  stops.defer(() => children.stopAll(stopMs));
  const env = childEnvironment(options, { project, stage, home, parts, environment });
  const readAtMs = Date.now();
  const setup = await setUp({ children, env, flags: setupFlags(parts) }, parts.postgres);
  children.useCode(setup.code.file);
  dropCode(home.folder, [setup.code.file]);
  const dead = createDeadWorkers(env, setup.topology.lock.tableName, (error) =>
    report({ is: "problem", from: "worker", what: "ended, and its jobs wait for the end of its lease", error }),
  );
  stops.defer(() => dead.close());
  return { ...place, options, children, ports, parts, env, setup, readAtMs, dead, gone, report };
}

function beginChildren(
  { home, stops }: LocalPlace,
  report: (event: LocalEvent) => void,
  inspectPort: number | null,
): Children {
  const onProblem = (what: string): void => report({ is: "problem", from: "log", what, error: "" });
  const ports =
    inspectPort === null ? null : debugPorts(inspectPort, (from, port) => report({ is: "debugger", from, port }));
  const children = new Children(home.folder, withLastWords, onProblem, ports);
  // Whatever ends this process: what it has started must not go on without it.
  const killAll = (): void => {
    children.killAll();
    home.release();
  };
  process.once("exit", killAll);
  stops.defer(() => void process.off("exit", killAll));
  return children;
}

function watchHome({ home, stops }: LocalPlace): { gone: Promise<FolderGone>; goneWith(error: FolderGone): void } {
  const gone = Promise.withResolvers<FolderGone>();
  const looks = setInterval(() => {
    if (!home.isThere()) gone.resolve(new FolderGone(home.folder));
  }, lookMs);
  stops.defer(() => clearInterval(looks));
  return { gone: gone.promise, goneWith: gone.resolve };
}

const setupFlags = (parts: Parts): readonly SetupFlag[] => [
  ...(parts.postgres === null ? [] : (["--database-is-ours"] as const)),
  ...(parts.sqs === null ? [] : (["--queues-are-new"] as const)),
  ...(parts.dynamodb === null ? [] : (["--holders-are-gone"] as const)),
];

/** A system that a handler of another one starts has its own. */
const ofOneProcess = new Set(["BELFRY_CODE", markName]);

/** What every process of the system has in its environment. */
function childEnvironment(
  options: { readonly apps?: readonly URL[]; readonly timeScale?: number },
  about: {
    project: Project;
    stage: string;
    home: Home;
    parts: Parts;
    environment: Readonly<Record<string, string | undefined>>;
  },
): Readonly<Record<string, string>> {
  const inherited = Object.entries(about.environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !ofOneProcess.has(entry[0]),
  );
  const { archive } = stageNamed(about.project, about.stage);
  return {
    ...(archive === undefined ? {} : { BELFRY_ARCHIVE: pathToFileURL(join(about.home.folder, "archive")).href }),
    ...Object.fromEntries(inherited),
    ...about.parts.env,
    BELFRY_PROJECT: about.project.configFile,
    BELFRY_STAGE: about.stage,
    BELFRY_HOME: about.home.folder,
    BELFRY_TIME_SCALE: String(options.timeScale ?? 1),
    ...(options.apps === undefined ? {} : { BELFRY_APPS: options.apps.map((url) => url.href).join(",") }),
  };
}

export interface LocalOptions {
  /** The state folder. What is in it survives kill -9 of everything; deleting it gives a fresh system. */
  readonly home: string;
  readonly stage?: string;
  /** Its belfry.config.ts. Default: the nearest. */
  readonly project?: string;
  /** Modules whose default export is an array of apps, in place of the stage's own. */
  readonly apps?: readonly URL[];
  /** Of the API: the first that is not taken. 0 (the default) is any. A function is called once what an earlier start left has ended. */
  readonly port?: number | ((hadLeftovers: boolean) => Promise<readonly number[]>);
  readonly timeScale?: number;
  /** Of the embedded Postgres, for example `{ fsync: "off" }` in a test that does not pull the plug. */
  readonly postgresSettings?: Readonly<Record<string, string>>;
  /** Environment to read replacements from (`DATABASE_URL`, `AWS_ENDPOINT_URL*`) and to hand on. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** More environment for workers, for example a crash point. */
  readonly workerEnv?: Readonly<Record<string, string>>;
  /** Parts to leave out, for a caller that plays them. */
  readonly without?: readonly ("wakes" | "workers" | "api" | "fakes" | "watch")[];
  readonly onEvent?: (event: LocalEvent) => void;
  /** Debuggers may attach to workers and tasks: the first of their ports, each on a port of its own. */
  readonly inspectPort?: number | null;
}

/** What happens in the system, for display. */
export type LocalEvent =
  | { readonly is: "line"; readonly from: string; readonly stream: "stdout" | "stderr"; readonly line: string }
  | { readonly is: "problem"; readonly from: string; readonly what: string; readonly error: unknown }
  | { readonly is: "reloaded"; readonly file: string }
  | { readonly is: "leftovers"; readonly names: readonly string[] }
  | { readonly is: "debugger"; readonly from: string; readonly port: number }
  /** A debugger may have stopped it: its leases are kept. */
  | { readonly is: "still"; readonly from: string; readonly pid: number };
