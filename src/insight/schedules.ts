/** Schedules with what became of their times: the ledger says what was decided, the job or run says how it ended. */
import { backfillGate } from "../admission/backfill.ts";
import { z } from "zod";
import { isPaused } from "../machine/pause.ts";
import { insightLimits } from "./insight-limits.ts";
import type { Carry, ScheduleSpec } from "../machine/schedule.ts";
import { count } from "./atoms.ts";
import { jobAndRun, result } from "./occurrence-ends.ts";
import { pause } from "./pause.ts";
import { sqlQuery } from "./sql-query.ts";

/** `failing`: the last one that ended failed. `late`: its next time is past and nothing was decided. */
export const scheduleStates = ["active", "failing", "late", "paused", "off", "ended"] as const;
export type ScheduleState = (typeof scheduleStates)[number];

export const scheduleSorts = ["id", "next", "lateness", "failing"] as const;
export type ScheduleSort = (typeof scheduleSorts)[number];

/** All of it must hold. */
export interface ScheduleSearch {
  /** Each is a part of the id, the kind or the app, in any case. */
  readonly words?: readonly string[] | undefined;
  readonly id?: string | undefined;
  readonly kind?: string | undefined;
  /** Only those that run one of these kinds. */
  readonly kinds?: readonly string[] | undefined;
  readonly app?: string | undefined;
  readonly zone?: string | undefined;
  readonly state?: ScheduleState | undefined;
  /** Its last start was later than that, in milliseconds. */
  readonly lateOverMs?: number | undefined;
}

type ComingSearch = Pick<ScheduleSearch, "app" | "kinds"> & { readonly lane?: string | undefined };

/** As it is stored: its next times are computed from its spec. */
const scheduleRow = z.object({
  id: z.string(),
  version: count,
  source: z.enum(["code", "api"]),
  pause,
  spec: z.custom<ScheduleSpec>(),
  decidedUntil: z.number(),
  nextAt: z.number().nullable(),
  carry: z.custom<Carry | null>(),
});

const scheduleMembers = `id, version, source, spec, carry, belfry.ms(decided_until) as "decidedUntil", belfry.ms(next_at) as "nextAt",
  case when ${isPaused} then jsonb_build_object('at', belfry.ms(paused_at), 'by', paused_by, 'reason', pause_reason,
    'until', case when isfinite(paused_until) then belfry.ms(paused_until) end) end as pause`;

const { lastEndLooksMax, suspectsMax, suspectRunsMax, latestJudgedMax, latestLooksMax } = insightLimits;

/**
 * One row: a page of the schedules that match, with how many do. $1 the search as JSON $2 the sort $3 limit $4 offset $5 whose last end
 * is looked for: of none, of those that may be failing, or of those that may be latest; $6 how far back it is. A schedule may be
 * failing when a job of it is among the $7 newest failures, or one that it started among the $8 newest runs that FAILED. Of more
 * than $9 schedules those may be latest whose newest start is, among the $10 newest decisions. `isMore`: there are more failures,
 * or schedules, than that. But for these it reads all schedules. Locks nothing.
 */
export const searchSchedules = sqlQuery("schedules-search", {
  params: ({ search, ...of }: { search: ScheduleSearch; sort: ScheduleSort; offset: number; limit: number }) => [
    JSON.stringify(search),
    of.sort,
    of.limit,
    of.offset,
    neededEnds(search, of.sort),
    lastEndLooksMax,
    suspectsMax,
    suspectRunsMax,
    latestJudgedMax,
    latestLooksMax,
  ],
  row: z.object({ total: count, isMore: z.boolean(), schedules: z.array(scheduleRow) }),
})(`
with failures as materialized (
  select schedule_id from belfry.job where $5 = 'failing' and finished_at is not null and error_code is not null order by id desc limit $7
), failed_runs as materialized (
  select starter_id from belfry.run where $5 = 'failing' and state = 'FAILED' order by id desc limit $8
), suspects as materialized (
  select schedule_id from failures where schedule_id is not null
  union
  select o.schedule_id from failed_runs r join belfry.occurrence o on o.job_id = r.starter_id
), known as materialized (
  select id, ${isPaused} as paused, enabled, next_at, spec #>> '{expression,form}' = 'after' as follows,
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
    select ${result} as result,
      case when j.slot_keys @> array['${backfillGate.prefix}:' || k.id] then null else o.lateness_ms end as lateness_ms
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
    when 'ended' then k.enabled and k.next_at is null and not k.follows
    when 'active' then k.enabled and not k.paused and (k.next_at is not null or k.follows)
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
    or ($5 = 'latest' and (select count(*) from known) > $9) as "isMore",
  coalesce(jsonb_agg(to_jsonb(s) - 'place' order by s.place), '[]') as schedules
from (select place, ${scheduleMembers} from page join belfry.schedule using (id)) s`);

function neededEnds({ state, lateOverMs }: ScheduleSearch, sort: ScheduleSort): "latest" | "failing" | "none" {
  // Of those that fail all ends are looked for, and with them how late they were.
  if (state === "failing") return "failing";
  if (lateOverMs !== undefined || sort === "lateness") return "latest";
  return sort === "failing" ? "failing" : "none";
}

/** Those that promise something, or the one of them with id $1; $2 at most, by id. Locks nothing. */
export const readPromising = sqlQuery("schedules-promising", {
  params: ({ id, limit }: { id: string | null; limit: number }) => [id, limit],
  row: scheduleRow,
})(`
select ${scheduleMembers} from belfry.schedule
where spec ? 'objective' and removed_at is null and enabled and ($1::text is null or id = $1)
order by id limit $2`);

/** Inside a call: a planner without statistics takes a null for rare, and would read and sort the table for its first rows. */
const comes = `coalesce(removed_at is null and enabled
    and ($1::jsonb ->> 'app' is null or app = $1::jsonb ->> 'app')
    and ($1::jsonb -> 'kinds' is null or $1::jsonb -> 'kinds' ? (spec -> 'job' ->> 'kind'))
    and ($1::jsonb ->> 'lane' is null or spec -> 'job' ->> 'lane' = $1::jsonb ->> 'lane'), false)`;

/**
 * Schedules that have times to come, $2 at most, those first that a tick looks at next; then those whose last time is written
 * already and waits. $1 the search as JSON. Locks nothing.
 */
export const readComing = sqlQuery("schedules-coming", {
  params: ({ search, limit }: { search: ComingSearch; limit: number }) => [JSON.stringify(search), limit],
  row: scheduleRow,
})(`
(
  select ${scheduleMembers} from belfry.schedule where next_at is not null and ${comes}
  order by belfry.schedule.next_at, id limit $2
) union all (
  select s.* from (
    select distinct schedule_id from (
      (
        select schedule_id from belfry.occurrence where outcome = 'PLANNED' and nominal_at > belfry.now() order by nominal_at limit $2
      ) union all (
        select schedule_id from belfry.occurrence where outcome = 'PLANNED' and effective_at > belfry.now() order by effective_at limit $2
      )
    ) o
  ) p cross join lateral (
    select ${scheduleMembers} from belfry.schedule where id = p.schedule_id and next_at is null and ${comes} limit 1
  ) s
)`);
