/** The distinct retentions of what has ended, found by hopping through its index. */
const retentionOf = (table: string, hasEnded: string): string => `
  (select retention_ms from belfry.${table} where ${hasEnded} order by retention_ms limit 1)
  union all
  select (
    select n.retention_ms from belfry.${table} n where ${hasEnded} and n.retention_ms > r.retention_ms order by n.retention_ms limit 1
  ) from retention r where r.retention_ms is not null`;

/** Of single jobs. */
export const retentionOfJobs = retentionOf("job", "finished_at is not null and run_id is null");
export const retentionOfRuns = retentionOf("run", "finished_at is not null");

/** Of one retention r, those past it, the longest first; at most $1. */
export const pastJobs = `
    select j.id, j.finished_at from belfry.job j
    where j.finished_at is not null and j.run_id is null and j.retention_ms = r.retention_ms
      and j.finished_at < belfry.now() - belfry.span(r.retention_ms)
      and not exists (select from belfry.run o where o.starter_id = j.id and o.finished_at is null)
    order by j.finished_at limit $1`;

/** Of one retention x, those past it, the longest first. */
export const pastRuns = (limit: string): string => `
    select id, finished_at from belfry.run r
    where r.finished_at is not null and r.retention_ms = x.retention_ms and r.finished_at < belfry.now() - belfry.span(x.retention_ms)
    order by r.finished_at limit ${limit}`;
