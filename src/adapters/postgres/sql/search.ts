import { statement } from "../statement.ts";
import type { EventRow, JobRow } from "./read.ts";

export interface RecordRow extends JobRow {
  readonly run_id: string | null;
  readonly task: string | null;
  readonly blocked: boolean;
  readonly held_on: string | null;
  readonly slot_keys: string[] | null;
  readonly payload_bytes: number;
}

/** Large payloads and results stay where they are: a page of 500 must not weigh megabytes. */
const listed = `id, kind, key, state, lane, hold, generation, attempt, failures, interruptions, max_attempts,
  case when pg_column_size(payload) <= 2048 then payload end as payload,
  case when pg_column_size(result) <= 2048 then result end as result, progress, error_code, error_message, worker, trace,
  schedule_id, belfry.ms(scheduled_for) as scheduled_for, belfry.ms(created_at) as created_at, belfry.ms(due_at) as due_at,
  belfry.ms(started_at) as started_at, belfry.ms(lease_until) as lease_until, belfry.ms(finished_at) as finished_at,
  run_id, task, blocked, held_on, slot_keys, pg_column_size(payload) as payload_bytes`;

/**
 * $1 is the search as JSON. An unnamed statement is planned with its values, so each of these that is not asked for is
 * folded away, and the first three let the planner take the small index that holds only such rows.
 */
const within = `($1::jsonb -> 'live' is null or finished_at is null)
  and ($1::jsonb -> 'failed' is null or state = 'FAILED')
  and ($1::jsonb ->> 'id' is null or id = ($1::jsonb ->> 'id')::bigint)
  and ($1::jsonb ->> 'runId' is null or run_id = ($1::jsonb ->> 'runId')::bigint)
  and ($1::jsonb ->> 'scheduleId' is null or schedule_id = $1::jsonb ->> 'scheduleId')`;

const matches = `($1::jsonb -> 'states' is null or $1::jsonb -> 'states' ? state::text)
  and ($1::jsonb ->> 'kind' is null or kind = $1::jsonb ->> 'kind')
  and ($1::jsonb ->> 'lane' is null or lane = $1::jsonb ->> 'lane')
  and ($1::jsonb ->> 'key' is null or key = $1::jsonb ->> 'key')
  and ($1::jsonb ->> 'errorCode' is null or error_code = $1::jsonb ->> 'errorCode')
  and ($1::jsonb ->> 'worker' is null or worker = $1::jsonb ->> 'worker')
  and ($1::jsonb ->> 'dueFrom' is null or due_at >= belfry.at(($1::jsonb ->> 'dueFrom')::float8))
  and ($1::jsonb ->> 'dueTo' is null or due_at <= belfry.at(($1::jsonb ->> 'dueTo')::float8))
  and ($1::jsonb ->> 'fingerprint' is null
    or belfry.fingerprint(kind, error_code, error_message) = $1::jsonb ->> 'fingerprint')
  and ($1::jsonb -> 'words' is null or not exists (
    select from jsonb_array_elements_text($1::jsonb -> 'words') w
    where id::text <> w and strpos(lower(concat_ws(' ', kind, key, error_code, error_message)), lower(w)) = 0))
  and ($1::jsonb -> 'payload' is null or not exists (
    select from jsonb_array_elements($1::jsonb -> 'payload') f
    where payload #>> array(select jsonb_array_elements_text(f -> 'path')) is distinct from f ->> 'value'))`;

/** Where one look of a search ends: the id that lies $3 rows below $2. Locks nothing. */
export const findEdgeBelow = statement<{ id: string }>(
  "search-edge-below",
  `
select id from belfry.job where ${within} and id < $2::bigint order by id desc offset $3 limit 1`,
);

/** As above, upwards. Locks nothing. */
export const findEdgeAbove = statement<{ id: string }>(
  "search-edge-above",
  `
select id from belfry.job where ${within} and id > $2::bigint order by id offset $3 limit 1`,
);

/** $2 below $3 not below $4 limit. Locks nothing. */
export const searchNewest = statement<RecordRow>(
  "search-newest",
  `
select ${listed} from belfry.job
where ${within} and id < $2::bigint and id >= $3::bigint and ${matches}
order by id desc limit $4`,
);

/** $2 above $3 not above $4 limit. Locks nothing. */
export const searchOldest = statement<RecordRow>(
  "search-oldest",
  `
select ${listed} from belfry.job
where ${within} and id > $2::bigint and id <= $3::bigint and ${matches}
order by id limit $4`,
);

