import { statement } from "../statement.ts";
import type { JobView } from "../../../core/job/job.ts";
import { isFailed, isOut, isWaiting, listedColumns } from "./job-columns.ts";

/**
 * $1 is the search as JSON. An unnamed statement is planned with its values, so the planner drops each absent filter, and uses
 * the small partial index for the first three.
 */
const within = `($1::jsonb -> 'live' is null or finished_at is null)
  and ($1::jsonb -> 'failed' is null or (${isFailed}))
  and ($1::jsonb ->> 'id' is null or id = ($1::jsonb ->> 'id')::bigint)
  and ($1::jsonb ->> 'runId' is null or run_id = ($1::jsonb ->> 'runId')::bigint)`;

const matches = `($1::jsonb -> 'states' is null or $1::jsonb -> 'states' ? state::text)
  and ($1::jsonb ->> 'kind' is null or kind = $1::jsonb ->> 'kind')
  and ($1::jsonb -> 'taken' is null or not not_taken)
  and ($1::jsonb -> 'kinds' is null or $1::jsonb -> 'kinds' ? kind)
  and ($1::jsonb ->> 'scheduleId' is null or schedule_id = $1::jsonb ->> 'scheduleId')
  and ($1::jsonb ->> 'lane' is null or lane = $1::jsonb ->> 'lane')
  and ($1::jsonb ->> 'key' is null or key = $1::jsonb ->> 'key')
  and ($1::jsonb ->> 'errorCode' is null or error_code = $1::jsonb ->> 'errorCode')
  and ($1::jsonb ->> 'worker' is null or worker = $1::jsonb ->> 'worker')
  and ($1::jsonb ->> 'dueFrom' is null or due_at >= belfry.at(($1::jsonb ->> 'dueFrom')::float8))
  and ($1::jsonb ->> 'dueTo' is null or due_at <= belfry.at(($1::jsonb ->> 'dueTo')::float8))
  and ($1::jsonb -> 'held' is null
    or (finished_at is null and (blocked or hold <> 'none')) = ($1::jsonb ->> 'held')::boolean)
  and ($1::jsonb -> 'fingerprints' is null
    or $1::jsonb -> 'fingerprints' ? belfry.fingerprint(kind, error_code, error_message))
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
export const searchNewest = statement<JobView>(
  "search-newest",
  `
select ${listedColumns} from belfry.job j
where ${within} and id < $2::bigint and id >= $3::bigint and ${matches}
order by id desc limit $4`,
);

/** $2 above $3 not above $4 limit. Locks nothing. */
export const searchOldest = statement<JobView>(
  "search-oldest",
  `
select ${listedColumns} from belfry.job j
where ${within} and id > $2::bigint and id <= $3::bigint and ${matches}
order by id limit $4`,
);

/** Due times travel in microseconds since 1970: of two jobs in one millisecond the next page must bring the second. */
const dueUs = `(extract(epoch from due_at) * 1000000)::bigint::text as due_us`;
const afterDue = `(due_at, id) > (timestamptz 'epoch' + $1::bigint * interval '1 microsecond', $2::bigint)`;

/** Whether the states that are asked for have one of these. */
const asksFor = (states: string): string =>
  `($6::jsonb -> 'states' is null or $6::jsonb -> 'states' ?| array[${states}])`;

/**
 * The next $3 rows that are to start, by due time after due $1 id $2: of what waits, in its index's order for each of $4 holds;
 * of what is out, $5 rows of each lane that were sent first; and what is blocked in the $8 oldest open runs.
 */
const toStart = `
with recursive holds as (
  (select held_on from belfry.job where ${isWaiting} and ${asksFor("'PENDING', 'RETRY_WAIT'")} order by held_on limit 1)
  union all
  select (select j.held_on from belfry.job j where j.held_on > h.held_on and ${isWaiting} order by j.held_on limit 1)
  from holds h where h.held_on is not null
), held as materialized (
  select held_on from holds where held_on is not null limit $4
), lanes as (
  (select lane from belfry.job where ${isOut} and ${asksFor("'QUEUED'")} order by lane limit 1)
  union all
  select n.lane from lanes l cross join lateral (select lane from belfry.job where ${isOut} and lane > l.lane order by lane limit 1) n
), out as materialized (
  select o.* from lanes l cross join lateral (
    select id, due_at, state, lane from belfry.job
    where (lane, dispatched_at) >= (l.lane, '-infinity') and lane <= l.lane and ${isOut} order by lane, dispatched_at limit $5
  ) o
), runs as materialized (
  select id from belfry.run where state in ('RUNNING', 'CANCELING') and ${asksFor("'PENDING'")} order by id limit $8
), look as materialized (
  select id, due_at from (
    select w.id, w.due_at from held h cross join lateral (
      select id, due_at from belfry.job where held_on = h.held_on and ${isWaiting} and ${afterDue} order by due_at, id limit $3
    ) w
    union all
    select id, due_at from out where state = 'QUEUED' and ${afterDue}
    union all
    select b.id, b.due_at from runs r cross join lateral (
      select id, due_at from belfry.job where run_id = r.id and (finished_at is not null)::int = 0 and blocked and ${afterDue} limit $3
    ) b
  ) next
  order by due_at, id limit $3
)`;

/**
 * $1 due $2 id to begin after $3 rows of one look $4 holds $5 rows out $6 the search $7 limit $8 runs. `looked`: rows of the look;
 * `is_cut`: more holds, rows out or runs than were looked at. Locks nothing.
 */
export const searchDue = statement<
  JobView & {
    due_us: string;
    due: Date;
    looked: number;
    last_us: string;
    last_id: string;
    is_cut: boolean;
    found: boolean;
  }
>(
  "search-due",
  `${toStart}, last as (
  select count(*)::int as looked, (array_agg(${dueUs.replace(" as due_us", "")} order by due_at desc, id desc))[1] as last_us,
    (array_agg(id order by due_at desc, id desc))[1] as last_id,
    (select count(*) from held) >= $4 or (select count(*) from runs) >= $8
      or exists (select from out group by lane having count(*) >= $5) as is_cut
  from look
)
select l.*, m.* from last l left join (
  select ${listedColumns}, ${dueUs.replace("due_at", "j.due_at")}, true as found, j.due_at as due
  from belfry.job j
  where j.id = any(array(select id from look)) and ${(within + " and " + matches).replaceAll("$1", "$6")}
  order by j.due_at, j.id limit $7
) m on true
order by m.due, m.id`,
);

/** By key, whatever the kind: kinds are few, and each is one step in the index. Newest first. $2 below $3 limit. Locks nothing. */
export const searchKey = statement<JobView>(
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
select ${listedColumns} from belfry.job j
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
export const readRecords = statement<JobView>(
  "records",
  `
select ${listedColumns} from belfry.job j where id = any($1::bigint[]) order by id desc`,
);
