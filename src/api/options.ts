import type { Registry } from "../define/definition.ts";
import type { Client } from "../run/enqueue.ts";
import type { LockStore, Ports } from "../machine/ports.ts";
import type { Database } from "../insight/sql-query.ts";
import type { Identify } from "./caller.ts";
import type { PageFiles } from "./console.ts";
import type { ReloadStatus } from "./saves.ts";

export interface LaneLimits {
  readonly name: string;
  /** Worker processes at once. */
  readonly concurrency: number;
  readonly batchSize: number;
  readonly functionTimeoutSeconds: number;
  readonly memoryMb: number;
}

export interface ApiOptions {
  readonly ports: Pick<
    Ports,
    "seals" | "store" | "queue" | "clock" | "random" | "log" | "metrics" | "crashPoint" | "tracing"
  >;
  /** What people read. */
  readonly insight: Database;
  readonly registry: Registry;
  /** Of this deployment, whether something waits in them or not. */
  readonly lanes: readonly LaneLimits[];
  readonly locks: Pick<LockStore, "read">;
  /** Default: every caller may operate, as `local`. */
  readonly identify?: Identify;
  readonly client: Client;
  /** Of the running code; `/health` shows it. */
  readonly version: string;
  /** Of this deployment; settings that differ by stage are read for it. Default `dev`. */
  readonly stage?: string;
  /** What the database costs a month. Default: not known. */
  readonly databaseUsd?: number | null;
  /** The number of the newest migration of the database; `/health` shows it. */
  readonly schemaVersion?: () => Promise<number>;
  /**
   * Who may call. `local` (default): requests that name this machine. `signed`: every request, because its signature was
   * checked before; only behind a function URL with IAM.
   */
  readonly access?: "local" | "signed";
  /**
   * Whether a stream of events ends as soon as it has sent the present events, and its client reconnects after 3 s: where a host
   * bills an open answer by the second, or holds answers back until they are whole. Default false.
   */
  readonly endsStreams?: boolean;
  /** Of a local system that watches its code: streams of events begin with what became of the newest save. */
  readonly saves?: ReloadStatus;
  /** The files of the page; without them there is no `/console`. Asked for with each request, so keep them. */
  readonly console?: () => Promise<PageFiles>;
}
