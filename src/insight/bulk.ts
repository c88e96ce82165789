import { z } from "zod";
import type { JobId } from "../machine/job.ts";
import type { Redrive } from "../machine/waiting.ts";
import { insightLimits } from "./insight-limits.ts";
import { boundedCount, count, idText, jobId, maybeTime, time } from "./atoms.ts";
import { keepRequest, type KeyedRequest } from "./request-key.ts";
import { jobSearch, type JobSearch } from "./search.ts";
import { type Database, isoText, oneRow, sqlQuery } from "./sql-query.ts";

/** What a request may do with every job that matches. */
export const jobActions = ["retry", "cancel"] as const;
export type JobAction = (typeof jobActions)[number];
/** `backfill` plans past times of the schedule that its search names, from `dueFrom` to `dueTo`, both included. */
export const bulkActions = [...jobActions, "backfill"] as const;
export type BulkAction = (typeof bulkActions)[number];

/** Of a change that does not do all at once. */
export const steps = z.object({
  sizes: z.array(count).describe("Jobs of each group, before all the rest."),
  step: count.describe("The one that counts now, from 1."),
  state: z.enum(["wanted", "out", "passed", "failed"]),
  jobs: z.array(jobId).describe("Of that step."),
  failed: count.describe("Of the step that stopped it."),
  code: z.string().nullable().describe("The error code of most of those."),
});

