import { statement } from "../statement.ts";
import type { HistoryRow, JobId, JobView } from "../../../core/job/job.ts";
import { isFailed, isOut, isWaiting, jobColumns } from "./job-columns.ts";

/** Locks nothing. */
export const readJob = statement<JobView & { readonly now: number }>(
  "job",
  `
select ${jobColumns}, belfry.ms(belfry.now()) as now from belfry.job j where j.id = $1::bigint`,
);

/**
 * Newest first, a page by id. A filter that is null is no filter: an unnamed statement is planned with its values, so the
 * planner folds it away, and takes the small index of what is live ($7) or FAILED ($8). $1 states $2 kind $3 lane $4 key
 * $5 before id $6 limit. Locks nothing.
 */
export const readJobs = statement<JobView>(
  "jobs",
  `
select ${jobColumns} from belfry.job j
where ($1::belfry.job_state[] is null or j.state = any($1)) and ($2::text is null or j.kind = $2)
  and ($3::text is null or j.lane = $3) and ($4::text is null or j.key = $4) and ($5::bigint is null or j.id < $5)
  and (not $7::boolean or j.finished_at is null) and (not $8::boolean or (${isFailed}))
order by j.id desc limit $6`,
);

const historyColumns = `h.id, belfry.ms(h.at) as at, h.from_state as "from", h.to_state as "to", h.attempt, h.generation, h.worker, h.reason,
  h.caller, belfry.ms(h.started_at) as "startedAt", h.error_code as "errorCode", h.error_message as "errorMessage"`;

/** The newest $2 of one job, the oldest first. Locks nothing. */
export const readHistory = statement<HistoryRow>(
  "history",
  `
select ${historyColumns} from (select * from belfry.history where job_id = $1::bigint order by id desc limit $2) h
order by h.id`,
);

export interface AttemptRow {
  readonly kind: string;
  readonly started_at: number | null;
  readonly ended_at: number | null;
  readonly due_at: number | null;
  readonly sent_at: number | null;
  readonly log_group: string | null;
  readonly detail: unknown;
}

/**
 * Of job $1 its attempt $2: what is kept of one that failed, and of the newest one when it was due and sent. Locks nothing.
 */
export const readAttempt = statement<AttemptRow>(
  "attempt",
  `
select j.kind, belfry.ms(coalesce(h.started_at, n.started_at)) as started_at, belfry.ms(coalesce(h.at, n.finished_at)) as ended_at,
  belfry.ms(n.due_at) as due_at, belfry.ms(n.dispatched_at) as sent_at, w.log_group, h.detail
from belfry.job j
left join belfry.job n on n.id = j.id and n.attempt = $2::int and n.started_at is not null
  and n.state not in ('PENDING', 'QUEUED', 'RETRY_WAIT')
left join lateral (
  select started_at, at, worker, detail from belfry.history
  where job_id = j.id and attempt = $2::int and from_state = 'RUNNING' order by id desc limit 1
) h on true
left join belfry.worker w on w.id = coalesce(h.worker, n.worker)
where j.id = $1::bigint and (h.at is not null or n.id is not null)`,
);

/** The first $2 of each of these jobs $1. Locks nothing. */
export const readFirstHistory = statement<HistoryRow & { readonly job_id: JobId }>(
  "first-history",
  `
select ${historyColumns}, h.job_id
from unnest($1::bigint[]) as j (id)
cross join lateral (select * from belfry.history where job_id = j.id order by id limit $2) h
order by h.id`,
);

/**
 * At most $1 rows of each kind, each by the partial index of its state; final states but FAILED have none, so they are
 * looked for among the newest $1 jobs. A row of a run that waits for its predecessors is counted with its open run,
 * of which the newest $1 are looked at. QUEUED is compared inside a call, as `isFailed` compares FAILED. Locks nothing.
 */
export const countStates = statement<{ state: string; jobs: number; ahead: number }>(
  "counts",
  `
with waiting as (
  select state, due_at from belfry.job where held_on = '' and ${isWaiting} order by due_at, id limit $1
), later as (
  select state, due_at from belfry.job where held_on = '' and ${isWaiting} and due_at > belfry.now() order by due_at, id limit $1
), held as (
  select state from belfry.job where held_on > '' and ${isWaiting} order by held_on, due_at, id limit $1
), blocked as (
  select j.state from (
    select id from belfry.run where state in ('RUNNING', 'CANCELING') order by id desc limit $1
  ) r cross join lateral (
    select state from belfry.job where run_id = r.id and (finished_at is not null)::int = 0 and blocked limit $1
  ) j limit $1
), queued as (
  select state, due_at from belfry.job where ${isOut} and coalesce(state = 'QUEUED', false) order by lane, dispatched_at limit $1
), running as (
  select state from belfry.job
  where id = any(array(select unnest(job_ids) from (select job_ids from belfry.lease limit $1) l limit 2 * $1))
    and lease_id is not null limit $1
), failed as (
  select state from belfry.job
  where ${isFailed} order by id desc limit $1
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
