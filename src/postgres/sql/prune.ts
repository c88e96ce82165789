import { isWaiting } from "../../admission/order.ts";
import { pastJobs, pastRuns, retentionOfJobs, retentionOfRuns } from "../../machine/retention.ts";
import { statement } from "../statement.ts";

/**
 * Finished single jobs past their retention: one index range for each distinct retention, found by hopping through the
 * index, so that long retentions never stand in front of short ones. The starter of an open run stays. Locks: the jobs it deletes, SKIP LOCKED. $1 limit.
 */
export const pruneJobs = statement<{ id: string }>("prune-jobs")(`
with recursive retention as (${retentionOfJobs}), past as materialized (
  select p.id from retention r cross join lateral (${pastJobs}
    for update of j skip locked
  ) p
  limit $1
)
delete from belfry.job j using past where j.id = past.id
returning j.id`);

/** Deletes the occurrences of `past`, and what only they needed. */
export const withoutOccurrences = `), ids as materialized (
  select distinct schedule_id as id from past
), locked as materialized (
  select id from belfry.schedule where id = any(array(select id from ids)) order by id for no key update skip locked
), busy as materialized (
  select s.id from belfry.schedule s where s.id = any(array(select id from ids)) and s.id not in (select id from locked)
), gone as (
  delete from belfry.occurrence o using past p
  where o.schedule_id = p.schedule_id and o.local_time = p.local_time and o.fold = p.fold and o.timezone = p.timezone
    and o.outcome <> 'PLANNED' and p.schedule_id not in (select id from busy)
  returning o.schedule_id, o.nominal_at
), begun as (
  update belfry.schedule s set ledger_from = greatest(s.ledger_from, g.last_at + interval '1 millisecond')
  from (select schedule_id, max(nominal_at) as last_at from gone group by schedule_id) g
  where s.id = g.schedule_id
  returning s.id, s.ledger_from
), replaced as (
  delete from belfry.schedule_version v using begun b
  where v.schedule_id = b.id and exists (
    select from belfry.schedule_version n
    where n.schedule_id = v.schedule_id and n.version = v.version + 1 and n.from_at <= b.ledger_from
  )
)
`;

/**
 * Occurrences whose time and decision lie before the history's retention, never one that is PLANNED or whose job is not
 * finished, and the versions of their schedule that held before all that is left. The ledger then begins after them, so that a backfill knows where the record begins.
 * $1 retention in ms $2 limit. Locks: the schedules in id order, SKIP LOCKED, as a tick and a backfill do first; then the rows.
 */
export const pruneOccurrences = statement<{ pruned: number }>("prune-occurrences")(`
with past as materialized (
  select o.schedule_id, o.local_time, o.fold, o.timezone, o.nominal_at from belfry.occurrence o
  where o.decided_at < belfry.now() - belfry.span($1::float8) and o.nominal_at < belfry.now() - belfry.span($1::float8)
    and not exists (select from belfry.job j where j.id = o.job_id and j.finished_at is null)
  order by o.decided_at limit $2
${withoutOccurrences}select count(*)::int as pruned from gone`);

/** Unreadable bodies past their retention. $1 retention in ms $2 limit. Locks: the rows it deletes, SKIP LOCKED. */
export const pruneQuarantine = statement<{ id: string }>("prune-quarantine")(`
with past as materialized (
  select id from belfry.quarantine where at < belfry.now() - belfry.span($1::float8)
  order by at limit $2 for update skip locked
)
delete from belfry.quarantine q using past where q.id = past.id
returning q.id`);

/**
 * Workers that were not seen and bulk actions that ended longer ago than $1 in ms, and requests' keys older than $3 in ms or
 * before the newest $4; $2 of each at most. Locks: the rows it deletes, SKIP LOCKED.
 */
export const prunePast = statement<never>("prune-past")(`
with workers as (
  delete from belfry.worker where id in (
    select id from belfry.worker where seen_at < belfry.now() - belfry.span($1::float8)
    order by seen_at limit $2 for update skip locked
  )
), keys as (
  delete from belfry.request_key where key in (
    select key from belfry.request_key
    where created_at < belfry.now() - belfry.span($3::float8)
      or created_at <= (select created_at from belfry.request_key order by created_at desc offset $4 limit 1)
    order by created_at limit $2 for update skip locked
  )
)
delete from belfry.bulk where id in (
  select id from belfry.bulk where finished_at < belfry.now() - belfry.span($1::float8)
  order by finished_at limit $2 for update skip locked
)`);

/** What is past the audit's retention, of its $1 oldest rows. Locks: the rows it deletes. */
export const pruneAudit = statement<{ pruned: number }>("prune-audit")(
  "select belfry.prune_audit(array(select id from belfry.audit order by id limit $1)) as pruned",
);

/**
 * Counts by the minute past $1 ms, by the hour past $2 ms and what days used past $4 ms, $3 of each. Locks: the rows it deletes, SKIP
 * LOCKED: the roll-up writes those of today.
 */
