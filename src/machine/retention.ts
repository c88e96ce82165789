/** The distinct retentions of finished single jobs, found by hopping through the index. */
export const retentionOfJobs = `
  (select retention_ms from belfry.job where finished_at is not null and run_id is null order by retention_ms limit 1)
  union all
  select (
    select j.retention_ms from belfry.job j
    where j.finished_at is not null and j.run_id is null and j.retention_ms > r.retention_ms
    order by j.retention_ms limit 1
  ) from retention r where r.retention_ms is not null`;

/** Of one retention r, those past it, the longest first; at most $1. */
export const pastJobs = `
    select j.id, j.finished_at from belfry.job j
    where j.finished_at is not null and j.run_id is null and j.retention_ms = r.retention_ms
      and j.finished_at < belfry.now() - belfry.span(r.retention_ms)
      and not exists (select from belfry.run o where o.starter_id = j.id and o.finished_at is null)
    order by j.finished_at limit $1`;

/** The distinct retentions of runs that have ended, found by hopping through the index. */
export const retentionOfRuns = `
  (select retention_ms from belfry.run where finished_at is not null order by retention_ms limit 1)
  union all
  select (
    select r.retention_ms from belfry.run r where r.finished_at is not null and r.retention_ms > x.retention_ms
    order by r.retention_ms limit 1
  ) from retention x where x.retention_ms is not null`;

/** Of one retention x, those past it, the longest first. */
export const pastRuns = (limit: string): string => `
    select id, finished_at from belfry.run r
    where r.finished_at is not null and r.retention_ms = x.retention_ms and r.finished_at < belfry.now() - belfry.span(x.retention_ms)
    order by r.finished_at limit ${limit}`;
