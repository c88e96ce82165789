import { formatDuration } from "../calendar/duration.ts";
import { nextFiring } from "../calendar/timetable.ts";
import type { Instant } from "../machine/job.ts";
import type { OccurrenceView, ScheduleRow } from "../machine/schedule.ts";
import { iso, maybeIso } from "../machine/units.ts";
import type { Pause } from "../machine/pause.ts";

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

export const occurrenceJson = ({ scheduleId, nominalAt, effectiveAt, decidedAt, ...occurrence }: OccurrenceView) => ({
  ...occurrence,
  schedule: scheduleId,
  nominalAt: iso(nominalAt),
  effectiveAt: maybeIso(effectiveAt),
  decidedAt: maybeIso(decidedAt),
});

/** As a person would write it. */
export function expressionOf(expression: ScheduleRow["spec"]["expression"]): string {
  if (expression.form === "cron") return expression.cron;
  if (expression.form === "after") return `after ${expression.schedule} within ${formatDuration(expression.withinMs)}`;
  return expression.form === "every" ? `every ${formatDuration(expression.everyMs)}` : `at ${iso(expression.at)}`;
}

export const pauseJson = (pause: Pause | null) => ({
  paused: pause !== null,
  pausedBy: pause?.by ?? null,
  pausedAt: maybeIso(pause?.at ?? null),
  pausedUntil: maybeIso(pause?.until ?? null),
  pauseReason: pause?.reason ?? null,
});
