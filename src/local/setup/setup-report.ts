import type { Topology } from "../../topology.ts";
import type { CodeVersion } from "../code.ts";
import type { LaneQueues } from "./resources.ts";

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
