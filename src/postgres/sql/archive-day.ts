import { dayMs } from "../../machine/units.ts";
import { statement } from "../statement.ts";
import { type ArchiveRow, fitting, own } from "./archive.ts";

const event = {
  line: `(${own("e", "id", "xid")} || jsonb_build_object('job_ids', e.job_ids::text[]))::text`,
  row: "e.id::text as number, null::text as kind, belfry.ms(e.at) as at",
};
/** A job that has left took its own history along; its kind is then unknown. Each job is looked up: a join by merge reads all before it. */
const history = {
  line: `(${own("h", "id", "job_id")})::text`,
  row: "h.job_id::text as number, (select j.kind from belfry.job j where j.id = h.job_id) as kind, belfry.ms(h.at) as at",
};

/** Instants and no names of days: those the planner folds, so that it plans for the one partition instead of for all of them. */
const inDay = (at: string): string => `${at} >= belfry.at($3::float8) and ${at} < belfry.at($3::float8 + ${dayMs})`;

const page = (table: string, lines: string): string =>
  `with lines as materialized (${lines}) select '${table}' as of, number, place, version, kind, at, line from ${fitting} order by n`;

/** The next events of a day that is past its retention, behind the id $4. $1 rows and $2 bytes at most $3 the day's begin. Locks nothing. */
export const archiveEvents = statement<ArchiveRow>("archive-events")(
  page(
    "event",
    `select e.id as n, e.id::text as place, '' as version, ${event.row}, ${event.line} as line from belfry.event e
     where ${inDay("e.at")} and e.id > $4::bigint order by e.id limit $1`,
  ),
);

/** The same of histories, behind the job $4 and the id $5 in it. */
export const archiveHistories = statement<ArchiveRow>("archive-histories")(
  page(
    "history",
    `select (h.job_id, h.id) as n, h.job_id || '/' || h.id as place, '' as version, ${history.row}, ${history.line} as line
     from belfry.history h
     where ${inDay("h.at")} and (h.job_id, h.id) > ($4::bigint, $5::bigint) order by h.job_id, h.id limit $1`,
  ),
);

/** Of the oldest $1 events that had no partition, those past the retention $3 in ms; $2 bytes at most. Locks nothing. */
export const archiveRestOfEvents = statement<ArchiveRow>("archive-rest-of-events")(
  page(
    "event",
    `select e.id as n, e.ctid::text as place, e.xmin::text as version, ${event.row}, ${event.line} as line from belfry.event_rest e
     where e.ctid = any(array(select ctid from belfry.event_rest order by id limit $1)) and e.at < belfry.now() - belfry.span($3::float8)`,
  ),
);

/** The same of histories. */
export const archiveRestOfHistories = statement<ArchiveRow>("archive-rest-of-histories")(
  page(
    "history",
    `select (h.job_id, h.id) as n, h.ctid::text as place, h.xmin::text as version, ${history.row}, ${history.line} as line
     from belfry.history_rest h
     where h.ctid = any(array(select ctid from belfry.history_rest order by job_id, id limit $1)) and h.at < belfry.now() - belfry.span($3::float8)`,
  ),
);

const leaveRest = (name: string, table: string) =>
  statement<{ gone: number }>(name)(`
with gone as (
  delete from ${table} r using unnest($1::text[], $2::text[]) as w (place, version)
  where r.ctid = w.place::tid and r.xmin::text = w.version returning 1
)
select count(*)::int as gone from gone`);

/** Deletes exactly the rows at the places $1 in the versions $2. Locks: the rows it deletes, which nothing else writes. */
export const leaveRestOfEvents = leaveRest("leave-rest-of-events", "belfry.event_rest");
export const leaveRestOfHistories = leaveRest("leave-rest-of-histories", "belfry.history_rest");

/** What was written of the day of the part $1 that is dropped next. Locks nothing. */
export const archiveBehind = statement<{ behind: string }>("archive-behind")(
  "select behind from belfry.archive where part = $1",
);

/** Moves it from $2 to $3; no row when another process did. Locks: the row. */
export const archiveForward = statement<{ part: string }>("archive-forward")(`
insert into belfry.archive as a (part, behind) values ($1, $3)
on conflict (part) do update set behind = $3 where a.behind = $2
returning part`);

/** Counts $2 objects with $3 rows and $4 bytes that end at $5 to the part $1, which no longer fails. Locks: the row. */
export const archiveCount = statement<never>("archive-count")(`
insert into belfry.archive as a (part, objects, rows, bytes, until_at) values ($1, $2, $3, $4, belfry.at($5::float8))
on conflict (part) do update set objects = a.objects + $2, rows = a.rows + $3, bytes = a.bytes + $4,
  until_at = greatest(a.until_at, excluded.until_at), failing_since = null, failure = null`);

/** Notes that the part $1 could not be written, by $2. Locks: the row. */
export const archiveFailed = statement<never>("archive-failed")(`
insert into belfry.archive as a (part, failing_since, failure) values ($1, belfry.now(), $2)
on conflict (part) do update set failing_since = coalesce(a.failing_since, excluded.failing_since), failure = $2`);
