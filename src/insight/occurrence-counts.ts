/** What became of a schedule's times, counted by quarter of an hour: every zone's clock has its hours from these. */
import { z } from "zod";
import { backfillGate } from "../admission/backfill.ts";
import { count, time } from "./atoms.ts";
import { insightLimits } from "./insight-limits.ts";
import { jobAndRun, result } from "./occurrence-ends.ts";
import { isoText, sqlQuery } from "./sql-query.ts";

const quarter = z.object({
  at: time.describe("Its beginning."),
  succeeded: count,
  failed: count,
  stopped: count,
  open: count.describe("Not ended, or still to be decided."),
  nothing: count.describe("Started no job: skipped, or merged into a later time."),
  unknown: count.describe("Started a job that is no longer kept."),
  late: count.describe("Started more than a minute late; one that a person ran by a backfill is not."),
  latestMs: z.number().min(0).nullable().describe("The most by which one was late; null where none started."),
});

export const occurrenceCounts = z
  .object({
    from: time,
    to: time,
    quarters: z.array(quarter).describe("Those in which the schedule had a time, the oldest first."),
    isMore: z.boolean().describe("There are more than 20,160 times: the oldest are left out."),
  })
  .meta({ id: "OccurrenceCounts" });
export type OccurrenceCountsReply = z.infer<typeof occurrenceCounts>;

const ends = ["succeeded", "failed", "stopped", "open", "nothing", "unknown"] as const;

export const countIn = (quarters: OccurrenceCountsReply["quarters"]): number =>
  quarters.reduce((sum, each) => sum + ends.reduce((own, end) => own + each[end], 0), 0);

const of = (word: string): string => `count(*) filter (where result = '${word}')::float8 as ${word}`;

/** The newest $4 times of schedule $1 from $2 until $3; later than $5 is late. Locks nothing. */
export const readOccurrenceCounts = sqlQuery("occurrence-counts", {
  params: ({ id, from, to }: { readonly id: string; readonly from: number; readonly to: number }) => [
    id,
    from,
    to,
    insightLimits.occurrencesCountedMax,
    insightLimits.onTimeMs,
  ],
  row: quarter,
})(`
select ${isoText("at")} as at, ${ends.map(of).join(", ")},
  count(*) filter (where late_ms > $5)::float8 as late, max(late_ms) as "latestMs"
from (
  select date_bin('15 minutes', o.nominal_at, 'epoch') as at,
    case when o.outcome = 'PLANNED' then 'open' when o.job_id is null then 'nothing' when j.id is null and r.id is null then 'unknown' else ${result} end as result,
    case when j.slot_keys @> array['${backfillGate.prefix}:' || $1] then null else o.lateness_ms::float8 end as late_ms
  from (
    select nominal_at, outcome, lateness_ms, job_id from belfry.occurrence
    where schedule_id = $1 and nominal_at >= belfry.at($2::float8) and nominal_at <= belfry.at($3::float8)
    order by belfry.occurrence.nominal_at desc limit $4
  ) o
  ${jobAndRun}
) judged
group by at order by at`);
