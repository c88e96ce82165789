import { z } from "zod";
import type { JobId } from "../machine/job.ts";
import { insightLimits } from "./insight-limits.ts";
import { finalStates, type State } from "../machine/state.ts";
import { count, idText, jobId } from "./atoms.ts";
import { findDue, type JobPage } from "./due-jobs.ts";
import { type JobRow, job, listedMembers } from "./job.ts";
import { type JobSearch, matches, within } from "./search.ts";
import { type Database, sqlQuery } from "./sql-query.ts";

interface Look {
  /** As JSON, with hints for the index. */
  readonly search: string;
  readonly from: string;
  readonly to: string;
  readonly limit: number;
}
const lookValues = (of: Look): unknown[] => [of.search, of.from, of.to, of.limit];
const edgeValues = (of: Pick<Look, "search" | "from">): unknown[] => [of.search, of.from, insightLimits.searchRowsMax];
const idRow = z.object({ id: idText });

/** Where one look of a search ends: the id that lies $3 rows below $2. Locks nothing. */
export const findEdgeBelow = sqlQuery("search-edge-below", {
  params: edgeValues,
  row: idRow,
})(`
select id from belfry.job where ${within} and id < $2::bigint order by id desc offset $3 limit 1`);

/** As above, upwards. Locks nothing. */
export const findEdgeAbove = sqlQuery("search-edge-above", {
  params: edgeValues,
  row: idRow,
})(`
select id from belfry.job where ${within} and id > $2::bigint order by id offset $3 limit 1`);

/** $2 below $3 not below $4 limit. Locks nothing. */
export const searchNewest = sqlQuery("search-newest", {
  params: lookValues,
  row: job,
})(`
select ${listedMembers} from belfry.job j
where ${within} and id < $2::bigint and id >= $3::bigint and ${matches}
order by id desc limit $4`);

/** $2 above $3 not above $4 limit. Locks nothing. */
export const searchOldest = sqlQuery("search-oldest", {
  params: lookValues,
  row: job,
})(`
select ${listedMembers} from belfry.job j
where ${within} and id > $2::bigint and id <= $3::bigint and ${matches}
order by id limit $4`);

/**
 * By key, whatever the kind: kinds that a release had, or that were counted, are few, and each is one step in the index.
 * Newest first. $2 below $3 limit. Locks nothing.
 */
export const searchKey = sqlQuery("search-key", {
  params: (of: Omit<Look, "to">) => [of.search, of.from, of.limit],
  row: job,
})(`
with kinds as materialized (
  select kind from belfry.kind_total union select kind from belfry.sensitive union select $1::jsonb ->> 'kind'
), found as materialized (
  select j.id from kinds k cross join lateral (
    select id from belfry.job
    where belfry.key_hash(job.kind, job.key) = belfry.key_hash(k.kind, $1::jsonb ->> 'key') and job.key is not null
  ) j
)
select ${listedMembers} from belfry.job j
where id = any(array(select id from found)) and id < $2::bigint and ${within} and ${matches}
order by id desc limit $3`);

/** Matches among one look's rows: $2 below $3 not below $4 at most. Locks nothing. */
export const countMatches = sqlQuery("search-count", {
  params: lookValues,
  row: z.object({ jobs: count }),
})(`
select count(*)::int as jobs from (
  select 1 from belfry.job
  where ${within} and id < $2::bigint and id >= $3::bigint and ${matches}
  order by id desc limit $4
) found`);

/** Ids of matches, newest first: $2 below $3 not below $4 at most. Locks nothing. */
export const findMatches = sqlQuery("search-ids", {
  params: lookValues,
  row: z.object({ id: jobId }),
})(`
select id from belfry.job
where ${within} and id < $2::bigint and id >= $3::bigint and ${matches}
order by id desc limit $4`);

/** `newest` and `oldest` by id; `due` by due time, of jobs that wait to start. */
export const jobSorts = ["newest", "oldest", "due"] as const;
export type JobSort = (typeof jobSorts)[number];

/** When a search answers with what it has found. */
export interface SearchBound {
  readonly looksMax: number;
  readonly lookMs: number;
}

const { searchMs: lookMs, searchLooksMax, countLooksMax } = insightLimits;
const listBound: SearchBound = { looksMax: searchLooksMax, lookMs };
const countBound: SearchBound = { looksMax: countLooksMax, lookMs };

/** Larger than every id there will be. */
const top = (2n ** 63n - 1n).toString();

