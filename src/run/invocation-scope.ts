import type { JobDefinition } from "../define/definition.ts";
import type { NewJob } from "../machine/job.ts";
import type { Aftermath } from "../machine/aftermath.ts";
import type { Claimed } from "../machine/store.ts";
import type { Tx } from "../machine/transaction.ts";
import type { KeptLog } from "./kept-log.ts";
import type { Hold } from "./lease-keeper.ts";
import type { WorkerScope } from "./worker-scope.ts";

/** The state that the context's methods share. Internal to the invocation. */
export interface InvocationScope {
  readonly worker: WorkerScope;
  readonly job: Claimed;
  readonly definition: JobDefinition;
  readonly hold: Pick<Hold, "interruption" | "signal">;
  readonly keptLog: KeptLog;
  readonly children: NewJob[];
  /** Aftermaths of the open transaction, for after its commit. */
  readonly left: Aftermath[];
  ordinal: number;
  phase: "open" | "transaction" | "settled" | "closed";
  tx: Tx | null;
  /** Of its transaction: aborted when the attempt ends before that does. */
  abandoned: AbortController | null;
}
