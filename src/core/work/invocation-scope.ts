import type { JobDefinition } from "../define/definition.ts";
import type { NewJob } from "../job/job.ts";
import type { Claimed, OutboxBatch, RunId, Tx } from "../ports/ports.ts";
import type { WorkerScope } from "./worker-scope.ts";

/** What the context's methods share. Internal to the invocation. */
export interface InvocationScope {
  readonly worker: WorkerScope;
  readonly job: Claimed;
  readonly definition: JobDefinition;
  readonly signal: AbortSignal;
  readonly children: NewJob[];
  /** Hand-offs of jobs that were inserted in the open transaction; sent after its commit. */
  readonly outbox: OutboxBatch[];
  /** Runs that the open transaction changed; brought forward after its commit. */
  readonly runs: Set<RunId>;
  ordinal: number;
  stage: "open" | "transaction" | "settled" | "closed";
  tx: Tx | null;
}
