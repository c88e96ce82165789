import { operationsLimits } from "../../core/ports/operations-limits.ts";
import type { BoundedCount, JobPage, JobSearch, SearchBound } from "../../core/ports/job-search.ts";
import type { Operations } from "../../core/ports/operations.ts";
import { isFinal, type State } from "../../core/job/state.ts";
import type { FailureDetail, JobView } from "../../core/job/job.ts";
import { movesOf } from "../../core/job/history.ts";
import type { Session } from "./session.ts";
import {
  countMatches,
  findEdgeAbove,
  findEdgeBelow,
  readRecords,
  searchDue,
  searchKey,
  searchNewest,
  searchOldest,
} from "./sql/search.ts";
import { readAttempt, readFirstHistory } from "./sql/read.ts";

type DueRow = NonNullable<(typeof searchDue)["row"]>;
type SearchStore = Pick<Operations, "jobs" | "jobsById" | "attempt" | "count">;

const { searchMs: lookMs, searchLooksMax, countLooksMax } = operationsLimits;
const listBound: SearchBound = { looksMax: searchLooksMax, lookMs };
const countBound: SearchBound = { looksMax: countLooksMax, lookMs };

/** Larger than every id there will be. */
const top = (2n ** 63n - 1n).toString();

/**
 * A search reads jobs by an index, a bounded number of rows at a time, and stops when the page is full or its time is over: a
 * filter that matches nothing costs no more than one that matches everything.
 */
export function searchStore(session: Session): SearchStore {
  return {
    jobs({ search, sort, cursor, limit }) {
      const asked = parameter(search);
      if (search.key !== undefined) return byKey(session, asked, cursor, limit);
      if (sort === "due") return byDue(session, search, cursor, limit);
      return byId(session, asked, { isUp: sort === "oldest", cursor, limit });
    },
    async jobsById(ids) {
      const [jobs, rows] = await Promise.all([
        session.run(readRecords, [ids]),
        session.run(readFirstHistory, [ids, operationsLimits.firstMovesShown]),
      ]);
      const byJob = Map.groupBy(rows, (row) => row.job_id);
      const moves = (job: JobView) =>
        movesOf(
          job,
          (byJob.get(job.id) ?? []).map(({ job_id: _id, ...move }) => move),
        );
      return new Map(jobs.map((job) => [job.id, { job, events: moves(job) }]));
    },
    async attempt(id, attempt) {
      const [row] = await session.run(readAttempt, [id, attempt]);
      if (row === undefined) return null;
      return {
        kind: row.kind,
        dueAt: row.due_at,
        sentAt: row.sent_at,
        startedAt: row.started_at,
        endedAt: row.ended_at,
        logGroup: row.log_group,
        detail: row.detail as FailureDetail | null,
      };
    },
    async count(search, limit, bound = countBound) {
      if (search.key === undefined) return await countAll(session, parameter(search), limit, bound);
      // A key leads to a few rows by its index; a scan of all jobs might run out of time before it finds them.
      const rows = await session.run(searchKey, [parameter(search), top, limit + 1]);
      return { count: Math.min(rows.length, limit), isMore: rows.length > limit };
    },
  };
}

/** Which partial index holds all jobs in these states. */
export const indexFor = (states: readonly State[] | undefined): { isLive: boolean; isFailed: boolean } => ({
  isLive: states !== undefined && states.every((state) => !isFinal(state)),
  isFailed: states?.length === 1 && states[0] === "FAILED",
});

/** The search as JSON, with hints for the choice of the index. */
export function parameter(search: JobSearch): string {
  const { isLive, isFailed } = indexFor(search.states);
  return JSON.stringify({ ...search, ...(isLive ? { live: true } : {}), ...(isFailed ? { failed: true } : {}) });
}

