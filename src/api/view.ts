import { formatDuration } from "../core/calendar/duration.ts";
import { nextFiring } from "../core/calendar/timetable.ts";
import type { AttemptView, EventView, Instant, JobView } from "../core/job/job.ts";
import type { OccurrenceView, ScheduleRow } from "../core/ports/schedule.ts";
import { isFinal } from "../core/job/state.ts";
import { pauseJson } from "./shape/pause.ts";

/** What the API answers for a job. Times are ISO 8601 in UTC, durations milliseconds; members are only ever added. */
export const jobJson = (job: JobView & { readonly blocked?: boolean }, now: Instant) => ({
  id: job.id,
  kind: job.kind,
  key: job.key,
  state: job.state,
  phase: phaseOf(job, now),
  lane: job.lane,
  attempt: job.attempt,
  failures: job.failures,
  interruptions: job.interruptions,
  maxAttempts: job.maxAttempts,
  payload: job.payload,
  result: job.result,
  progress: job.progress,
  error: job.errorCode === null ? null : { code: job.errorCode, message: job.errorMessage },
  worker: job.worker,
  trace: job.trace,
  schedule: job.scheduleId,
  scheduledFor: iso(job.scheduledFor),
  createdAt: iso(job.createdAt),
  dueAt: iso(job.dueAt),
  startedAt: iso(job.startedAt),
  leaseUntil: iso(job.leaseUntil),
  finishedAt: iso(job.finishedAt),
});

export const attemptJson = (attempt: AttemptView) => ({
  attempt: attempt.attempt,
  worker: attempt.worker,
  startedAt: iso(attempt.startedAt),
  endedAt: iso(attempt.endedAt),
  durationMs: Math.max(0, attempt.endedAt - attempt.startedAt),
  outcome: attempt.outcome,
  error: attempt.errorCode === null ? null : { code: attempt.errorCode, message: attempt.errorMessage },
});

export const eventJson = (event: EventView) => ({
  id: event.id,
  at: iso(event.at),
  from: event.from,
  to: event.to,
  attempt: event.attempt,
  generation: event.generation,
  worker: event.worker,
  reason: event.reason,
});

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
  nextAt: iso(row.spec.enabled ? nextFiring(row.spec, now) : null),
  looksAt: iso(row.nextAt),
});

export const occurrenceJson = (occurrence: OccurrenceView) => ({
  schedule: occurrence.scheduleId,
  localTime: occurrence.localTime,
  fold: occurrence.fold,
  timezone: occurrence.timezone,
  nominalAt: iso(occurrence.nominalAt),
  outcome: occurrence.outcome,
  reason: occurrence.reason,
  decidedAt: iso(occurrence.decidedAt),
  latenessMs: occurrence.latenessMs,
  version: occurrence.version,
  jobId: occurrence.jobId,
});

/** The state in words for people. */
function phaseOf(job: JobView & { readonly blocked?: boolean }, now: Instant): string {
  if (isFinal(job.state) || job.state === "RUNNING") return job.state.toLowerCase();
  if (job.blocked === true) return "waiting for predecessors";
  if (job.hold === "slot") return "held: slot";
  if (job.hold === "paused") return "paused";
  if (job.failures > 0 && job.dueAt > now) return `retrying at ${iso(job.dueAt)}`;
  if (job.dueAt > now) return `scheduled until ${iso(job.dueAt)}`;
  return job.state === "QUEUED" ? "queued" : "waiting for dispatch";
}

/** As a person would write it. */
export function expressionOf(expression: ScheduleRow["spec"]["expression"]): string {
  if (expression.form === "cron") return expression.cron;
  return expression.form === "every" ? `every ${formatDuration(expression.everyMs)}` : `at ${iso(expression.at)}`;
}

function iso(instant: Instant): string;
function iso(instant: Instant | null): string | null;
function iso(instant: Instant | null): string | null {
  return instant === null ? null : new Date(instant).toISOString();
}