/**
 * A search reads jobs by an index, a bounded number of rows at a time, and stops when the page is full or its time is over: a
 * filter that matches nothing costs no more than one that matches everything.
 */
export async function findJobs(
  insight: Database,
  { search, sort, cursor, limit }: { search: JobSearch; sort: JobSort; cursor: string | null; limit: number },
): Promise<JobPage> {
  const text = searchText(search);
  if (search.key !== undefined) {
    return page(await insight.run(searchKey, { search: text, from: cursor ?? top, limit: limit + 1 }), limit);
  }
  if (sort === "due") return await findDue(insight, { search, text, cursor, limit, isOver: ends(listBound) });
  return await byId(insight, text, { isUp: sort === "oldest", cursor, limit });
}

/** How many jobs match, up to `limit`: those found within so many looks and that time. */
export async function countMatching(
  insight: Database,
  of: JobSearch,
  limit: number,
  bound: SearchBound = countBound,
): Promise<{ readonly count: number; readonly isMore: boolean }> {
  const search = searchText(of);
  if (of.key !== undefined) {
    // A key leads to a few rows by its index; a scan of all jobs might run out of time before it finds them.
    const rows = await insight.run(searchKey, { search, from: top, limit: limit + 1 });
    return { count: Math.min(rows.length, limit), isMore: rows.length > limit };
  }
  const isOver = ends(bound);
  let jobs = 0;
  for (let from = top; ;) {
    const [edge] = await insight.run(findEdgeBelow, { search, from });
    const [row] = await insight.run(countMatches, { search, from, to: edge?.id ?? "0", limit: limit + 1 - jobs });
    jobs += row?.jobs ?? 0;
    if (jobs > limit) return { count: limit, isMore: true };
    if (edge === undefined) return { count: jobs, isMore: false };
    if (isOver()) return { count: jobs, isMore: true };
    from = edge.id;
  }
}

/** Ids of the next jobs that match, newest first, below the id `next`; and the cursor of the page after them, or null. */
export async function findIds(
  insight: Database,
  { search, next }: { readonly search: JobSearch; readonly next: string },
  limit: number,
): Promise<{ readonly ids: readonly JobId[]; readonly next: string | null }> {
  const from = { search: searchText(search), from: next };
  const [edge] = await insight.run(findEdgeBelow, from);
  const rows = await insight.run(findMatches, { ...from, to: edge?.id ?? "0", limit });
  const last = rows.length === limit ? rows.at(-1)?.id : edge?.id;
  return { ids: rows.map(({ id }) => id), next: last ?? null };
}

const ended: readonly State[] = finalStates;

/** The search as JSON, with hints for the choice of the partial index that holds all jobs in these states. */
export function searchText(search: JobSearch): string {
  const of: readonly State[] | undefined = search.states;
  const isLive = of?.every((state) => !ended.includes(state)) === true;
  const isFailed = of?.length === 1 && of[0] === "FAILED";
  return JSON.stringify({ ...search, ...(isLive ? { live: true } : {}), ...(isFailed ? { failed: true } : {}) });
}

async function byId(
  insight: Database,
  search: string,
  { isUp, cursor, limit }: { isUp: boolean; cursor: string | null; limit: number },
): Promise<JobPage> {
  const isOver = ends(listBound);
  const jobs: JobRow[] = [];
  let from = cursor ?? (isUp ? "0" : top);
  for (;;) {
    const [edge] = await insight.run(isUp ? findEdgeAbove : findEdgeBelow, { search, from });
    const to = edge?.id ?? (isUp ? top : "0");
    const look = { search, from, to, limit: limit + 1 - jobs.length };
    jobs.push(...(await insight.run(isUp ? searchOldest : searchNewest, look)));
    if (jobs.length > limit) return page(jobs, limit);
    if (edge === undefined) return { jobs, cursor: null, complete: true };
    from = to;
    // The row at the edge belongs to this page: it was read.
    if (isOver()) return { jobs, cursor: from, complete: false };
  }
}

function page(rows: readonly JobRow[], limit: number): JobPage {
  const jobs = rows.slice(0, limit);
  const last = jobs.at(-1);
  return { jobs, cursor: rows.length > limit && last !== undefined ? last.id : null, complete: true };
}

/** Whether a search answers with what it has found: asked after each look. */
function ends({ looksMax, lookMs: ms }: SearchBound): () => boolean {
  const until = performance.now() + ms;
  let looks = 0;
  return () => {
    looks += 1;
    return looks >= looksMax || performance.now() > until;
  };
}
