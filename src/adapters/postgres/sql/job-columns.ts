/** A job's columns as every reader gets them, spelled once; `j` is the job. */
const scalars = `j.id, j.kind, j.key, j.state, j.lane, j.hold, j.generation, j.attempt, j.failures, j.interruptions, j.max_attempts,
  j.progress, j.error_code, j.error_message, j.worker, j.trace, j.schedule_id, belfry.ms(j.scheduled_for) as scheduled_for,
  belfry.ms(j.created_at) as created_at, belfry.ms(j.due_at) as due_at, belfry.ms(j.started_at) as started_at,
  (select belfry.ms(until) from belfry.lease where lease.id = j.lease_id) as lease_until, belfry.ms(j.finished_at) as finished_at`;

export const jobColumns = `${scalars}, j.payload, j.result`;

/** What operators see besides. */
const beside = `j.run_id, j.task, j.blocked, case j.hold when 'slot' then j.held_on end as held_on, j.slot_keys,
  pg_column_size(j.payload) as payload_bytes`;

export const recordColumns = `${jobColumns}, ${beside}`;

/** In lists large payloads and results stay where they are: a page of 500 must not weigh megabytes. */
export const listedColumns = `${scalars}, case when pg_column_size(j.payload) <= 2048 then j.payload end as payload,
  case when pg_column_size(j.result) <= 2048 then j.result end as result, ${beside}`;

/** Rows that wait for their time or a slot, as `job_wait` has them. */
export const isWaiting = "dispatched_at is null and finished_at is null and not blocked";
/** Rows whose message is out, RUNNING ones among them, as `job_out` has them. */
export const isOut = "dispatched_at is not null and finished_at is null";

/**
 * As `job_failed` has them. The state is compared inside a call: a planner that takes FAILED for rare would rather read and
 * sort the table than walk that index to its limit.
 */
export const isFailed = "finished_at is not null and error_code is not null and coalesce(state = 'FAILED', false)";

export interface JobRow {
  readonly id: string;
  readonly kind: string;
  readonly key: string | null;
  readonly state: string;
  readonly lane: string;
  readonly hold: "none" | "paused" | "slot";
  readonly generation: number;
  readonly attempt: number;
  readonly failures: number;
  readonly interruptions: number;
  readonly max_attempts: number;
  readonly payload: unknown;
  readonly result: unknown;
  readonly progress: number | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly worker: string | null;
  readonly trace: string;
  readonly schedule_id: string | null;
  readonly scheduled_for: number | null;
  readonly created_at: number;
  readonly due_at: number;
  readonly started_at: number | null;
  readonly lease_until: number | null;
  readonly finished_at: number | null;
}

export interface RecordRow extends JobRow {
  readonly run_id: string | null;
  readonly task: string | null;
  readonly blocked: boolean;
  readonly held_on: string | null;
  readonly slot_keys: string[] | null;
  readonly payload_bytes: number;
}
