/** How schedules stand by what they promise: what is left of the times that may miss, and whether they are used up too fast. */
import { z } from "zod";
import { isReplacer } from "../admission/overlap.ts";
import { backfillGate } from "../admission/backfill.ts";
import { timetable } from "../calendar/timetable.ts";
import type { Instant } from "../machine/job.ts";
import { pauseAt } from "../machine/pause.ts";
import { reasons } from "../machine/reasons.ts";
import type { Objective, ScheduleRow } from "../machine/schedule.ts";
import { count } from "./atoms.ts";
import { insightLimits } from "./insight-limits.ts";
import { result } from "./occurrence-ends.ts";
import { readPromising } from "./schedules.ts";
import { type Database, sqlQuery } from "./sql-query.ts";

const burn = z.object({
  windowMs: count,
  rate: z
    .number()
    .min(0)
    .describe("How many times as fast as the objective allows times missed in the window; 1 uses it up."),
  recentRate: z.number().min(0).describe("The same in the last twelfth of the window."),
  from: z.number().describe("It burns while both are that high."),
  burns: z.boolean(),
});

export const objectiveStand = z
  .object({
    schedule: z.string(),
    kind: z.string(),
    onTimeMs: count.nullable(),
    endsWithinMs: count.nullable(),
    share: z.number(),
    overMs: count,
    times: count.describe("Of the period, those whose end was due: see the guide for what counts."),
    missed: count,
    left: z
      .number()
      .max(1)
      .describe("Of the times that may miss, the share that is left; below 0 when more have missed."),
    fast: burn,
    slow: burn,
  })
  .meta({ id: "ObjectiveStand" });
export type ObjectiveStand = z.infer<typeof objectiveStand>;

/**
 * The windows of "The Site Reliability Workbook", chapter 5, in parts of the period: of 28 days an hour in which 2 % of what may miss
 * did, or 6 hours in which 5 % did, each with its last twelfth, so that an alarm ends soon after its cause.
 */
const windows = {
  fast: { part: 672, from: 13.44 },
  slow: { part: 112, from: 5.6 },
} as const;
const parts = [1, windows.slow.part, windows.slow.part * 12, windows.fast.part, windows.fast.part * 12] as const;

/** Decided by a person or by the definition: such a time is neither good nor missed. */
const uncounted = [
  reasons.paused,
  reasons.disabled,
  reasons.excluded,
  reasons.dstGap,
  reasons.deleted,
  reasons.withdrawn,
  reasons.canceled,
];

/** Of schedule `a.id`, which `until` is what was due: each time with whether it missed. */
const judged = `(
  select due.at, o.outcome in ('COALESCED', 'SKIPPED')
    or (a.on_time is not null and coalesce(o.lateness_ms > a.on_time, true))
    or (a.ends_within is not null and not (e.result = 'succeeded'
      and coalesce(r.finished_at, j.finished_at) <= due.at + a.ends_within * interval '1 millisecond')) as missed
  from belfry.occurrence o
  cross join lateral (select coalesce(o.effective_at, o.nominal_at) as at) due
  left join belfry.job j on j.id = o.job_id and (a.ends_within is not null or o.catch_up)
  left join lateral (
    select state, finished_at, canceled_by from belfry.run where a.ends_within is not null and starter_id = o.job_id order by id desc limit 1
  ) r on true
  cross join lateral (select ${result} as result) e
  where o.schedule_id = a.id and o.nominal_at <= a.until and due.at <= a.until
    and (o.outcome <> 'SKIPPED' or o.reason <> all($5::text[])) and not (
      e.result = 'stopped' and o.outcome in ('FIRED', 'CAUGHT_UP') and case when r.state is not null then not ${isReplacer("r.canceled_by")}
        else (select h.reason from belfry.history h where h.job_id = j.id order by h.id desc limit 1) = '${reasons.canceled}' end)
    and (j.slot_keys @> array['${backfillGate.prefix}:' || a.id]) is not true`;

/**
 * Of each schedule how many of its times missed and how many there were, in each of the parts $6 of its period, which ended when the
 * newest of them had to be met; and whether the one with the newest nominal time missed. $1 ids $2 milliseconds until the start
 * $3 until the end, null where nothing is promised $4 the period. $7 with the whole period $8 how long after itself a time may be due.
 * Locks nothing.
 */
