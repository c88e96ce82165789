import { fileURLToPath } from "node:url";
import type { Children } from "../process/children.ts";
import type { KeptPostgres } from "../services/kept-postgres.ts";
import type { Topology } from "../../stage/topology.ts";
import type { CodeVersion } from "../code.ts";
import type { LaneQueues } from "./resources.ts";

const file = fileURLToPath(new URL("./setup.ts", import.meta.url));

/**
 * What a start knows and a reload does not: the queues came up empty, the processes that held locks are gone, and the database
 * lies in the state folder.
 */
export type SetupFlag = "--queues-are-new" | "--holders-are-gone" | "--database-is-ours";

export interface SetupOptions {
  readonly children: Children;
  readonly env: Readonly<Record<string, string>>;
  readonly flags: readonly SetupFlag[];
  /** Ends the process. */
  readonly signal?: AbortSignal;
}

const setupTriesMax = 5;

/** A Postgres that dies during the setup is started again, and so is the setup, whose steps may be repeated. */
export async function setUp(options: SetupOptions, postgres: KeptPostgres | null): Promise<SetupReport> {
  for (let tries = 1; ; tries += 1) {
    const before = postgres?.deaths;
    try {
      return await runSetup(options);
    } catch (error) {
      if (postgres === null || postgres.deaths === before || tries >= setupTriesMax) throw error;
      await postgres.up();
    }
  }
}

/** Runs the setup process to its end. @throws SetupFailed with what it wrote. */
export async function runSetup(options: SetupOptions): Promise<SetupReport> {
  const stdout: string[] = [];
  const stderr: string[] = [];
  const child = options.children.start({
    name: "setup",
    // Of `stripTypeScriptTypes`.
    args: ["--disable-warning=ExperimentalWarning", file, ...options.flags],
    env: options.env,
    code: null,
    onLine: (line, stream) => void (stream === "stdout" ? stdout : stderr).push(line),
  });
  const end = (): void => void child.kill("SIGKILL");
  options.signal?.addEventListener("abort", end);
  const code = await new Promise<number | null>((resolve) => {
    child.once("close", resolve);
    child.once("error", () => resolve(null));
  });
  options.signal?.removeEventListener("abort", end);
  const last = stdout.at(-1);
  if (code !== 0 || last === undefined) {
    const loaded = last?.startsWith('{"loaded"') === true ? (stdout.pop(), JSON.parse(last) as Loaded) : null;
    throw new SetupFailed([...stdout, ...stderr].join("\n"), loaded?.loaded ?? null);
  }
  return JSON.parse(last) as SetupReport;
}

/** The definitions or the services cannot be used; the message is the output of the setup process. */
export class SetupFailed extends Error {
  override readonly name = "SetupFailed";
  /** What was loaded until it failed; null when that is not known. */
  readonly loaded: LoadedCode | null;
  constructor(message: string, loaded: LoadedCode | null = null) {
    super(message);
    this.loaded = loaded;
  }
}

type Loaded = Pick<SetupReport, "loaded">;

/** The project's own code as a process has just loaded it: what a later edit is looked for in. */
export interface LoadedCode {
  readonly files: readonly string[];
  /** Folders with migrations of the apps. */
  readonly migrations: readonly string[];
}

/** The result of the setup process: the last line it writes. */
export interface SetupReport {
  readonly topology: Topology;
  readonly queues: readonly LaneQueues[];
  readonly jobs: number;
  readonly schedules: number;
  /** How the stored schedules differed from code, a sentence each. */
  readonly differences: readonly string[];
  /** Jobs whose messages ended with the queue of the last run, and are sent again. */
  readonly requeued: number;
  /** By how much an earlier run in compressed time has left the database's clock ahead. */
  readonly clockAheadMs: number;
  readonly loaded: LoadedCode;
  /** What was loaded, for the processes that run it. */
  readonly code: CodeVersion;
  /** A file of the first app, from the project's folder: what a newcomer may change. */
  readonly edit: string;
  readonly fakes: readonly {
    readonly name: string;
    readonly file: string;
    readonly once: boolean;
  }[];
}
