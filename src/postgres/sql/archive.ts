import type { ArchivedRow, ArchivedTable } from "../../insight/archive.ts";
import { statement } from "../statement.ts";
import { pastJobs, pastRuns, retentionOfJobs, retentionOfRuns } from "../../machine/retention.ts";
import { withoutOccurrences } from "./prune.ts";

export interface ArchiveRow extends Omit<ArchivedRow, "table"> {
  readonly of: ArchivedTable;
  /** Which version of which row this is, for the statement that deletes it. */
  readonly place: string;
  readonly version: string;
}

/** Times as JSON are written in UTC, so that the same row is the same line. For one transaction. Locks nothing. */
export const readInUtc = statement<never>("archive-utc")("select set_config('TimeZone', 'UTC', true)");

export const own = (row: string, ...ids: readonly string[]): string =>
  `to_jsonb(${row}) || jsonb_build_object(${ids.map((id) => `'${id}', ${row}.${id}::text`).join(", ")})`;

/** An hour more on both sides: the clock of a database may step back. */
const jobLine = `(${own("j", "id", "run_id", "event_id")} || jsonb_build_object(
    'after', (select jsonb_agg(e.from_id::text order by e.from_id) from belfry.edge e where e.to_id = j.id),
    'history', (
      select jsonb_agg(to_jsonb(h) - 'job_id' || jsonb_build_object('id', h.id::text) order by h.id) from belfry.history h
      where h.job_id = j.id and h.at between j.created_at - interval '1 hour' and j.finished_at + interval '1 hour')))::text`;

/**
 * The day whose rows go next: with half an object's rows, or with one that has waited long enough. `past` has `day` and
 * `past_at` of each row.
 */
const nextDay = (rows: string): string =>
  `select day from past group by day
  having count(*) * 2 >= ${rows} or min(past_at) < belfry.now() - belfry.span($3::float8) order by min(past_at) limit 1`;

const utcDay = (at: string): string => `(${at} at time zone 'UTC')::date`;

/** Of `lines`, in the order of `n`, as many as fit. */
export const fitting =
  "(select *, sum(octet_length(line)) over (order by n) - octet_length(line) as before from lines) sized where before < $2";

/**
 * Finished single jobs past their retention, of one day, with their history; found as `prune-jobs` finds them. $1 rows and $2 bytes
 * at most $3 how long fewer than half as many rows wait, in ms. Locks nothing.
 */
export const archiveJobs = statement<ArchiveRow>("archive-jobs")(`
with recursive retention as (${retentionOfJobs}), past as materialized (
  select p.id, ${utcDay("p.finished_at")} as day, p.finished_at + belfry.span(r.retention_ms) as past_at
  from retention r cross join lateral (${pastJobs}) p limit $1
), lines as materialized (
  select j.id as n, j.xmin::text as version, j.kind, belfry.ms(j.finished_at) as at, ${jobLine} as line
  from past p join belfry.job j on j.id = p.id where p.day = (${nextDay("$1")})
)
select 'job' as of, n::text as number, n::text as place, version, kind, at, line from ${fitting} order by n`);

/**
 * Deletes exactly the jobs $1 in the versions $2 that were read, if they still are past. Locks: the jobs, in id order, SKIP LOCKED.
 */
export const leaveJobs = statement<{ gone: number }>("leave-jobs")(`
with mine as materialized (
  select j.id from unnest($1::bigint[], $2::text[]) as w (id, version) join belfry.job j on j.id = w.id
  where j.xmin::text = w.version and j.finished_at is not null and j.run_id is null
    and not exists (select from belfry.run o where o.starter_id = j.id and o.finished_at is null)
  order by j.id for update of j skip locked
), gone as (
  delete from belfry.job j using mine where j.id = mine.id returning j.id
)
select count(*)::int as gone from gone`);

/**
 * Jobs of runs that have ended and outlived their retention, and the runs of which none is left then; of one day by the end of
 * their run. $1 jobs and $2 bytes and $4 runs at most $3 how long fewer than half as many runs wait, in ms. Locks nothing.
 */
export const archiveRuns = statement<ArchiveRow>("archive-runs")(`
with recursive retention as (${retentionOfRuns}), past as materialized (
  select p.id, p.finished_at, ${utcDay("p.finished_at")} as day, p.finished_at + belfry.span(x.retention_ms) as past_at
  from retention x cross join lateral (${pastRuns("$4")}) p limit $4
), mine as materialized (
  select id, finished_at from past where day = (${nextDay("$4")})
), lines as materialized (
  select j.id as n, j.xmin::text as version, j.kind, belfry.ms(m.finished_at) as at, ${jobLine} as line
  from mine m cross join lateral (select id from belfry.job where run_id = m.id limit $1) i join belfry.job j on j.id = i.id limit $1
), fit as materialized (
  select * from ${fitting}
)
select 'job' as of, n::text as number, n::text as place, version, kind, at, line from fit
union all
select 'run', r.id::text, r.id::text, r.xmin::text, r.kind, belfry.ms(r.finished_at), (${own("r", "id", "starter_id", "parent_id")})::text
from mine m join belfry.run r on r.id = m.id
where (select count(*) from belfry.job j where j.run_id = r.id)
  = (select count(*) from belfry.job j where j.run_id = r.id and j.id = any(array(select n from fit)))`);

