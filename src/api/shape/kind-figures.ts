import { z } from "zod";
import { type KindHours, percentilesOf } from "../../core/ports/kind-figures.ts";
import { count, time } from "./shape.ts";

const percentiles = z
  .object({ p50: z.number().min(0), p95: z.number().min(0), p99: z.number().min(0) })
  .nullable()
  .describe("In milliseconds, exact to a bucket of a histogram; null when there was none.");

const figures = z.object({
  ended: count.describe("Attempts that ended, well or not."),
  failed: count.describe("Those of them that failed."),
  waitingMs: percentiles.describe("From the time it was due to the start of its attempt."),
  runningMs: percentiles.describe("From the start to the end of an attempt."),
  histogram: z
    .array(z.object({ bucket: count, waited: count, ran: count, failed: count }))
    .optional()
    .describe(
      "With `include=histogram`: attempts by duration; each bucket ends at sqrt(2) times the one before, from 1 ms on.",
    ),
});

const span = z.object({ from: time, to: time });

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
      }),
    ),
    isMore: z.boolean().describe("More was counted than is read; some kinds are left out."),
  })
  .meta({ id: "KindFigureList" });

export type KindFigureListReply = z.infer<typeof kindFigureList>;
export type FiguresReply = z.infer<typeof figures>;

/** One entry for each kind and lane, or for each lane. */
export const kindFigures = (
  hours: readonly KindHours[],
  { by, hasHistogram }: { readonly by: "kind" | "lane"; readonly hasHistogram: boolean },
): KindFigureListReply["kinds"] =>
  [...Map.groupBy(hours, ({ kind, lane }) => JSON.stringify(by === "kind" ? [kind, lane] : [lane])).values()].flatMap(
    (rows) => {
      const [first] = rows;
      if (first === undefined) return [];
      const [before = [], now = []] = [true, false].map((isBefore) => rows.filter((row) => row.isBefore === isBefore));
      const kind = by === "kind" ? first.kind : null;
      return [
        { kind, lane: first.lane, now: figuresIn(now, { hasHistogram }), before: figuresIn(before, { hasHistogram }) },
      ];
    },
  );

type Counted = "waited" | "ran" | "failed";
type Bucket = Pick<KindHours, "bucket" | Counted>;

/** Of durations by bucket, of one kind or several, of one cell or several. */
export function figuresIn(rows: readonly Bucket[], { hasHistogram }: { readonly hasHistogram: boolean }): FiguresReply {
  const total = (of: Counted): number => rows.reduce((sum, row) => sum + row[of], 0);
  return {
    ended: total("ran"),
    failed: total("failed"),
    waitingMs: percentilesOf(spread(rows, "waited")),
    runningMs: percentilesOf(spread(rows, "ran")),
    ...(hasHistogram ? { histogram: histogramOf(rows) } : {}),
  };
}

function histogramOf(rows: readonly Bucket[]): NonNullable<FiguresReply["histogram"]> {
  const [waited, ran, failed] = (["waited", "ran", "failed"] as const).map((of) => spread(rows, of));
  const buckets = [...new Set(rows.map(({ bucket }) => bucket))].toSorted((a, b) => a - b);
  const of = (counts: ReadonlyMap<number, number> | undefined, bucket: number): number => counts?.get(bucket) ?? 0;
  return buckets.map((bucket) => ({
    bucket,
    waited: of(waited, bucket),
    ran: of(ran, bucket),
    failed: of(failed, bucket),
  }));
}

function spread(rows: readonly Bucket[], of: Counted): ReadonlyMap<number, number> {
  const buckets = new Map<number, number>();
  for (const row of rows) buckets.set(row.bucket, (buckets.get(row.bucket) ?? 0) + row[of]);
  return buckets;
}
