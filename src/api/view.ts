import { formatDuration } from "../core/calendar/duration.ts";
import { nextFiring } from "../core/calendar/timetable.ts";
import type { Instant } from "../core/job/job.ts";
import type { OccurrenceView, ScheduleRow } from "../core/ports/schedule.ts";
import { iso } from "../core/job/units.ts";
import { pauseJson } from "./shape/pause.ts";
import { maybeIso } from "./shape/shape.ts";

/** `nextAt`: its next time that fires, though it may be planned already; a pause does not move it. `looksAt`: when it is planned on. */
export const scheduleJson = (row: ScheduleRow, now: Instant) => ({
  id: row.id,
  app: row.spec.app,
  kind: row.spec.job.kind,
  version: row.version,
  source: row.source,
  expression: expressionOf(row.spec.expression),
  timezone: row.spec.timezone,
  enabled: row.spec.enabled,
  ...pauseJson(row.pause),
  overlap: row.spec.overlap,
  misfire: row.spec.misfire.rule,
  decidedUntil: iso(row.decidedUntil),
  nextAt: maybeIso(row.spec.enabled ? nextFiring(row.spec, now) : null),
  looksAt: maybeIso(row.nextAt),
});

export const occurrenceJson = (occurrence: OccurrenceView) => ({
  schedule: occurrence.scheduleId,
  localTime: occurrence.localTime,
  fold: occurrence.fold,
  timezone: occurrence.timezone,
  nominalAt: iso(occurrence.nominalAt),
  outcome: occurrence.outcome,
  reason: occurrence.reason,
  decidedAt: maybeIso(occurrence.decidedAt),
  latenessMs: occurrence.latenessMs,
  version: occurrence.version,
  jobId: occurrence.jobId,
});

/** As a person would write it. */
export function expressionOf(expression: ScheduleRow["spec"]["expression"]): string {
  if (expression.form === "cron") return expression.cron;
  return expression.form === "every" ? `every ${formatDuration(expression.everyMs)}` : `at ${iso(expression.at)}`;
}
