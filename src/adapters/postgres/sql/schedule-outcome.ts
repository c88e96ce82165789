import { statement } from "../statement.ts";
import type { OccurrenceRow, StoredScheduleRow } from "./schedule.ts";
import { isPaused, pauseColumns } from "./pause.ts";

/** The run that a job started decides: a starter that succeeded says nothing about its tasks. */
const result = `case
    when r.state = 'DONE' then 'succeeded' when r.state = 'FAILED' then 'failed' when r.state = 'CANCELED' then 'stopped'
    when r.state is not null then 'open'
    when j.state = 'SUCCESS' then 'succeeded' when j.state = 'FAILED' then 'failed'
    when j.state in ('CANCELED', 'SKIPPED') then 'stopped' else 'open' end`;

const scheduleColumns = `id, version, source, ${pauseColumns}, spec, belfry.ms(decided_until) as decided_until,
  belfry.ms(next_at) as next_at, carry`;

/** The newest run of the job `o.job_id`, and the job. */
const jobAndRun = `left join belfry.job j on j.id = o.job_id
  left join lateral (
    select id, kind, state, failed, error, created_at, finished_at from belfry.run where starter_id = o.job_id order by id desc limit 1
  ) r on true`;

/**
 * A page of the schedules that match, with how many do. $1 the search as JSON $2 the sort $3 limit $4 offset $5 whose last end
 * is looked for: of none, of those that may be failing, or of those that may be latest; $6 how far back it is. A schedule may be
 * failing when a job of it is among the $7 newest failures, or one that it started among the $8 newest runs that FAILED. Of more
 * than $9 schedules those may be latest whose newest start is, among the $10 newest decisions. `is_more`: there are more failures,
 * or schedules, than that. But for these it reads all schedules. Locks nothing.
 */
export const searchSchedules = statement<{ total: number; is_more: boolean } & (StoredScheduleRow | { id: null })>(
  "schedules-search",
  `
with failures as materialized (
  select schedule_id from belfry.job where $5 = 'failing' and finished_at is not null and error_code is not null order by id desc limit $7
), failed_runs as materialized (
  select starter_id from belfry.run where $5 = 'failing' and state = 'FAILED' order by id desc limit $8
), suspects as materialized (
  select schedule_id from failures where schedule_id is not null
  union
  select o.schedule_id from failed_runs r join belfry.occurrence o on o.job_id = r.starter_id
), known as materialized (
  select id, ${isPaused} as paused, enabled, next_at,
    next_at + belfry.span(coalesce((spec ->> 'materializeBeforeMs')::float8, 0)) as fires_at
  from belfry.schedule
  where removed_at is null and ($1::jsonb ->> 'id' is null or id = $1::jsonb ->> 'id')
    and ($1::jsonb ->> 'state' is distinct from 'failing' or id = any(array(select schedule_id from suspects)))
    and ($1::jsonb ->> 'state' is distinct from 'late' or next_at < belfry.now() - interval '90 seconds')
    and ($1::jsonb ->> 'kind' is null or spec -> 'job' ->> 'kind' = $1::jsonb ->> 'kind')
    and ($1::jsonb -> 'kinds' is null or $1::jsonb -> 'kinds' ? (spec -> 'job' ->> 'kind'))
    and ($1::jsonb ->> 'app' is null or app = $1::jsonb ->> 'app')
    and ($1::jsonb ->> 'zone' is null or spec ->> 'timezone' = $1::jsonb ->> 'zone')
    and ($1::jsonb -> 'words' is null or not exists (
      select from jsonb_array_elements_text($1::jsonb -> 'words') w
      where strpos(lower(concat_ws(' ', id, spec -> 'job' ->> 'kind', app)), lower(w)) = 0))
), started as materialized (
  select distinct on (schedule_id) schedule_id, lateness_ms from (
    select schedule_id, decided_at, lateness_ms, job_id from belfry.occurrence
    where $5 = 'latest' and (select count(*) from known) > $9::int and decided_at is not null order by decided_at desc limit $10
  ) newest
  where job_id is not null and schedule_id in (select id from known)
  order by schedule_id, decided_at desc
), latest as materialized (
  (select schedule_id from started order by lateness_ms desc nulls last, schedule_id limit $9)
  union all
  select id from known where $5 = 'latest' and (select count(*) from known) <= $9
), judged as materialized (
  select k.id, k.fires_at, e.result, e.lateness_ms
  from known k left join lateral (
    select ${result} as result, o.lateness_ms
    from (
      select job_id, lateness_ms, nominal_at from belfry.occurrence
      where schedule_id = k.id and nominal_at <= belfry.now() and job_id is not null
        and (k.id in (select schedule_id from suspects) or k.id in (select schedule_id from latest))
      order by nominal_at desc limit $6
    ) o
    ${jobAndRun}
    where ${result} <> 'open' and (j.id is not null or r.id is not null)
    order by o.nominal_at desc limit 1
  ) e on $5 <> 'none'
  where case $1::jsonb ->> 'state'
    when 'failing' then e.result = 'failed'
    when 'paused' then k.paused
    when 'off' then not k.enabled
    when 'late' then k.enabled and not k.paused
    when 'ended' then k.enabled and k.next_at is null
    when 'active' then k.enabled and not k.paused and k.next_at is not null
    else true end
    and ($1::jsonb ->> 'lateOverMs' is null or e.lateness_ms > ($1::jsonb ->> 'lateOverMs')::float8)
), page as materialized (
  select id, row_number() over (order by case when $2 = 'next' then fires_at end,
    case when $2 = 'failing' then (result is not distinct from 'failed') end desc,
    case when $2 = 'lateness' then lateness_ms end desc nulls last, id) as place
  from judged order by place limit $3 offset $4
)
select (select count(*)::int from judged) as total,
  (select count(*) from failures) >= $7 or (select count(*) from failed_runs) >= $8
    or ($5 = 'latest' and (select count(*) from known) > $9) as is_more, s.*
from (select true) as one left join lateral (
  select place, ${scheduleColumns}
  from page p join belfry.schedule d using (id)
) s on true
order by s.place`,
);