export const pruneCounts = statement<never>("prune-counts")(`
with minutes as (
  delete from belfry.minute where (at, kind, lane) in (
    select at, kind, lane from belfry.minute where at < belfry.now() - belfry.span($1::float8)
    order by at, kind, lane limit $3 for update skip locked
  )
), usage as (
  delete from belfry.usage where (day, kind, lane, schedule_id, key) in (
    select day, kind, lane, schedule_id, key from belfry.usage where day < ((belfry.now() - belfry.span($4::float8)) at time zone 'UTC')::date
    order by day, kind, lane, schedule_id, key limit $3 for update skip locked
  )
)
delete from belfry.hour where (at, kind, lane, bucket) in (
  select at, kind, lane, bucket from belfry.hour where at < belfry.now() - belfry.span($2::float8)
  order by at, kind, lane, bucket limit $3 for update skip locked
)`);

/**
 * Events and history of days that had no partition, because nothing had made one when they came: the default partitions are
 * never dropped. Of their $2 oldest those past the retention $1 in ms. Locks: the rows it deletes, which nothing else writes.
 */
export const pruneRest = statement<never>("prune-rest")(`
with events as (
  delete from belfry.event_rest
  where ctid = any(array(
    select ctid from (select ctid, at from belfry.event_rest order by xid, id limit $2) oldest
    where at < belfry.now() - belfry.span($1::float8)
  ))
)
delete from belfry.history_rest
where ctid = any(array(
  select ctid from (select ctid, at from belfry.history_rest order by job_id, id limit $2) oldest
  where at < belfry.now() - belfry.span($1::float8)
))`);

/**
 * Which partitions a day calls for: those that are missing from today's next day on, and those whose last moment is past the
 * retention. $1 days ahead $2 retention in ms. Locks nothing.
 */
export const partitionWork = statement<{ parent: string; day: string; action: "make" | "drop" }>("partition-work")(`
with parents as (
  select unnest(array['event', 'history']) as parent
), known as (
  select p.relname::text as parent, right(c.relname, 8) as day
  from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
  where i.inhparent = any(array['belfry.event', 'belfry.history']::regclass[]) and c.relname ~ '_[0-9]{8}$'
), wanted as (
  select parent, to_char(belfry.now() at time zone 'UTC' + n * interval '1 day', 'YYYYMMDD') as day
  from parents cross join generate_series(0, $1::int) as n
)
select parent, day, 'make' as action from wanted w
where not exists (select from known k where k.parent = w.parent and k.day = w.day)
union all
select parent, day, 'drop' from known
where day < to_char((belfry.now() - belfry.span($2::float8)) at time zone 'UTC', 'YYYYMMDD')
order by 1, 2`);

/** Makes one partition; false when rows of that day lie in the default partition already. */
export const makePartition = statement<{ made: boolean }>("partition-make")(
  "select belfry.make_partition($1, $2) as made",
);

export const dropPartition = statement<never>("partition-drop")("select belfry.drop_partition($1, $2)");

/**
 * Forgets keys of caps and rates that nothing uses and no job waits for: their slots go, and a later claim makes them again. A key that is used is
 * left, also when only one of its slots is. Asked key by key: an anti-join would read all held jobs. $1 milliseconds since they were made $2 keys at most. Locks: all slots of these keys, in
 * order, SKIP LOCKED; a key of which one is locked is left whole.
 */
export const forgetKeys = statement<never>("slots-forget")(`
with unused as materialized (
  select o.key from belfry.slot o
  where o.made_at < belfry.now() - belfry.span($1::float8)
    and (select s.n from belfry.slot s where s.key = o.key and (s.job_id is not null or s.free_from > belfry.now()) limit 1) is null
    and (select j.id from belfry.job j where j.held_on = o.key and ${isWaiting} limit 1) is null
  order by o.made_at limit $2
), locked as materialized (
  select s.key, s.n from belfry.slot s join unused u on u.key = s.key where s.job_id is null and coalesce(s.free_from <= belfry.now(), true)
  order by s.key, s.n
  for update of s skip locked
), whole as materialized (
  select key from locked l group by key having count(*) = (select count(*) from belfry.slot s where s.key = l.key)
)
delete from belfry.slot s using whole w where s.key = w.key`);

/**
 * Jobs and edges of runs that have ended and outlived their retention, $1 jobs and $2 runs at most, and the runs that have none left.
 * Retentions are hopped through as by `prune-jobs`: it reads only what it
 * deletes. A run that is open keeps everything, however old its jobs are. Locks: the runs, SKIP LOCKED; then their jobs.
 */
export const pruneRuns = statement<{ jobs: number }>("prune-runs")(`
with recursive retention as (${retentionOfRuns}), past as materialized (
  select p.id from retention x cross join lateral (${pastRuns("$2")}
    for update skip locked
  ) p
  limit $2
), mine as materialized (
  select id, run_id from belfry.job where run_id = any(array(select id from past)) limit $1
), untied as (
  delete from belfry.edge where to_id = any(array(select id from mine))
), gone as (
  delete from belfry.job where id = any(array(select id from mine)) returning id
), closed as (
  delete from belfry.run r
  where r.id = any(array(select id from past))
    and (select count(*) from belfry.job j where j.run_id = r.id) = (select count(*) from mine m where m.run_id = r.id)
)
select count(*)::int as jobs from gone`);