/** Due times travel in microseconds since 1970: of two jobs in one millisecond the next page must bring the second. */
const dueUs = `(extract(epoch from due_at) * 1000000)::bigint::text as due_us`;
/** As the index has it: what waits has no lease. */
const waiting = `state in ('PENDING', 'QUEUED', 'RETRY_WAIT') and lease_until is null`;
const afterDue = `(due_at, id) > (timestamptz 'epoch' + $1::bigint * interval '1 microsecond', $2::bigint)`;

/** Where one look of a search by due time ends: $3 rows after due $1 id $2. Locks nothing. */
export const findEdgeDue = statement<{ id: string; due_us: string }>(
  "search-edge-due",
  `
select id, ${dueUs} from belfry.job where ${waiting} and ${afterDue} order by due_at, id offset $3 limit 1`,
);

/**
 * Jobs that wait, after due $1 id $2 up to due $3 id $4. $5 the search $6 limit. Locks nothing.
 * The inner query is kept apart (offset 0): with the search beside it, another index would be read from end to end.
 */
export const searchDue = statement<RecordRow & { due_us: string }>(
  "search-due",
  `
select ${listed}, ${dueUs} from (
  select * from belfry.job
  where ${waiting} and ${afterDue}
    and (due_at, id) <= (timestamptz 'epoch' + $3::bigint * interval '1 microsecond', $4::bigint)
  order by due_at, id offset 0
) look
where ${(within + " and " + matches).replaceAll("$1", "$5")}
order by look.due_at, id limit $6`,
);

/** By key, whatever the kind: kinds are few, and each is one step in the index. Newest first. $2 below $3 limit. Locks nothing. */
export const searchKey = statement<RecordRow>(
  "search-key",
  `
with recursive kinds as (
  (select kind from belfry.job where key is not null order by kind limit 1)
  union all
  select (select j.kind from belfry.job j where j.key is not null and j.kind > k.kind order by j.kind limit 1)
  from kinds k where k.kind is not null
), found as materialized (
  select j.id from kinds k cross join lateral (
    select id from belfry.job where kind = k.kind and key = $1::jsonb ->> 'key'
  ) j
  where k.kind is not null
)
select ${listed} from belfry.job
where id = any(array(select id from found)) and id < $2::bigint and ${within} and ${matches}
order by id desc limit $3`,
);

/** Matches among one look's rows: $2 below $3 not below $4 at most. Locks nothing. */
export const countMatches = statement<{ jobs: number }>(
  "search-count",
  `
select count(*)::int as jobs from (
  select 1 from belfry.job
  where ${within} and id < $2::bigint and id >= $3::bigint and ${matches}
  order by id desc limit $4
) found`,
);

/** Ids of matches, newest first: $2 below $3 not below $4 at most. Locks nothing. */
export const findMatches = statement<{ id: string }>(
  "search-ids",
  `
select id from belfry.job
where ${within} and id < $2::bigint and id >= $3::bigint and ${matches}
order by id desc limit $4`,
);

/** Locks nothing. */
export const readRecords = statement<RecordRow>(
  "records",
  `
select ${listed} from belfry.job where id = any($1::bigint[]) order by id desc`,
);

/** Of each of these jobs, for those that were just written. Locks nothing. */
export const readFirstEvents = statement<EventRow>(
  "first-events",
  `
select e.id, e.job_id, belfry.ms(e.at) as at, e.from_state, e.to_state, e.attempt, e.generation, e.worker, e.reason
from unnest($1::bigint[]) as j (id)
cross join lateral (select * from belfry.event where job_id = j.id order by id limit 10) e
order by e.id`,
);

/** With all of its payload and result. Locks nothing. */
export const readRecord = statement<RecordRow & { now: number }>(
  "record",
  `
select id, kind, key, state, lane, hold, generation, attempt, failures, interruptions, max_attempts, payload, result, progress,
  error_code, error_message, worker, trace, schedule_id, belfry.ms(scheduled_for) as scheduled_for,
  belfry.ms(created_at) as created_at, belfry.ms(due_at) as due_at, belfry.ms(started_at) as started_at,
  belfry.ms(lease_until) as lease_until, belfry.ms(finished_at) as finished_at,
  run_id, task, blocked, held_on, slot_keys, pg_column_size(payload) as payload_bytes, belfry.ms(belfry.now()) as now
from belfry.job where id = $1::bigint`,
);