/** Inside a call: a planner without statistics takes a null for rare, and would read and sort the table for its first rows. */
const comes = `coalesce(removed_at is null and enabled
    and ($1::jsonb ->> 'app' is null or app = $1::jsonb ->> 'app')
    and ($1::jsonb -> 'kinds' is null or $1::jsonb -> 'kinds' ? (spec -> 'job' ->> 'kind'))
    and ($1::jsonb ->> 'lane' is null or spec -> 'job' ->> 'lane' = $1::jsonb ->> 'lane'), false)`;

/**
 * Schedules that have times to come, $2 at most, those first that a tick looks at next; then those whose last time is written
 * already and waits. $1 the search as JSON. Locks nothing.
 */
export const readComing = statement<StoredScheduleRow>(
  "schedules-coming",
  `
(
  select ${scheduleColumns} from belfry.schedule where next_at is not null and ${comes}
  order by belfry.schedule.next_at, id limit $2
) union all (
  select s.* from (
    select distinct schedule_id from (
      select schedule_id from belfry.occurrence where outcome = 'PLANNED' and nominal_at > belfry.now() order by nominal_at limit $2
    ) o
  ) p cross join lateral (
    select ${scheduleColumns} from belfry.schedule where id = p.schedule_id and next_at is null and ${comes} limit 1
  ) s
)`,
);

/** The newest $2 past times of each schedule of $1, newest first. Locks nothing. */
export const readLatestOccurrences = statement<OccurrenceRow>(
  "occurrences-latest",
  `
select o.*
from unnest($1::text[]) as s (id) cross join lateral (
  select schedule_id, local_time, fold, timezone, belfry.ms(nominal_at) as nominal_at, outcome, reason,
    belfry.ms(decided_at) as decided_at, lateness_ms, schedule_version, job_id
  from belfry.occurrence where schedule_id = s.id and nominal_at <= belfry.now()
  order by belfry.occurrence.nominal_at desc limit $2
) o`,
);

export interface OccurrenceEndRow {
  readonly job_id: string;
  readonly kind: string;
  readonly state: string | null;
  readonly blocked: boolean;
  readonly hold: "none" | "paused" | "slot";
  readonly failures: number;
  readonly due_at: number;
  readonly run_id: string | null;
  readonly run_state: string | null;
  readonly run_failed: number | null;
  readonly result: string;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly reason: string | null;
}

/** $1 job ids. Locks nothing. */
export const readOccurrenceEnds = statement<OccurrenceEndRow>(
  "occurrence-ends",
  `
select o.job_id, coalesce(r.kind, j.kind) as kind, j.state, j.blocked, j.hold, j.failures, belfry.ms(j.due_at) as due_at, r.id as run_id, r.state as run_state, r.failed as run_failed, ${result} as result,
  belfry.ms(coalesce(r.created_at, j.started_at)) as started_at,
  belfry.ms(case when r.id is null then j.finished_at else r.finished_at end) as finished_at,
  j.error_code, coalesce(r.error, j.error_message) as error_message,
  case when j.state in ('CANCELED', 'SKIPPED') then
    (select h.reason from belfry.history h where h.job_id = j.id order by h.id desc limit 1) end as reason
from unnest($1::bigint[]) as o (job_id) ${jobAndRun}
where j.id is not null or r.id is not null`,
);

/** $1 schedule ids $2 times looked at of each. Locks nothing. */
export const readFailingSince = statement<{
  schedule_id: string;
  since: number | null;
  succeeded_at: number | null;
  looked: number;
}>(
  "schedules-failing-since",
  `
with seen as materialized (
  select s.id, o.nominal_at, ${result} as result, coalesce(r.finished_at, j.finished_at) as ended_at
  from unnest($1::text[]) as s (id) cross join lateral (
    select nominal_at, job_id from belfry.occurrence where schedule_id = s.id and nominal_at <= belfry.now()
    order by nominal_at desc limit $2
  ) o
  ${jobAndRun}
), good as materialized (
  select id, max(nominal_at) as nominal_at, max(ended_at) as ended_at from seen where result = 'succeeded' group by id
)
select s.id as schedule_id, count(*)::int as looked, belfry.ms(max(g.ended_at)) as succeeded_at,
  belfry.ms(min(s.nominal_at) filter (where s.result = 'failed' and s.nominal_at > coalesce(g.nominal_at, '-infinity'))) as since
from seen s left join good g on g.id = s.id
group by s.id`,
);
