/** What each part of a local system stands on: its child processes, its services and its setup. */
import type { Project } from "../project.ts";
import { childEnvironment } from "./child-environment.ts";
import { dropCode } from "./code.ts";
import type { Home } from "./home.ts";
import { createDeadWorkers, type DeadWorkers } from "./lambda/dead-workers.ts";
import type { LocalEvent, LocalOptions } from "./options.ts";
import { Children, withLastWords } from "./process/children.ts";
import { FolderGone } from "./process/folder-gone.ts";
import { type Parts, startParts } from "./services/parts.ts";
import { setUp, type SetupFlag } from "./setup/run-setup.ts";
import type { SetupReport } from "./setup/setup-report.ts";

export interface LocalPlace {
  readonly project: Project;
  readonly stage: string;
  readonly home: Home;
  /** Filled from the first started to the last; run from the last to the first. */
  readonly stops: (() => Promise<void> | void)[];
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
  const children = beginChildren(place, report);
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
  });
  stops.push(
    () => parts.stop(),
    () => children.stopAll(stopMs),
  );
  const env = childEnvironment(options, { project, stage, home, parts, environment });
  const readAtMs = Date.now();
  const setup = await setUp({ children, env, flags: setupFlags(parts) }, parts.postgres);
  children.useCode(setup.code.file);
  dropCode(home.folder, [setup.code.file]);
  const dead = createDeadWorkers(env, setup.topology.lock.tableName, (error) =>
    report({ is: "problem", from: "worker", what: "ended, and its jobs wait for the end of its lease", error }),
  );
  stops.push(() => dead.close());
  return { ...place, options, children, ports, parts, env, setup, readAtMs, dead, gone, report };
}

function beginChildren({ home, stops }: LocalPlace, report: (event: LocalEvent) => void): Children {
  const onProblem = (what: string): void => report({ is: "problem", from: "log", what, error: "" });
  const children = new Children(home.folder, withLastWords, onProblem);
  // Whatever ends this process: what it has started must not go on without it.
  const killAll = (): void => {
    children.killAll();
    home.release();
  };
  process.once("exit", killAll);
  stops.push(() => void process.off("exit", killAll));
  return children;
}

function watchHome({ home, stops }: LocalPlace): { gone: Promise<FolderGone>; goneWith(error: FolderGone): void } {
  const gone = Promise.withResolvers<FolderGone>();
  const looks = setInterval(() => {
    if (!home.isThere()) gone.resolve(new FolderGone(home.folder));
  }, lookMs);
  stops.push(() => clearInterval(looks));
  return { gone: gone.promise, goneWith: gone.resolve };
}

const setupFlags = (parts: Parts): readonly SetupFlag[] => [
  ...(parts.postgres === null ? [] : (["--database-is-ours"] as const)),
  ...(parts.sqs === null ? [] : (["--queues-are-new"] as const)),
  ...(parts.dynamodb === null ? [] : (["--holders-are-gone"] as const)),
];
