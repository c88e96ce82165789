import type { JobId } from "../../../src/machine/job.ts";
import type { ScheduleSpec } from "../../../src/machine/schedule.ts";
import { isWithdrawn } from "../../../src/schedule/prematerialized.ts";
import { runLimits } from "../../../src/machine/run-limits.ts";
import { isFinal } from "../../../src/machine/state.ts";
import { cancel } from "./control.ts";
import type { OccurrenceRow, RunRow } from "./rows.ts";
import { addDelta } from "./runs.ts";
import { dropPassed } from "./slots.ts";
import { occurrenceKey, type Tables } from "./tables.ts";
import { pauseAt } from "../../../src/machine/pause.ts";

/** Lets go, or withdraws, what was written ahead for times that have come. */
export function decidePrematerialized(
  t: Tables,
  limit: number,
  scheduleId?: string,
): { decided: number; withdrawn: number } {
  const untilAt = t.now() + (scheduleId === undefined ? 0 : runLimits.prematerializedMarginMs);
  const due = [...t.runs.values()]
    .filter(({ ahead }) => ahead !== null && ahead.of <= untilAt && (scheduleId ?? ahead.by) === ahead.by)
    .slice(0, limit);
  const whys = due.map((run) => {
    const starter = run.starterId === null ? undefined : t.jobs.get(run.starterId);
    const isPaused = pauseAt(t.schedules.get(run.ahead?.by ?? "") ?? null, t.now()) !== null;
    const why = isPaused ? "paused" : !run.sealed && starter?.state === "CANCELED" ? "withdrawn" : null;
    if (why === null) t.runs.set(run.id, { ...run, ahead: null });
    else withdrawRun(t, run, why);
    const occurrence = run.starterId === null ? undefined : t.occurrenceOf(run.starterId);
    if (why === "paused" && occurrence !== undefined && hasBegun(occurrence)) {
      t.putOccurrence({
        ...occurrence,
        outcome: "SKIPPED",
        reason: "paused",
        decidedAt: t.now(),
        latenessMs: Math.max(0, t.now() - (occurrence.effectiveAt ?? occurrence.nominalAt)),
      });
    }
    return why;
  });
  return { decided: due.length, withdrawn: whys.filter((why) => why !== null).length };
}

/** Takes back what was written ahead for times that `next` has not. */
export function withdrawOutdated(t: Tables, scheduleId: string, next: ScheduleSpec | null): void {
  for (const row of Array.from(t.occurrences.values())) {
    if (row.scheduleId !== scheduleId || row.nominalAt <= t.now() || !hasBegun(row) || row.jobId === null) continue;
    const spec = t.eras.rows.find((era) => era.scheduleId === scheduleId && era.version === row.version)?.spec;
    const starter = t.jobs.get(row.jobId);
    if (spec == null || spec.materializeBeforeMs === 0 || starter === undefined) continue;
    const run = [...t.runs.values()].find((one) => one.starterId === row.jobId);
    if (run === undefined ? isFinal(starter.state) : run.ahead === null) continue;
    if (!isWithdrawn({ spec, nominalAt: row.nominalAt }, next)) continue;
    if (run !== undefined) withdrawRun(t, run, "withdrawn");
    t.occurrences.delete(occurrenceKey(row));
    cancel(t, [String(row.jobId) as JobId], { reason: "withdrawn" });
  }
}

const hasBegun = ({ outcome }: OccurrenceRow): boolean => outcome === "FIRED" || outcome === "CAUGHT_UP";

function withdrawRun(t: Tables, run: RunRow, withdrawn: "withdrawn" | "paused"): void {
  const state = run.state === "RUNNING" ? "CANCELING" : run.state;
  t.runs.set(run.id, { ...run, ahead: null, withdrawn, sealed: true, state });
  addDelta(t, run.id, {});
  if (run.starterId !== null) dropPassed(t, run.starterId);
}
