import { z } from "zod";
import type { JobId } from "../machine/job.ts";
import { insightLimits } from "./insight-limits.ts";
import { boundedCount, count, idText, maybeTime, time } from "./atoms.ts";
import { keepRequest, type KeyedRequest } from "./request-key.ts";
import { jobSearch, type JobSearch } from "./search.ts";
import { type Database, isoText, sqlQuery } from "./sql-query.ts";

/** What a request may do with every job that matches. */
export const jobActions = ["retry", "cancel"] as const;
export type JobAction = (typeof jobActions)[number];
/** `backfill` plans past times of the schedule that its search names, from `dueFrom` to `dueTo`, both included. */
export const bulkActions = [...jobActions, "backfill"] as const;
export type BulkAction = (typeof bulkActions)[number];

/** A change of all jobs that match and existed at the request. Done in pages; another process resumes it after a crash. */
export const bulkShape = {
  id: idText,
  action: z.enum(bulkActions),
  caller: z.string(),
  state: z.enum(["RUNNING", "DONE", "STOPPED"]),
  /** At the request. */
  matched: boundedCount,
  paceMs: z.number().min(0),
  canary: z
    .object({ state: z.enum(["wanted", "out", "passed", "failed"]), jobs: z.array(idText) })
    .nullable()
    .describe("One job of each group goes first, alone; unless all of them succeed, the rest stays as it is."),
  changed: count.describe("That matched."),
  takenAlong: count.describe("Did not match, and run again because a job of their run does."),
  refused: count.describe("Matched, but had moved before their turn."),
  createdAt: time,
  updatedAt: time,
  finishedAt: maybeTime,
};

const row = z.object({
  ...bulkShape,
  search: jobSearch,
  /** Jobs below this id are not done yet. */
  next: idText,
  /** Of the next retried job, in milliseconds since 1970. */
  dueAt: z.number(),
});
export type Bulk = Readonly<z.infer<typeof row>>;

const members = `id, action, caller, state, jsonb_build_object('count', matched, 'isMore', is_more) as matched, pace_ms as "paceMs",
  case when canary <> 'none' then jsonb_build_object('state', canary, 'jobs', canaries::text[]) end as canary,
  changed, taken_along as "takenAlong", refused, ${isoText("created_at")} as "createdAt", ${isoText("updated_at")} as "updatedAt",
  ${isoText("finished_at")} as "finishedAt", filter as search, next, belfry.ms(due_at) as "dueAt"`;

export interface NewBulk {
  readonly action: BulkAction;
  readonly search: JobSearch;
  readonly caller: string;
  readonly matched: Bulk["matched"];
  readonly paceMs: number;
  readonly canary: boolean;
}

/** A step of its owner; no row: it was stopped or has another owner. */
interface Step {
  readonly id: string;
  readonly owner: string;
  readonly changed: number;
  readonly refused: number;
}

const id = z.object({ id: idText });

/** Jobs that are inserted later are not changed. $1 action $2 filter $3 caller $4 matched $5 more $6 pace $7 with a canary. Locks the new row. */
export const createBulk = sqlQuery("bulk-create", {
  params: ({ search, matched: { count: jobs, isMore }, ...of }: NewBulk) => [
    of.action,
    JSON.stringify(search),
    of.caller,
    jobs,
    isMore,
    of.paceMs,
    of.canary,
  ],
  row,
})(`
insert into belfry.bulk (action, filter, caller, state, newest, next, matched, is_more, pace_ms, canary, due_at, created_at, updated_at)
select $1, $2::jsonb, $3, 'RUNNING', n.id, n.id, $4, $5, $6, case when $7::boolean then 'wanted' else 'none' end, belfry.now(), belfry.now(), belfry.now()
from (select coalesce((select id from belfry.job order by id desc limit 1), 0) + 1 as id) n
returning ${members}`);

/** Newest first. $1 id or null $2 before this id or null $3 limit. Locks nothing. */
export const readBulks = sqlQuery("bulks", {
  params: (of: { id?: string; before?: string | undefined; limit: number }) => [
    of.id ?? null,
    of.before ?? null,
    of.limit,
  ],
  row,
})(`
select ${members} from belfry.bulk
where ($1::bigint is null or id = $1::bigint) and ($2::bigint is null or id < $2::bigint) order by id desc limit $3`);

