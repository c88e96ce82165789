import type { Instant, NewJob } from "../../../src/machine/job.ts";
import { runLimits } from "../../../src/machine/run-limits.ts";
import type { NewRun } from "../../../src/machine/run.ts";
import { isFinal } from "../../../src/machine/state.ts";
import type { Tables } from "./tables.ts";

/** A run that a schedule's job starts before its nominal time may be taken back until then. */
export function aheadOf(t: Tables, { starterId }: NewRun): { of: Instant; by: string } | null {
  const starter = starterId === null ? undefined : t.jobs.get(Number(starterId));
  if (starter?.scheduleId == null || starter.scheduledFor === null) return null;
  const of = starter.effectiveAt ?? starter.scheduledFor;
  return of <= t.now() ? null : { of, by: starter.scheduleId };
}

/** A key whose job was withdrawn before it ran is free again. @throws Error while that job is still open. */
export function freeWithdrawnKey(t: Tables, { kind, key }: NewJob): void {
  const row = key === null ? undefined : t.withKey(kind, key);
  if (row === undefined || row.runId === null || row.attempt > 0 || t.runs.row(row.runId).withdrawn === null) return;
  if (!isFinal(row.state)) throw new Error(`job ${row.id}, which has this key, is still being withdrawn`);
  t.change(row, { key: `${row.key?.slice(0, runLimits.withdrawnKeyCharactersMax)}#withdrawn:${row.id}` });
}
