import { z } from "zod";
import type { Instant } from "../machine/job.ts";
import { insightLimits } from "./insight-limits.ts";
import { count, time } from "./atoms.ts";
import { sqlQuery } from "./sql-query.ts";

/** Upper bounds in seconds, each sqrt(2) times the one before: from a millisecond to twelve days. */
export const hourBuckets: readonly number[] = Array.from({ length: 61 }, (_, index) => 2 ** (index / 2) / 1_000);

/** From the first hour on, up to but without the one that begins at `to`. */
export interface Period {
  readonly from: Instant;
  readonly to: Instant;
}

/** How many attempts of a kind took as long as one bucket says, in one of two periods. */
const kindHours = z.object({
  kind: z.string(),
  lane: z.string(),
  isBefore: z.boolean(),
  /** How many of `hourBuckets` the duration reaches. */
  bucket: count,
  /** Attempts that started, by how long their job had been due. */
  waited: count,
  /** Attempts that ended, by how long they ran. */
  ran: count,
  failed: count,
});
export type KindHours = z.infer<typeof kindHours>;

/**
 * Histograms of two periods, each from its first hour up to its last: $1 $2 and, to compare with, $3 $4, which may overlap.
 * $5 kind or null $6 lane or null $7 rows at most. Locks nothing.
 */
export const readKindHours = sqlQuery("kind-hours", {
  params: ({ now, before, kind, lane }: { now: Period; before: Period; kind: string | null; lane: string | null }) => [
    now.from,
    now.to,
    before.from,
    before.to,
    kind,
    lane,
    insightLimits.kindFigureRowsMax,
  ],
  row: kindHours,
})(`
select kind, lane, is_before as "isBefore", bucket, sum(waited)::float8 as waited, sum(ran)::float8 as ran, sum(failed)::float8 as failed
from (values (false, belfry.at($1::float8), belfry.at($2::float8)), (true, belfry.at($3::float8), belfry.at($4::float8)))
  as period (is_before, since, until)
join belfry.hour on at >= since and at < until
where ($5::text is null or kind = $5::text) and ($6::text is null or lane = $6::text)
group by kind, lane, is_before, bucket
order by kind, lane, is_before, bucket limit $7`);

const percentiles = z
  .object({ p50: z.number().min(0), p95: z.number().min(0), p99: z.number().min(0) })
  .nullable()
  .describe("In milliseconds, exact to a bucket of a histogram; null when there was none.");

const figures = z.object({
  ended: count.describe("Attempts that ended, well or not."),
  failed: count.describe("Those of them that failed."),
  waitingMs: percentiles.describe("From the time it was due to the start of its attempt."),
  runningMs: percentiles.describe("From the start to the end of an attempt."),
});

const span = z.object({ from: time, to: time });

const step = z.object({
  fromMs: z.number().min(0),
  toMs: z.number().min(0),
  waited: count.describe("Attempts that had been due for as long when they started."),
  ran: count.describe("Attempts that took as long."),
});

export const kindFigureList = z
  .object({
    period: span,
    before: span,
    kinds: z.array(
      z.object({
        kind: z.string().nullable().describe("Null where all kinds of a lane are taken together."),
        lane: z.string(),
        now: figures,
        before: figures,
        spread: z.array(step).optional().describe("With `include=spread`: how many took how long, without a gap."),
      }),
    ),
    isMore: z.boolean().describe("More was counted than is read; some kinds are left out."),
  })
  .meta({ id: "KindFigureList" });

export type KindFigureListReply = z.infer<typeof kindFigureList>;

/** One entry for each kind and lane, or for each lane. */
export const kindFigures = (
  hours: readonly KindHours[],
  { by, include }: { readonly by: "kind" | "lane"; readonly include?: "spread" | undefined },
): KindFigureListReply["kinds"] =>
  [...Map.groupBy(hours, ({ kind, lane }) => JSON.stringify(by === "kind" ? [kind, lane] : [lane])).values()].flatMap(
    (rows) => {
      const [first] = rows;
      if (first === undefined) return [];
      const [before = [], now = []] = [true, false].map((isBefore) => rows.filter((row) => row.isBefore === isBefore));
      const kind = by === "kind" ? first.kind : null;
      const found = { kind, lane: first.lane, now: figuresIn(now), before: figuresIn(before) };
      return [include === undefined ? found : { ...found, spread: stepsOf(now) }];
    },
  );

type Counted = "waited" | "ran" | "failed";

function figuresIn(rows: readonly KindHours[]): z.infer<typeof figures> {
  const total = (of: Counted): number => rows.reduce((sum, row) => sum + row[of], 0);
  return {
    ended: total("ran"),
    failed: total("failed"),
    waitingMs: percentilesOf(spread(rows, "waited")),
    runningMs: percentilesOf(spread(rows, "ran")),
  };
}

function spread(rows: readonly KindHours[], of: Counted): ReadonlyMap<number, number> {
  const buckets = new Map<number, number>();
  for (const row of rows) buckets.set(row.bucket, (buckets.get(row.bucket) ?? 0) + row[of]);
  return buckets;
}

/** From the shortest to the longest that occurred. */
function stepsOf(rows: readonly KindHours[]): z.infer<typeof step>[] {
  const [waited, ran] = [spread(rows, "waited"), spread(rows, "ran")];
  const bounds = [0, ...hourBuckets, ...hourBuckets.slice(-1)].map((seconds) => Math.round(seconds * 1_000));
  const steps = bounds.slice(1).map((toMs, at) => {
    return { fromMs: bounds[at] ?? 0, toMs, waited: waited.get(at) ?? 0, ran: ran.get(at) ?? 0 };
  });
  const isUsed = (each: z.infer<typeof step>): boolean => each.waited + each.ran > 0;
  return steps.slice(Math.max(0, steps.findIndex(isUsed)), steps.findLastIndex(isUsed) + 1);
}

/** Null when nothing was counted. Exact to a bucket, in which durations count as evenly spread. */
export function percentilesOf(buckets: ReadonlyMap<number, number>): z.infer<typeof percentiles> {
  const counts = [...buckets].toSorted(([a], [b]) => a - b);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return null;
  const at = (share: number): number => durationAt(counts, total * share);
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

function durationAt(counts: readonly (readonly [number, number])[], rank: number): number {
  let below = 0;
  for (const [bucket, count] of counts) {
    if (below + count >= rank) {
      const low = hourBuckets[bucket - 1] ?? 0;
      const high = hourBuckets[bucket] ?? low;
      return Math.round((low + ((high - low) * (rank - below)) / count) * 1_000);
    }
    below += count;
  }
  throw new RangeError(`rank is ${rank}; it must be at most ${below}, the count of all`);
}
