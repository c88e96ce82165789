import type { JobId, RunId } from "../../core/job/job.ts";
import { type Aftermath, noAftermath, type OutboxBatch, type OutMessage } from "../../core/ports/ports.ts";

/** A row that a statement made QUEUED, with the outbox batch it stands in. */
export interface Dispatched {
  readonly id: string;
  readonly generation: number;
  readonly lane: string;
  readonly trace: string;
  readonly delay_ms: number;
  readonly batch: string | null;
}

/** The batches of a statement's rows, in the order of the rows. Rows without one are left out. */
export function outboxOf(rows: readonly Dispatched[]): readonly OutboxBatch[] {
  const byId = new Map<string, { id: string; lane: string; messages: OutMessage[] }>();
  for (const row of rows) {
    if (row.batch === null) continue;
    let batch = byId.get(row.batch);
    if (batch === undefined) {
      batch = { id: row.batch, lane: row.lane, messages: [] };
      byId.set(row.batch, batch);
    }
    batch.messages.push({
      jobId: row.id as JobId,
      generation: row.generation,
      trace: row.trace,
      delayMs: row.delay_ms,
    });
  }
  return [...byId.values()];
}

/** What a statement's rows say is left to do. */
interface Followed extends Partial<Dispatched> {
  readonly freed?: readonly string[] | null;
  /** Of a job of a run that ended. */
  readonly run_id?: string | null;
}

/** `run_id` counts only in rows whose job ended: the statement, or its caller, leaves it out elsewhere. */
export function aftermathOf(rows: readonly Followed[]): Aftermath {
  if (rows.length === 0) return noAftermath;
  return {
    outbox: outboxOf(rows.filter(isDispatched)),
    runs: [...new Set(rows.flatMap((row) => row.run_id ?? []))] as RunId[],
    freed: [...new Set(rows.flatMap((row) => row.freed ?? []))],
    leftToRelay: [],
  };
}

const isDispatched = (row: Followed): row is Dispatched => row.batch !== undefined && row.batch !== null;
