import { z } from "zod";
import { pastJobs, pastRuns, retentionOfJobs, retentionOfRuns } from "../machine/retention.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { count, maybeTime, time } from "./atoms.ts";
import { isoText, sqlQuery } from "./sql-query.ts";

/** What has left so far, of one part of the archive. */
export const archivePart = z.object({
  part: z.string(),
  objects: count,
  rows: count,
  bytes: count,
  until: maybeTime,
  /** Rows past their retention stay since then. */
  failing: z.object({ since: time, error: z.string() }).nullable(),
});

/** Each part of which something has left or should have; none in a stage without an archive. Locks nothing. */
export const readArchive = sqlQuery("archive", { row: archivePart })(`
select part, objects::float8, rows::float8, bytes::float8, ${isoText("until_at")} as until,
  case when failing_since is not null then
    jsonb_build_object('since', ${isoText("failing_since")}, 'error', coalesce(failure, '')) end as failing
from belfry.archive order by part`);

const oldestDay = (parent: string): string => `(
    select to_date(min(substring(inhrelid::regclass::text from '_([0-9]{8})$')), 'YYYYMMDD')::timestamp at time zone 'UTC'
      + interval '24 hours' + belfry.span($1::float8)
    from pg_inherits where inhparent = 'belfry.${parent}'::regclass)`;

/**
 * How long the first row past its retention waits, of each part that the archive has; 0: none does. Rows that had no day are not
 * looked for. $1 retention in ms of what no kind has its own for Locks nothing.
 */
export const archiveLag = sqlQuery("archive-lag", {
  params: () => [contractLimits.historyMs],
  row: z.object({ part: z.string(), lagMs: z.number().min(0) }),
})(`
with recursive of_jobs as (${retentionOfJobs.replace("from retention r", "from of_jobs r")}),
of_runs as (${retentionOfRuns.replace("from retention r", "from of_runs r")})
select a.part, belfry.ms_since(case a.part
  when 'jobs' then (
    select min(p.finished_at + belfry.span(r.retention_ms)) from of_jobs r cross join lateral (${pastJobs.replace("$1", "1")}) p)
  when 'runs' then (
    select min(p.finished_at + belfry.span(x.retention_ms)) from of_runs x cross join lateral (${pastRuns("1")}) p)
  when 'occurrences' then (
    select decided_at + belfry.span($1::float8) from belfry.occurrence where decided_at is not null order by decided_at limit 1)
  when 'audit' then (select at + belfry.audit_retention() from belfry.audit order by id limit 1)
  when 'events' then ${oldestDay("event")}
  when 'history' then ${oldestDay("history")}
end) as "lagMs"
from belfry.archive a order by a.part`);
