import type { JobId } from "../../core/job/job.ts";
import type { OutboxBatch, OutMessage } from "../../core/ports/ports.ts";

/** A row that a statement made QUEUED, with the hand-off row it stands in. */
export interface Handed {
  readonly id: string;
  readonly generation: number;
  readonly lane: string;
  readonly trace: string;
  readonly delay_ms: number;
  readonly handoff: string | null;
}

/** The hand-offs of a statement's rows, in the order of the rows. Rows without one are left out. */
export function outboxOf(rows: readonly Handed[]): readonly OutboxBatch[] {
  const byId = new Map<string, { id: string; lane: string; messages: OutMessage[] }>();
  for (const row of rows) {
    if (row.handoff === null) continue;
    let handoff = byId.get(row.handoff);
    if (handoff === undefined) {
      handoff = { id: row.handoff, lane: row.lane, messages: [] };
      byId.set(row.handoff, handoff);
    }
    handoff.messages.push({
      jobId: row.id as JobId,
      generation: row.generation,
      trace: row.trace,
      delayMs: row.delay_ms,
    });
  }
  return [...byId.values()];
}
