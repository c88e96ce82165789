import type { FlowFacts } from "../invariants/flow-control.ts";
import type { Seen, Sent } from "../invariants/signaled.ts";
import type { DeadLetter, Effect, Enqueue, FencedWrite, LockFact, WorkerFact } from "../invariants/evidence.ts";

export interface Era {
  readonly from: number;
  readonly everyMs: number;
  /** Later times that were decided before it began (their jobs were canceled): they stay. */
  readonly kept: readonly number[];
}

/** What happened, as those who took part saw it. The tables themselves are read at the end. */
export interface Record {
  readonly enqueues: Enqueue[];
  readonly workers: WorkerFact[];
  readonly gone: { readonly jobId: string; readonly attempt: number; readonly at: number }[];
  readonly fenced: FencedWrite[];
  readonly locks: LockFact[];
  readonly deadLetters: DeadLetter[];
  readonly effects: Effect[];
  readonly calls: FlowFacts["calls"][number][];
  readonly moves: FlowFacts["moves"][number][];
  readonly sent: Sent[];
  readonly seen: Seen[];
  /** The lease of each claim, by job and attempt. */
  readonly leases: Map<string, number>;
  /** Which period was in force since when, by schedule. */
  readonly eras: Map<string, Era[]>;
}

export const emptyRecord = (): Record => ({
  enqueues: [],
  workers: [],
  gone: [],
  fenced: [],
  locks: [],
  deadLetters: [],
  effects: [],
  calls: [],
  moves: [],
  sent: [],
  seen: [],
  leases: new Map(),
  eras: new Map(),
});