/**
 * Deletes exactly the jobs $1 in the versions $2 with their edges, and the runs $3 in the versions $4, if they have no other job.
 * Locks: the runs of these jobs, in id order, SKIP LOCKED; then the jobs.
 */
export const leaveRuns = statement<{ gone: number }>("leave-runs")(`
with named as materialized (
  select run_id as id from belfry.job where id = any($1::bigint[]) union select unnest($3::bigint[])
), runs as materialized (
  select r.id, r.xmin::text as version from belfry.run r where r.id = any(array(select id from named)) and r.finished_at is not null
  order by r.id for update skip locked
), mine as materialized (
  select j.id from unnest($1::bigint[], $2::text[]) as w (id, version) join belfry.job j on j.id = w.id
  where j.xmin::text = w.version and j.run_id = any(array(select id from runs)) for update of j skip locked
), untied as (
  delete from belfry.edge where to_id = any(array(select id from mine))
), gone as (
  delete from belfry.job where id = any(array(select id from mine)) returning id
), closed as (
  delete from belfry.run r using unnest($3::bigint[], $4::text[]) as w (id, version), runs
  where r.id = w.id and runs.id = w.id and runs.version = w.version
    and not exists (select from belfry.job j where j.run_id = r.id and j.id <> all(array(select id from mine)))
  returning r.id
)
select ((select count(*) from gone) + (select count(*) from closed))::int as gone`);

/**
 * Occurrences that `prune-occurrences` would delete, of one day by their decision. $1 rows and $2 bytes at most $3 how long fewer
 * than half as many rows wait, in ms $4 retention in ms. Locks nothing.
 */
export const archiveOccurrences = statement<ArchiveRow>("archive-occurrences")(`
with past as materialized (
  select o as o, o.ctid::text as place, o.xmin::text as version, ${utcDay("o.decided_at")} as day,
    greatest(o.decided_at, o.nominal_at) + belfry.span($4::float8) as past_at
  from belfry.occurrence o
  where o.decided_at < belfry.now() - belfry.span($4::float8) and o.nominal_at < belfry.now() - belfry.span($4::float8)
    and not exists (select from belfry.job j where j.id = o.job_id and j.finished_at is null)
  order by o.decided_at limit $1
), lines as materialized (
  select belfry.ms((o).nominal_at)::bigint as number, place, version, belfry.ms((o).decided_at) as at, (${own("(o)", "job_id")})::text as line,
    row_number() over (order by (o).nominal_at, (o).schedule_id, (o).local_time, (o).fold, (o).timezone) as n
  from past where day = (${nextDay("$1")})
)
select 'occurrence' as of, number::text, place, version, null as kind, at, line from ${fitting} order by n`);

/**
 * Deletes exactly the occurrences at the places $1 in the versions $2, as `prune-occurrences` does. Locks: the schedules in id order,
 * SKIP LOCKED; then the rows.
 */
export const leaveOccurrences = statement<{ gone: number }>("leave-occurrences")(`
with past as materialized (
  select o.schedule_id, o.local_time, o.fold, o.timezone, o.nominal_at
  from unnest($1::text[], $2::text[]) as w (place, version) join belfry.occurrence o on o.ctid = w.place::tid
  where o.xmin::text = w.version and o.decided_at is not null
${withoutOccurrences}select count(*)::int as gone from gone`);

/** The audit's rows past their retention, of one day. $1 rows and $2 bytes at most $3 how long fewer than half as many wait, in ms. Locks nothing. */
export const archiveAudit = statement<ArchiveRow>("archive-audit")(`
with oldest as (
  select id, at from belfry.audit order by id limit $1
), past as materialized (
  select id, ${utcDay("at")} as day, at + belfry.audit_retention() as past_at from oldest
  where at < belfry.now() - belfry.audit_retention()
), lines as materialized (
  select a.id as n, a.xmin::text as version, belfry.ms(a.at) as at, (${own("a", "id")})::text as line
  from past p join belfry.audit a on a.id = p.id where p.day = (${nextDay("$1")})
)
select 'audit' as of, n::text as number, n::text as place, version, null as kind, at, line from ${fitting} order by n`);

/** The rows $1 of the audit, which nothing changes, if the retention of each is over. Locks: the rows it deletes. */
export const leaveAudit = statement<{ gone: number }>("leave-audit")("select belfry.prune_audit($1::bigint[]) as gone");