/** A change of all jobs that match and existed at the request. Done in pages; another process resumes it after a crash. */
export const bulkShape = {
  id: idText,
  action: z.enum(bulkActions),
  caller: z.string(),
  state: z.enum(["RUNNING", "DONE", "STOPPED"]),
  /** At the request. */
  matched: boundedCount,
  paceMs: z.number().min(0),
  steps: steps
    .nullable()
    .describe(
      "A few jobs of each group go first, then more, then the rest: after a step of which more than 10 % fail, the rest stays as it is.",
    ),
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

/** "stopped after 1: failed again with HTTP_401", and of several how many of them. Null: it did not stop itself. */
export function stopText({
  changed,
  steps,
}: Pick<Redrive, "changed"> & { readonly steps: Redrive["steps"] | null }): string | null {
  if (steps?.state !== "failed") return null;
  const share = steps.jobs.length === 1 ? "" : `${steps.failed} of ${steps.jobs.length} `;
  return `stopped after ${changed}: ${share}failed again with ${steps.code}`;
}

export const stepsValue = `jsonb_build_object('sizes', steps, 'step', step, 'state', canary, 'jobs', canaries::text[], 'failed', failed,
    'code', failed_code)`;

const members = `id, action, caller, state, jsonb_build_object('count', matched, 'isMore', is_more) as matched, pace_ms as "paceMs",
  case when canary <> 'none' then ${stepsValue} end as steps,
  changed, taken_along as "takenAlong", refused, ${isoText("created_at")} as "createdAt", ${isoText("updated_at")} as "updatedAt",
  ${isoText("finished_at")} as "finishedAt", filter as search, next, belfry.ms(due_at) as "dueAt"`;

export interface NewBulk {
  readonly action: BulkAction;
  readonly search: JobSearch;
  readonly caller: string;
  readonly matched: Bulk["matched"];
  readonly paceMs: number;
  /** How many jobs of each group go before the rest; none: all go at once. */
  readonly steps: readonly number[];
}

interface Owned {
  readonly id: string;
  readonly owner: string;
}

/** A step of its owner; no row: it was stopped or has another owner. */
interface Step extends Owned {
  readonly changed: number;
  readonly refused: number;
}

const id = z.object({ id: idText });

/** Jobs that are inserted later are not changed. $1 action $2 filter $3 caller $4 matched $5 more $6 pace $7 steps. Locks the new row. */
export const createBulk = sqlQuery("bulk-create", {
  params: ({ search, matched: { count: jobs, isMore }, ...of }: NewBulk) => [
    of.action,
    JSON.stringify(search),
    of.caller,
    jobs,
    isMore,
    of.paceMs,
    of.steps,
  ],
  row,
})(`
insert into belfry.bulk (action, filter, caller, state, newest, next, matched, is_more, pace_ms, steps, canary, due_at, created_at, updated_at)
select $1, $2::jsonb, $3, 'RUNNING', n.id, n.id, $4, $5, $6, $7::int[], case when cardinality($7::int[]) > 0 then 'wanted' else 'none' end, belfry.now(), belfry.now(), belfry.now()
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

/**
 * Of each whose step is out: when more than 10 % of it have failed, or of the jobs of one group, it stops, else the next step may go once all have ended. A retried job has no
 * failure yet: one that fails as its group did, or ends without success, has failed again. Locks those rows, SKIP LOCKED.
 */
export const judgeSteps = sqlQuery("bulk-judge", { row: id })(`
with judged as materialized (
  select b.id, o.failed, o.code, s.stops, b.step < cardinality(b.steps) as more
  from belfry.bulk b cross join lateral (
    select coalesce(sum(g.open), 0) as open, coalesce(sum(g.failed), 0)::int as failed, coalesce(max(g.failed), 0) as most,
      (array_agg(g.code order by g.failed desc, g.code))[1] as code
    from (
      select count(*) filter (where j.finished_at is null) as open, count(*) filter (where f.again) as failed,
        mode() within group (order by coalesce(j.error_code, j.state::text)) filter (where f.again) as code
      from unnest(b.canaries) c join belfry.job j on j.id = c
      cross join lateral (select belfry.fingerprint(j.kind, j.error_code, j.error_message) as print) p
      cross join lateral (
        select case when j.finished_at is null then j.failures > 0 and p.print = any(b.groups) else j.state <> 'SUCCESS' end as again
      ) f
      group by p.print
    ) g
  ) o
  cross join lateral (select o.failed * 10 > cardinality(b.canaries) or o.most * 10 > b.steps[b.step] as stops) s
  where b.state = 'RUNNING' and b.canary = 'out' and (o.open = 0 or s.stops)
  for no key update of b skip locked
)
update belfry.bulk b set canary = case when stops then 'failed' when more then 'wanted' else 'passed' end, step = b.step + (more and not stops)::int,
  canaries = case when more and not stops then '{}' else b.canaries end, state = case when stops then 'STOPPED' else b.state end,
  failed = case when stops then e.failed else 0 end, failed_code = case when stops then e.code end,
  due_at = belfry.now(), updated_at = belfry.now(), finished_at = case when stops then belfry.now() end
from judged e where b.id = e.id
returning b.id`);

/**
 * The step's jobs, before they are retried: a process that is killed leaves its choice. $1 id $2 owner $3 ids, of which $4 of each group are
 * taken. Locks that row.
 */
export const chooseStep = sqlQuery("bulk-step", {
  params: (of: Owned & { readonly jobs: readonly JobId[]; readonly size: number }) => [
    of.id,
    of.owner,
    of.jobs,
    of.size,
  ],
  row: z.object({ jobs: z.array(jobId) }),
})(`
with chosen as materialized (
  select id, print from (
    select j.id, p.print, row_number() over (partition by p.print order by j.id desc) as place from belfry.job j
    cross join lateral (select belfry.fingerprint(j.kind, j.error_code, j.error_message) as print) p where j.id = any($3::bigint[])
  ) placed where place <= $4::int
)
update belfry.bulk set canaries = array(select id from chosen order by id desc), updated_at = belfry.now(),
  groups = array(select unnest(groups) union select print from chosen)
where id = $1::bigint and owner = $2 and state = 'RUNNING'
returning to_jsonb(canaries::text[]) as jobs`);

/** Those of $1 that have not run again since $2. Locks nothing. */
export const readUnretried = sqlQuery("bulk-unretried", {
  params: (of: { readonly jobs: readonly string[]; readonly before: number }) => [of.jobs, of.before],
  row: z.object({ id: jobId }),
})(`
select id from belfry.job where id = any($1::bigint[]) and finished_at <= belfry.at($2::float8) order by id`);

/** They are retried. $1 id $2 owner $3 changed $4 taken along $5 refused. Locks that row. */
export const sendStep = sqlQuery("bulk-sent", {
  params: (of: Step & { readonly takenAlong: number }) => [of.id, of.owner, of.changed, of.takenAlong, of.refused],
  row: id,
})(`
update belfry.bulk set canary = 'out', owner = null, changed = changed + $3::int, taken_along = taken_along + $4::int,
  refused = refused + $5::int, updated_at = belfry.now()
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

/** The oldest that may go on, for `insightLimits.bulkLeaseMs`: one that waits for its step or its due time is left out. */
export async function nextBulk(insight: Database, owner: string): Promise<Bulk | null> {
  await insight.run(judgeSteps, {});
  return (await insight.run(takeBulk, owner))[0] ?? null;
}

/** With the request that asked for it, in one transaction. @throws RequestKeyTaken */
export async function beginBulk(insight: Database, bulk: NewBulk, request?: KeyedRequest): Promise<Bulk> {
  const make = async (database: Database): Promise<Bulk> => {
    const made = await oneRow(database, createBulk, bulk);
    if (request !== undefined) await keepRequest(database, request, made.id);
    return made;
  };
  return await (request === undefined ? make(insight) : insight.transaction(make));
}
