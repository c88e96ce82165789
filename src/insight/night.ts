/** What ran in a range of time, row by row: the picture of a night. A run speaks for the job that started it. */
import { z } from "zod";
import type { Instant } from "../machine/job.ts";
import { retentionOfJobs, retentionOfRuns } from "../machine/retention.ts";
import { count, idText, maybeTime, time } from "./atoms.ts";
import { insightLimits } from "./insight-limits.ts";
import { endResults } from "../machine/schedule.ts";
import { isoText, sqlQuery } from "./sql-query.ts";

export const nightRows = ["schedule", "kind", "lane"] as const;

export interface NightSearch {
  readonly from: Instant;
  readonly to: Instant;
  readonly by: (typeof nightRows)[number];
  /** Only of these. */
  readonly kinds: readonly string[] | null;
}

const span = z.object({ from: time, to: maybeTime.describe("Null: it goes on.") });

const bar = z.object({
  job: idText.nullable().describe("Null for a time at which nothing ran, and for a run without a job that started it."),
  run: idText.nullable(),
  dueAt: time.describe("From here to its start it waited."),
  startedAt: maybeTime.describe("Of its last attempt."),
  endedAt: maybeTime,
  result: z.enum(endResults),
  reason: z.string().nullable().describe("Its error code, or why it was skipped."),
  tries: z.array(span).describe("Attempts before the last one; between them it waited."),
});

const cell = z.object({
  from: time,
  to: time,
  succeeded: count,
  failed: count,
  stopped: count,
  open: count,
  p50Ms: z.number().min(0).nullable().describe("From start to end; null where nothing has ended."),
  p95Ms: z.number().min(0).nullable(),
});

const pause = z.object({ ...span.shape, reason: z.string().nullable() });

export const night = z
  .object({
    from: time,
    to: time,
    by: z.enum(nightRows),
    rows: z.array(
      z.object({
        id: z.string(),
        pauses: z.array(pause),
        bars: z.array(bar).describe("One each; none where there are too many of all rows, which have cells instead."),
        cells: z.array(cell).describe("How many began in one part of the range, and how they ended."),
      }),
    ),
    isMore: z.boolean().describe("More ran, or in more rows, than is shown."),
  })
  .meta({ id: "Night" });
export type NightReply = z.infer<typeof night>;

const { nightReadMax, nightOpenMax, nightBarsMax, nightRowsMax, nightCellsMax } = insightLimits;

const jobMembers = `id, kind, lane, schedule_id, state, attempt, started_at, finished_at, error_code,
  case when attempt > 1 or state = 'RETRY_WAIT' then coalesce(case when not catch_up then coalesce(effective_at, scheduled_for) end, created_at) else due_at end as due_at`;

const ofJob = `case state when 'SUCCESS' then 'succeeded' when 'FAILED' then 'failed' when 'CANCELED' then 'stopped' when 'SKIPPED' then 'stopped' else 'open' end`;
const ofRun = `case r.state when 'DONE' then 'succeeded' when 'FAILED' then 'failed' when 'CANCELED' then 'stopped' else 'open' end`;

const endedBetween = (from: string, to: string): string => `
    select ${jobMembers} from belfry.job
    where finished_at is not null and run_id is null and retention_ms = r.retention_ms and finished_at >= s.${from} and finished_at < s.${to}
      and ($3 <> 'schedule' or schedule_id is not null)`;

/**
 * Single jobs and runs that lie in the range, or in a part of it, and times at which a schedule started nothing. What ended is read
 * by its end, from the range and once its length more, so that what takes longer than that is not seen when it ends behind `to`.
 * $1 $2 the range $3 rows by $4 kinds or null $5 most of what ended in it, of each retention $6 most of what is open, the newest, and
 * of each retention of what ended first behind it.
 */