export const readJudgedTimes = sqlQuery("objectives", {
  params: ({ rows, isWhole }: { readonly rows: readonly ScheduleRow[]; readonly isWhole: boolean }) => [
    rows.map(({ id }) => id),
    rows.map(({ spec }) => spec.objective?.onTimeMs ?? null),
    rows.map(({ spec }) => spec.objective?.endsWithinMs ?? null),
    rows.map(({ spec }) => spec.objective?.overMs ?? 0),
    uncounted,
    parts,
    isWhole,
    rows.map(({ spec }) => spec.spread?.withinMs ?? 0),
  ],
  row: z.object({
    schedule: z.string(),
    until: z.number(),
    times: z.array(count),
    missed: z.array(count),
    newestMissed: z.boolean().nullable(),
  }),
})(`
with a as materialized (
  select a.*, a.lag_ms * interval '1 millisecond' as lag, belfry.now() - greatest(on_time, ends_within) * interval '1 millisecond' as until, p.period
  from unnest($1::text[], $2::float8[], $3::float8[], $4::float8[], $8::float8[]) as a (id, on_time, ends_within, over, lag_ms)
  cross join lateral (select over * interval '1 millisecond' as period) p
)
select a.id as schedule, belfry.ms(a.until) as until, c.times, c.missed, n.missed as "newestMissed"
from a
cross join lateral (
  select array_agg(w.times order by w.place) as times, array_agg(w.missed order by w.place) as missed
  from unnest($6::int[]) with ordinality as p (part, place) cross join lateral (
    select p.place, count(*)::int as times, count(*) filter (where t.missed)::int as missed
    from ${judged} and o.nominal_at > a.until - a.period / p.part - a.lag and due.at > a.until - a.period / p.part
    ) t
    where $7 or p.part > 1
  ) w
) c
left join lateral (select t.missed from ${judged} order by o.nominal_at desc limit 1) t) n on true`);

/** Of each schedule that promises something, or of one. The times that no scheduler decided count too. */
export async function readObjectives(
  insight: Database,
  { schedule, isWhole }: { readonly schedule?: string | undefined; readonly isWhole: boolean },
): Promise<{ readonly objectives: readonly ObjectiveStand[]; readonly isMore: boolean }> {
  const found = await insight.run(readPromising, { id: schedule ?? null, limit: insightLimits.objectivesMax + 1 });
  const rows = found.slice(0, insightLimits.objectivesMax);
  const judgedTimes = rows.length === 0 ? [] : await insight.run(readJudgedTimes, { rows, isWhole });
  const byId = new Map(rows.map((row) => [row.id, row]));
  const objectives = judgedTimes.flatMap((times) => {
    const row = byId.get(times.schedule);
    const objective = row?.spec.objective;
    if (row === undefined || objective === undefined) return [];
    return [standOf(row, objective, withSilence(row, objective, times))];
  });
  return { objectives, isMore: found.length > rows.length };
}

type JudgedTimes = z.infer<typeof readJudgedTimes.row>;

/** With the times that are due and that no scheduler has decided: while none passes, all of them miss. */
function withSilence(row: ScheduleRow, { overMs }: Objective, times: JudgedTimes): JudgedTimes {
  const undecided = undecidedTimes(row, times.until);
  if (undecided.length === 0) return times;
  const added = parts.map((part) => undecided.filter((at) => at > times.until - overMs / part).length);
  const plus = (counts: readonly number[]) => counts.map((each, place) => each + (added[place] ?? 0));
  return { ...times, times: plus(times.times), missed: plus(times.missed), newestMissed: true };
}

function undecidedTimes(row: ScheduleRow, until: Instant): readonly Instant[] {
  const { spec, decidedUntil } = row;
  const offsetMs = spec.spread?.offsetMs ?? 0;
  try {
    return [...timetable(spec).times(decidedUntil, until - offsetMs)].flatMap(({ kind, instant }) =>
      kind === "fires" && pauseAt(row, instant) === null ? [instant + offsetMs] : [],
    );
  } catch (error) {
    // An expression or a zone that this process cannot read: the scheduler's own log says so.
    if (error instanceof RangeError) return [];
    throw error;
  }
}

function standOf({ id, spec }: ScheduleRow, objective: Objective, counted: JudgedTimes): ObjectiveStand {
  const allowed = 1 - objective.share;
  const [times = 0, ...timesOf] = counted.times;
  const [missed = 0, ...missedOf] = counted.missed;
  // A window without a time stands where the last one left it.
  const rates = timesOf.map((each, place) =>
    each === 0 ? (counted.newestMissed === true ? 1 / allowed : 0) : (missedOf[place] ?? 0) / each / allowed,
  );
  const [slow = 0, recentlySlow = 0, fast = 0, recentlyFast = 0] = rates;
  const burnOf = (name: keyof typeof windows, rate: number, recentRate: number) => {
    const { part, from: usual } = windows[name];
    // Where all may miss before that rate is reached, it burns when all do.
    const from = Math.min(usual, 1 / allowed);
    return {
      windowMs: Math.round(objective.overMs / part),
      rate,
      recentRate,
      from,
      burns: rate >= from && recentRate >= from,
    };
  };
  return {
    schedule: id,
    kind: spec.job.kind,
    ...objective,
    times,
    missed,
    left: times === 0 ? 1 : 1 - missed / times / allowed,
    fast: burnOf("fast", fast, recentlyFast),
    slow: burnOf("slow", slow, recentlySlow),
  };
}
