import { statement } from "../statement.ts";

export interface KindHoursRow {
  readonly kind: string;
  readonly lane: string;
  readonly is_before: boolean;
  readonly bucket: number;
  readonly waited: number;
  readonly ran: number;
  readonly failed: number;
}

/**
 * Histograms of two periods, each from its first hour up to its last: $1 $2 and, to compare with, $3 $4, which may overlap.
 * $5 kind or null $6 lane or null $7 rows at most. Locks nothing.
 */
export const readKindHours = statement<KindHoursRow>(
  "kind-hours",
  `
select kind, lane, is_before, bucket, sum(waited)::float8 as waited, sum(ran)::float8 as ran, sum(failed)::float8 as failed
from (values (false, belfry.at($1::float8), belfry.at($2::float8)), (true, belfry.at($3::float8), belfry.at($4::float8)))
  as period (is_before, since, until)
join belfry.hour on at >= since and at < until
where ($5::text is null or kind = $5::text) and ($6::text is null or lane = $6::text)
group by kind, lane, is_before, bucket
order by kind, lane, is_before, bucket limit $7`,
);