const found = `
range as materialized (
  select belfry.at($1::float8) as since, belfry.at($2::float8) as till, belfry.at(2 * $2::float8 - $1::float8) as seen
), ended as materialized (
  with recursive retention as (${retentionOfJobs})
  select e.*, r.retention_ms from retention r cross join range s cross join lateral (
    (${endedBetween("since", "till")} order by finished_at desc limit $5)
    union all
    (${endedBetween("till", "seen")} order by finished_at limit $6)
  ) e
), open as materialized (
  select * from (
    select ${jobMembers}, run_id from belfry.job where finished_at is null order by id desc limit $6
  ) o where o.run_id is null
), runs as materialized (
  with recursive retention as (${retentionOfRuns})
  select e.* from retention x cross join range s cross join lateral (
    select id, kind, starter_id, state, created_at, finished_at from belfry.run
    where finished_at is not null and retention_ms = x.retention_ms and finished_at >= s.since and finished_at < s.seen
    order by finished_at desc limit $5
  ) e
  union all
  (select id, kind, starter_id, state, created_at, finished_at from belfry.run
  where state in ('RUNNING', 'CANCELING') order by id desc limit $6)
), skipped as materialized (
  select o.schedule_id, s.spec, o.nominal_at, o.reason
  from range cross join lateral (
    select schedule_id, nominal_at, reason from belfry.occurrence
    where decided_at >= since - interval '1 hour' and decided_at < seen and outcome = 'SKIPPED' and job_id is null
    order by decided_at desc limit $5
  ) o join belfry.schedule s on s.id = o.schedule_id
), everything as (
  select id as job, null::bigint as run, kind, lane, schedule_id, due_at, started_at, finished_at, ${ofJob} as result, error_code as reason,
    attempt > 1 or state = 'RETRY_WAIT' as tried
  from (
    select id, kind, lane, schedule_id, due_at, started_at, finished_at, state, error_code, attempt from ended
    union all
    select id, kind, lane, schedule_id, due_at, started_at, finished_at, state, error_code, attempt from open
  ) j
  where id not in (select starter_id from runs where starter_id is not null)
  union all
  select r.starter_id, r.id, r.kind, coalesce(j.lane, k.lane), j.schedule_id, least(j.due_at, r.created_at), r.created_at, r.finished_at, ${ofRun}, null, false
  from runs r left join belfry.job j on j.id = r.starter_id left join belfry.kind k on k.id = r.kind
  union all
  select null, null, spec -> 'job' ->> 'kind', spec -> 'job' ->> 'lane', schedule_id, nominal_at, null, nominal_at, 'stopped', reason, false
  from skipped
), found as materialized (
  select e.*, case $3 when 'schedule' then schedule_id when 'kind' then kind else lane end as line
  from everything e cross join range s
  where coalesce(finished_at, s.till) >= s.since and least(started_at, due_at) <= s.till and ($4::text[] is null or kind = any($4::text[]))
    and case $3 when 'schedule' then schedule_id when 'kind' then kind else lane end is not null
), cut as materialized (
  select greatest((select count(*) from runs), (select count(*) from skipped)) >= $5
    or exists (
      select from ended e cross join range r group by e.retention_ms, e.finished_at < r.till
      having count(*) >= case when e.finished_at < r.till then $5::bigint else $6::bigint end
    ) as is_cut
)`;

const valuesOf = (of: NightSearch, readMax: number) => [of.from, of.to, of.by, of.kinds, readMax, nightOpenMax];
/** All of the range when they are at most $7, else none: then little of it is read. Locks nothing. */
export const readNightBars = sqlQuery("night-bars", {
  params: (of: NightSearch) => [...valuesOf(of, of.kinds === null ? 2 * nightBarsMax : nightReadMax), nightBarsMax],
  row: z.object({ row: z.string(), of: bar }),
})(`
with ${found}
select f.line as row, jsonb_build_object(
    'job', f.job::text, 'run', f.run::text, 'dueAt', ${isoText("least(f.due_at, f.started_at)")}, 'startedAt', ${isoText("f.started_at")},
    'endedAt', ${isoText("f.finished_at")}, 'result', f.result, 'reason', f.reason,
    'tries', case when f.tried then (
      select coalesce(jsonb_agg(jsonb_build_object('from', ${isoText("h.started_at")}, 'to', ${isoText("h.at")}) order by h.id), '[]')
      from belfry.history h where h.job_id = f.job and h.from_state = 'RUNNING' and h.started_at is not null
    ) else '[]' end
  ) as of
from found f
where (select count(*) from found) <= $7 and not (select is_cut from cut)
order by f.due_at, f.job`);

/**
 * Counts by row and part of the range: the first $7 rows, those that failed first, and at most $8 cells of all; a row of its own, of
 * nothing, where a cut left none. Locks nothing.
 */