/** Of each whose canaries have all ended: goes on if all succeeded, else stops. Locks those rows, SKIP LOCKED. */
export const judgeCanaries = sqlQuery("bulk-judge", { row: id })(`
with ended as materialized (
  select b.id, not exists (
    select from unnest(b.canaries) c left join belfry.job j on j.id = c where j.state is distinct from 'SUCCESS'
  ) as passed
  from belfry.bulk b
  where b.state = 'RUNNING' and b.canary = 'out'
    and not exists (select from belfry.job j where j.id = any(b.canaries) and j.finished_at is null)
  for no key update of b skip locked
)
update belfry.bulk b set canary = case when passed then 'passed' else 'failed' end, state = case when passed then b.state else 'STOPPED' end,
  due_at = belfry.now(), updated_at = belfry.now(), finished_at = case when not passed then belfry.now() end
from ended e where b.id = e.id
returning b.id`);

/** These jobs go first and alone. $1 id $2 owner $3 ids $4 changed $5 taken along. Locks that row. */
export const sendCanaries = sqlQuery("bulk-canaries", {
  params: (
    of: Omit<Step, "changed" | "refused"> & { readonly jobs: readonly JobId[]; readonly takenAlong: number },
  ) => [of.id, of.owner, of.jobs, of.jobs.length, of.takenAlong],
  row: id,
})(`
update belfry.bulk set canary = 'out', canaries = $3::bigint[], owner = null, changed = changed + $4::int,
  taken_along = taken_along + $5::int, updated_at = belfry.now()
where id = $1::bigint and owner = $2 and state = 'RUNNING'
returning id`);

/** Gives the oldest one that may go on within $3 ms to owner $1 alone for $2 ms. Locks that row, SKIP LOCKED. */
export const takeBulk = sqlQuery("bulk-take", {
  params: (owner: string) => [owner, insightLimits.bulkLeaseMs, insightLimits.bulkAheadMs],
  row,
})(`
update belfry.bulk set owner = $1, updated_at = belfry.now()
where id = (
  select id from belfry.bulk
  where state = 'RUNNING' and canary <> 'out' and (pace_ms = 0 or due_at <= belfry.now() + belfry.span($3::float8))
    and (owner is null or owner = $1 or updated_at < belfry.now() - belfry.span($2::float8))
  order by id limit 1
  for no key update skip locked
)
returning ${members}`);

/** One page is done. $1 id $2 owner $3 next $4 changed $5 taken along $6 refused $7 is it the last. Locks that row. */
export const advanceBulk = sqlQuery("bulk-advance", {
  params: (of: Step & { readonly next: string | null; readonly takenAlong: number }) => [
    of.id,
    of.owner,
    of.next ?? "0",
    of.changed,
    of.takenAlong,
    of.refused,
    of.next === null,
  ],
  row: id,
})(`
update belfry.bulk set next = $3::bigint, changed = changed + $4::int, taken_along = taken_along + $5::int,
  refused = refused + $6::int, updated_at = belfry.now(), due_at = greatest(due_at, belfry.now()) + $4::int * belfry.span(pace_ms), state = case when $7::boolean then 'DONE' else state end,
  finished_at = case when $7::boolean then belfry.now() end
where id = $1::bigint and owner = $2 and state = 'RUNNING'
returning id`);

/** Some times of a backfill are done. $1 id $2 owner $3 changed $4 refused $5 was it the last. Locks that row. */
export const advanceBackfill = sqlQuery("bulk-backfill", {
  params: (of: Step & { readonly isLast: boolean }) => [of.id, of.owner, of.changed, of.refused, of.isLast],
  row: id,
})(`
update belfry.bulk set changed = changed + $3::int, refused = refused + $4::int, updated_at = belfry.now(),
  state = case when $5::boolean then 'DONE' else state end, finished_at = case when $5::boolean then belfry.now() end
where id = $1::bigint and owner = $2 and state = 'RUNNING'
returning id`);

/** Locks that row. */
export const stopBulk = sqlQuery("bulk-stop", {
  params: (of: string) => [of],
  row: id,
})(`
update belfry.bulk set state = 'STOPPED', finished_at = belfry.now(), updated_at = belfry.now()
where id = $1::bigint and state = 'RUNNING'
returning id`);

/** The oldest that may go on, for `insightLimits.bulkLeaseMs`: one that waits for its canaries or its due time is left out. */
export async function nextBulk(insight: Database, owner: string): Promise<Bulk | null> {
  await insight.run(judgeCanaries, {});
  return (await insight.run(takeBulk, owner))[0] ?? null;
}

/** With the request that asked for it, in one transaction. @throws RequestKeyTaken */
export async function beginBulk(insight: Database, bulk: NewBulk, request?: KeyedRequest): Promise<Bulk> {
  const make = async (database: Database): Promise<Bulk> => {
    const [made] = await database.run(createBulk, bulk);
    if (made === undefined) throw new Error("the change of many jobs was not written");
    if (request !== undefined) await keepRequest(database, request, made.id);
    return made;
  };
  return await (request === undefined ? make(insight) : insight.transaction(make));
}