async function byId(
  session: Session,
  search: string,
  { isUp, cursor, limit }: { isUp: boolean; cursor: string | null; limit: number },
): Promise<JobPage> {
  const isOver = ends(listBound);
  const found: JobView[] = [];
  let from = cursor ?? (isUp ? "0" : top);
  for (;;) {
    const [edge] = await session.run(isUp ? findEdgeAbove : findEdgeBelow, [
      search,
      from,
      operationsLimits.searchRowsMax,
    ]);
    const to = edge?.id ?? (isUp ? top : "0");
    const rows = await session.run(isUp ? searchOldest : searchNewest, [search, from, to, limit + 1 - found.length]);
    found.push(...rows);
    if (found.length > limit) return page(found, limit);
    if (edge === undefined) return { jobs: found, cursor: null, complete: true };
    from = to;
    if (isOver()) {
      // The row at the edge belongs to this page: it was read.
      return { jobs: found, cursor: from, complete: false };
    }
  }
}

/** Before every due time there can be, in microseconds since 1970: the year 4713 before Christ. */
const dueBounds = { first: "-210866803200000000" };

async function byDue(session: Session, search: JobSearch, cursor: string | null, limit: number): Promise<JobPage> {
  const isOver = ends(listBound);
  const found: JobView[] = [];
  let [due, id] = cursor?.split("_") ?? [search.dueFrom === undefined ? dueBounds.first : us(search.dueFrom), "0"];
  for (;;) {
    const { searchRowsMax, slotGroupsShownMax, outRowsMax, openRunsMax } = operationsLimits;
    const wanted = limit + 1 - found.length;
    const values = [due, id, searchRowsMax, slotGroupsShownMax, outRowsMax, parameter(search), wanted, openRunsMax];
    const rows = await session.run(searchDue, values);
    const matches = rows.filter((row) => row.found);
    found.push(...matches.map(jobOf));
    const [look] = rows;
    const complete = look?.is_cut !== true;
    if (found.length > limit) {
      const last = matches.at(-2) ?? { due_us: due, id };
      return { jobs: found.slice(0, limit), cursor: `${last.due_us}_${last.id}`, complete };
    }
    if (look === undefined || look.looked < searchRowsMax || isPast(look.last_us, search)) {
      return { jobs: found, cursor: null, complete };
    }
    [due, id] = [look.last_us, look.last_id];
    if (isOver()) return { jobs: found, cursor: `${due}_${id}`, complete: false };
  }
}

const jobOf = ({
  due_us: _us,
  due: _due,
  looked: _looked,
  last_us: _last,
  last_id: _id,
  is_cut: _cut,
  found: _found,
  ...job
}: DueRow): JobView => job;

const us = (instant: number): string => `${Math.floor(instant)}000`;
const isPast = (due: string, { dueTo }: JobSearch): boolean => dueTo !== undefined && BigInt(due) > BigInt(us(dueTo));

async function byKey(session: Session, search: string, cursor: string | null, limit: number): Promise<JobPage> {
  const rows = await session.run(searchKey, [search, cursor ?? top, limit + 1]);
  return page(rows, limit);
}

function page(found: readonly JobView[], limit: number): JobPage {
  const jobs = found.slice(0, limit);
  const last = jobs.at(-1);
  return { jobs, cursor: found.length > limit && last !== undefined ? last.id : null, complete: true };
}

async function countAll(session: Session, search: string, limit: number, bound: SearchBound): Promise<BoundedCount> {
  const isOver = ends(bound);
  let count = 0;
  for (let from = top; ;) {
    const [edge] = await session.run(findEdgeBelow, [search, from, operationsLimits.searchRowsMax]);
    const [row] = await session.run(countMatches, [search, from, edge?.id ?? "0", limit + 1 - count]);
    count += row?.jobs ?? 0;
    if (count > limit) return { count: limit, isMore: true };
    if (edge === undefined) return { count, isMore: false };
    if (isOver()) return { count, isMore: true };
    from = edge.id;
  }
}

/** Whether a search answers with what it has found: asked after each look. */
function ends({ looksMax, lookMs }: SearchBound): () => boolean {
  const until = performance.now() + lookMs;
  let looks = 0;
  return () => {
    looks += 1;
    return looks >= looksMax || performance.now() > until;
  };
}
