import { z } from "zod";
import { insightLimits } from "./insight-limits.ts";
import { count, time } from "./atoms.ts";
import { isoText, sqlQuery } from "./sql-query.ts";

const happened = {
  /** Jobs that ended so. */
  succeeded: count,
  failed: count,
  /** Attempts that failed and are followed by another one. */
  retried: count,
  canceled: count,
  skipped: count,
  /** Attempts whose worker stopped answering. */
  lost: count,
  /** Over the attempts that ended; null when none did. */
  meanRunMs: z.number().min(0).nullable(),
};

const figures = `coalesce(sum(created), 0)::float8 as created, coalesce(sum(succeeded), 0)::float8 as succeeded,
  coalesce(sum(failed), 0)::float8 as failed, coalesce(sum(retried), 0)::float8 as retried,
  coalesce(sum(canceled), 0)::float8 as canceled, coalesce(sum(skipped), 0)::float8 as skipped, coalesce(sum(lost), 0)::float8 as lost,
  sum(run_ms)::float8 / nullif(sum(succeeded + failed + retried), 0)::float8 as "meanRunMs"
from belfry.minute`;

/**
 * By the roll-up, oldest first; minutes in which nothing happened are left out. $1 so many minutes back, with the one that has
 * begun $2 kinds or null $3 lane or null $4 minutes at most. Locks nothing.
 */
export const readMinutes = sqlQuery("minutes", {
  params: ({ back, kinds, lane }: { back: number; kinds: readonly string[] | null; lane: string | null }) => [
    back,
    kinds,
    lane,
    insightLimits.minutesShownMax,
  ],
  row: z.object({ at: time, created: count, started: count, ...happened }),
})(`
select ${isoText("at")} as at, sum(started)::float8 as started, ${figures}
where at >= date_trunc('minute', belfry.now()) - ($1::float8 - 1) * interval '1 minute'
  and ($2::text[] is null or kind = any($2::text[])) and ($3::text is null or lane = $3::text)
group by belfry.minute.at
order by belfry.minute.at limit $4`);

/** One row: the same of the last hour together. $1 kinds or null. Locks nothing. */
export const readLastHour = sqlQuery("last-hour", {
  params: (kinds: readonly string[] | null) => [kinds],
  row: z.object({ created: count, ...happened }),
})(`
select ${figures}
where at >= belfry.now() - interval '1 hour' and ($1::text[] is null or kind = any($1::text[]))`);

export const throughput = z.object({ minutes: z.array(readMinutes.row) }).meta({ id: "Throughput" });
