import { statement } from "../statement.ts";

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

/** Locks nothing. */
export const readJob = statement<JobRow>(
  "job",
  `
select id, kind, key, state, lane, hold, generation, attempt, failures, interruptions, max_attempts, payload, result, progress,
  error_code, error_message, worker, trace, schedule_id, belfry.ms(scheduled_for) as scheduled_for,
  belfry.ms(created_at) as created_at, belfry.ms(due_at) as due_at, belfry.ms(started_at) as started_at,
  belfry.ms(lease_until) as lease_until, belfry.ms(finished_at) as finished_at
from belfry.job where id = $1::bigint`,
);

/**
 * Newest first, a page by id. A filter that is null is no filter: an unnamed statement is planned with its values, so the
 * planner folds it away. $1 states $2 kind $3 lane $4 key $5 before id $6 limit. Locks nothing.
 */
export const readJobs = statement<JobRow>(
  "jobs",
  `
select id, kind, key, state, lane, hold, generation, attempt, failures, interruptions, max_attempts, payload, result, progress,
  error_code, error_message, worker, trace, schedule_id, belfry.ms(scheduled_for) as scheduled_for,
  belfry.ms(created_at) as created_at, belfry.ms(due_at) as due_at, belfry.ms(started_at) as started_at,
  belfry.ms(lease_until) as lease_until, belfry.ms(finished_at) as finished_at
from belfry.job
where ($1::belfry.job_state[] is null or state = any($1)) and ($2::text is null or kind = $2) and ($3::text is null or lane = $3)
  and ($4::text is null or key = $4) and ($5::bigint is null or id < $5)
order by id desc limit $6`,
);

/** Locks nothing. The newest 1,000 tries: a job has at most that many failures. */
export const readAttempts = statement<{
  attempt: number;
  worker: string;
  started_at: number;
  ended_at: number;
  outcome: string;
  error_code: string | null;
  error_message: string | null;
}>(
  "attempts",
  `
select attempt, worker, belfry.ms(started_at) as started_at, belfry.ms(ended_at) as ended_at, outcome, error_code, error_message
from (select * from belfry.attempt where job_id = $1::bigint order by attempt desc limit $2) newest
order by attempt`,
);

export interface EventRow {
  readonly id: string;
  readonly job_id: string;
  readonly at: number;
  readonly from_state: string | null;
  readonly to_state: string;
  readonly attempt: number;
  readonly generation: number;
  readonly worker: string | null;
  readonly reason: string | null;
}

/** Locks nothing. */
export const readEvents = statement<EventRow>(
  "events",
  `
select id, job_id, belfry.ms(at) as at, from_state, to_state, attempt, generation, worker, reason
from (select * from belfry.event where job_id = $1::bigint order by id desc limit $2) newest
order by id`,
);

/**
 * At most $1 rows of each kind, each by the partial index of its state; final states but FAILED have none, so they are
 * looked for among the newest $1 jobs. A row of a run that waits for its predecessors is counted with its open run.
 * Locks nothing.
 */
export const countStates = statement<{ state: string; jobs: number; ahead: number }>(
  "counts",
  `
with waiting as (
  select state, due_at from belfry.job
  where state in ('PENDING', 'RETRY_WAIT') and not blocked and hold = 'none'
  order by due_at, id limit $1
), later as (
  select state, due_at from belfry.job
  where state in ('PENDING', 'RETRY_WAIT') and not blocked and hold = 'none' and due_at > belfry.now()
  order by due_at, id limit $1
), held as (
  select state from belfry.job where hold = 'slot' order by held_on, due_at, id limit $1
), blocked as (
  select state from belfry.job
  where run_id is not null and state in ('PENDING', 'QUEUED', 'RUNNING', 'RETRY_WAIT') and blocked
  order by run_id, id limit $1
), queued as (
  select state, due_at from belfry.job where state = 'QUEUED' and lease_until is null order by lane, handed_at limit $1
), running as (
  select state from belfry.job where lease_until is not null order by lease_until limit $1
), failed as (
  select state from belfry.job where state = 'FAILED' order by id desc limit $1
), newest as (
  select state from belfry.job order by id desc limit $1
), counted as (
  select state, count(*) as jobs from waiting group by state
  union all select state, count(*) from held group by state
  union all select state, count(*) from blocked group by state
  union all select state, count(*) from queued group by state
  union all select state, count(*) from running group by state
  union all select state, count(*) from failed group by state
  union all select state, count(*) from newest where state in ('SUCCESS', 'CANCELED', 'SKIPPED') group by state
), ahead as (
  select (select count(*) from later) + (select count(*) from queued where due_at > belfry.now()) as jobs
)
select state, least(sum(jobs), $1)::float8 as jobs, (select least(jobs, $1) from ahead)::float8 as ahead
from counted group by state`,
);