export const readNightCells = sqlQuery("night-cells", {
  params: (of: NightSearch) => [...valuesOf(of, nightReadMax), nightRowsMax, nightCellsMax],
  row: z.object({ row: z.string().nullable(), of: cell.nullable(), isCut: z.boolean() }),
})(`
with ${found}, ranked as materialized (
  select line, count(*) over () as of_rows from (
    select line, bool_or(result = 'failed') as has_failed, min(due_at) as first_at from found group by line
  ) g order by has_failed desc, first_at, line limit $7
), parts as materialized (
  select since, least(96, $8::int / greatest(1, (select count(*)::int from ranked))) as number, till - since as whole from range
)
select g.row, g.of, c.is_cut or coalesce(g.of_rows > $7, false) as "isCut"
from cut c left join (
  select f.line as row, f.part, f.of_rows, jsonb_build_object(
    'from', ${isoText("(p.since + f.part * p.whole / p.number)")}, 'to', ${isoText("(p.since + (f.part + 1) * p.whole / p.number)")},
    'succeeded', count(*) filter (where result = 'succeeded'), 'failed', count(*) filter (where result = 'failed'),
    'stopped', count(*) filter (where result = 'stopped'), 'open', count(*) filter (where result = 'open'),
    'p50Ms', percentile_cont(0.5) within group (order by took), 'p95Ms', percentile_cont(0.95) within group (order by took)
  ) as of
  from (
    select line, result, of_rows, case when started_at <= finished_at then belfry.ms(finished_at) - belfry.ms(started_at) end as took,
      least(number - 1, greatest(0, floor(extract(epoch from due_at - since) * number / extract(epoch from whole))))::int as part
    from found join ranked using (line) cross join parts
  ) f cross join parts p
  group by f.line, f.part, f.of_rows, p.since, p.whole, p.number
) g on true
order by g.row, g.part`);

/** The newest pause of each lane or schedule, where it touches the range. $1 $2 the range $3 rows by $4 at most. Locks nothing. */
export const readNightPauses = sqlQuery("night-pauses", {
  params: ({ from, to, by }: NightSearch) => [from, to, by, insightLimits.upcomingSchedulesMax],
  row: z.object({ row: z.string(), of: pause }),
})(`
select id as row, jsonb_build_object('from', ${isoText("paused_at")}, 'reason', pause_reason,
  'to', case when isfinite(paused_until) then ${isoText("paused_until")} end) as of
from (
  select id, paused_at, paused_until, pause_reason from belfry.schedule where $3 = 'schedule'
  union all
  select name, paused_at, paused_until, pause_reason from belfry.lane where $3 = 'lane'
) p
where paused_at < belfry.at($2::float8) and paused_until > belfry.at($1::float8)
order by paused_at limit $4`);

interface Found {
  readonly bars: readonly z.infer<typeof readNightBars.row>[];
  readonly cells: readonly z.infer<typeof readNightCells.row>[];
  readonly pauses: readonly z.infer<typeof readNightPauses.row>[];
}

/** Rows that failed first, then in the order in which they began. */
export function nightRowsOf({ bars, cells, pauses }: Found): Pick<NightReply, "rows" | "isMore"> {
  const counted = cells.flatMap(({ row, of }) => (row === null || of === null ? [] : [{ row, of }]));
  const [barsOf, cellsOf, pausesOf] = [byRow(bars), byRow(counted), byRow(pauses)];
  const rows = [...new Set([...barsOf.keys(), ...cellsOf.keys()])].map((id) => {
    return { id, pauses: pausesOf.get(id) ?? [], bars: barsOf.get(id) ?? [], cells: cellsOf.get(id) ?? [] };
  });
  const sorted = rows.toSorted(
    (a, b) =>
      Number(hasFailed(b)) - Number(hasFailed(a)) || firstOf(a).localeCompare(firstOf(b)) || (a.id < b.id ? -1 : 1),
  );
  return {
    rows: sorted.slice(0, nightRowsMax),
    isMore: sorted.length > nightRowsMax || cells.some(({ isCut }) => isCut),
  };
}

type NightRow = NightReply["rows"][number];
const hasFailed = ({ bars, cells }: NightRow): boolean =>
  bars.some(({ result }) => result === "failed") || cells.some(({ failed }) => failed > 0);
const firstOf = ({ bars, cells }: NightRow): string => bars[0]?.dueAt ?? cells[0]?.from ?? "";

const byRow = <V>(all: readonly { readonly row: string; readonly of: V }[]): ReadonlyMap<string, V[]> =>
  new Map([...Map.groupBy(all, ({ row }) => row)].map(([row, own]) => [row, own.map(({ of }) => of)]));
