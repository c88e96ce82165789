import { z } from "zod";
import { insightLimits } from "./insight-limits.ts";
import { count } from "./atoms.ts";
import { sqlQuery } from "./sql-query.ts";

/** Upper bounds in seconds. */
export const durationBuckets = [0.005, 0.025, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600] as const;

const histogram = z.object({
  count,
  seconds: z.number().min(0),
  /** One count for each of `durationBuckets` and one for longer times; empty when nothing was counted. */
  buckets: z.array(count),
});
export type Histogram = z.infer<typeof histogram>;

/** Totals of one kind since the first start; they only grow. */
const kindTotal = z.object({
  kind: z.string(),
  /** Attempts that were SUCCESS, FAILED or LOST, by how long they took. */
  attempts: histogram,
  /** Those of them that were FAILED or LOST. */
  failedAttempts: histogram,
  /** Starts, by how late they were. */
  starts: histogram,
  created: count,
  succeeded: count,
  failed: count,
  lost: count,
  released: count,
  attemptsCanceled: count,
  canceled: count,
  skipped: count,
  itemsProcessed: count,
  itemsSucceeded: count,
  itemsFailed: count,
  locksAcquired: count,
  locksFailed: count,
});
export type KindTotal = z.infer<typeof kindTotal>;

const histogramOf = (seconds: string, buckets: string): string =>
  `jsonb_build_object('count', (select coalesce(sum(n), 0) from unnest(${buckets}) n), 'seconds', ${seconds}, 'buckets', ${buckets})`;

/** Locks nothing. */
export const readKindTotals = sqlQuery("kind-totals", {
  params: () => [insightLimits.kindsShownMax],
  row: kindTotal,
})(`
select kind, jsonb_build_object('count', attempts, 'seconds', seconds, 'buckets', buckets) as attempts,
  ${histogramOf("failed_seconds", "failed_buckets")} as "failedAttempts", ${histogramOf("late_seconds", "late_buckets")} as starts,
  created::float8 as created, succeeded::float8 as succeeded, failed::float8 as failed, lost::float8 as lost,
  released::float8 as released, attempts_canceled::float8 as "attemptsCanceled", canceled::float8 as canceled, skipped::float8 as skipped,
  items_processed::float8 as "itemsProcessed", items_succeeded::float8 as "itemsSucceeded",
  items_failed::float8 as "itemsFailed", locks_acquired::float8 as "locksAcquired", locks_failed::float8 as "locksFailed"
from belfry.kind_total order by kind limit $1`);
