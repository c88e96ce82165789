import type { JobView } from "./job.ts";

/** A job's fields as every reader gets them, spelled once; `j` is the job. */
const fields = {
  id: "j.id",
  kind: "j.kind",
  key: "j.key",
  state: "j.state",
  lane: "j.lane",
  hold: "j.hold",
  generation: "j.generation",
  attempt: "j.attempt",
  failures: "j.failures",
  interruptions: "j.interruptions",
  maxAttempts: "j.max_attempts",
  payload: "j.payload",
  result: "j.result",
  progress: "j.progress",
  errorCode: "j.error_code",
  errorMessage: "j.error_message",
  worker: "j.worker",
  trace: "j.trace",
  scheduleId: "j.schedule_id",
  scheduledFor: "belfry.ms(j.scheduled_for)",
  effectiveAt: "belfry.ms(j.effective_at)",
  createdAt: "belfry.ms(j.created_at)",
  dueAt: "belfry.ms(j.due_at)",
  joined: "j.joined",
  dueAtMost: "belfry.ms(j.due_at_most)",
  batchKey: "j.batch_key",
  batchOf: "j.batch_of",
  startedAt: "belfry.ms(j.started_at)",
  leaseUntil: "(select belfry.ms(until) from belfry.lease where lease.id = j.lease_id)",
  finishedAt: "belfry.ms(j.finished_at)",
  runId: "j.run_id",
  task: "j.task",
  blocked: "j.blocked",
  heldOn: "case j.hold when 'slot' then j.held_on end",
  slotKeys: "coalesce(j.slot_keys, '{}')",
  payloadBytes: "pg_column_size(j.payload)",
} as const satisfies Record<keyof JobView, string>;

export const jobColumns = Object.entries(fields)
  .map(([name, text]) => `${text} as "${name}"`)
  .join(", ");

/** Rows whose message is out, RUNNING ones among them, as `job_out` has them. */
export const isOut = "dispatched_at is not null and finished_at is null";

/**
 * As `job_failed` has them. The state is compared inside a call: a planner that takes FAILED for rare would rather read and
 * sort the table than walk that index to its limit.
 */
export const isFailed = "finished_at is not null and error_code is not null and coalesce(state = 'FAILED', false)";
