import { backfill } from "./backfill.ts";
import { cancelJobs, retryJobs } from "./cancel-and-retry.ts";
import type { Registry } from "../define/definition.ts";
import { afterCommit } from "../run/after-commit.ts";
import type { JobId } from "../machine/job.ts";
import { insightLimits } from "./insight-limits.ts";
import type { Ports } from "../machine/ports.ts";
import { ScheduleRefused } from "../schedule/schedule-refused.ts";
import {
  advanceBackfill,
  advanceBulk,
  type Bulk,
  chooseStep,
  nextBulk,
  readUnretried,
  sendStep,
  stopBulk,
} from "./bulk.ts";
import { findIds } from "./find-jobs.ts";
import type { Database } from "./sql-query.ts";

/** What changes jobs, and where the change is written down. */
export interface BulkWorld {
  readonly ports: Pick<Ports, "store" | "queue" | "clock" | "log" | "metrics" | "crashPoint" | "launcher" | "random">;
  readonly registry: Registry;
  readonly insight: Database;
}

/**
 * Does one page of the oldest bulk action that no other process works on.
 * @returns whether there was one: call again.
 */
export async function runBulkPage(world: BulkWorld, { owner }: { owner: string }): Promise<boolean> {
  const { insight } = world;
  const taken = await nextBulk(insight, owner);
  if (taken === null) return false;
  const bulk = taken.action === "retry" ? { ...taken, search: asRequested(taken) } : taken;
  if (bulk.action === "backfill") return await runBackfill(world, bulk, owner);
  if (bulk.steps?.state === "wanted") return await takeStep(world, bulk, owner);
  const { ids, next } = await findIds(insight, bulk, rowsOf(bulk));
  const moved = ids.length === 0 ? [] : await change(world, bulk, ids);
  const matching = new Set(ids);
  const changed = moved.filter((id) => matching.has(id)).length;
  const refused = ids.length - changed;
  await insight.run(advanceBulk, { id: bulk.id, owner, next, changed, takenAlong: moved.length - changed, refused });
  return true;
}

/** All pages, or as many as come before it is stopped: a time that is planned already is none of them when it is taken again. */
async function runBackfill({ ports, registry, insight }: BulkWorld, bulk: Bulk, owner: string): Promise<boolean> {
  const { scheduleId = "", dueFrom: from = 0, dueTo: to = 0 } = bulk.search;
  const advance = async (changed: number, refused: number, isLast: boolean): Promise<boolean> =>
    (await insight.run(advanceBackfill, { id: bulk.id, owner, changed, refused, isLast })).length > 0;
  // What may lie before its ledger was judged when it was asked for.
  const asked = { from, to, dryRun: false, force: true, paceMs: bulk.paceMs };
  try {
    const { failed } = await backfill(ports, registry, scheduleId, {
      ...asked,
      onPage: ({ added, again }) => advance(added + again, 0, false),
    });
    for (const { message: problem, ...time } of failed)
      ports.log.error("no payload for a time of a backfill", { schedule: scheduleId, ...time, problem });
    await advance(0, failed.length, true);
  } catch (error) {
    if (!(error instanceof ScheduleRefused)) throw error;
    ports.log.warn("a backfill ended early: its schedule was changed", { schedule: scheduleId, error });
    await insight.run(stopBulk, bulk.id);
  }
  return true;
}

/** A paced page is small, so that little of what it wrote ahead still runs after a stop. A pace of 0 bounds nothing. */
function rowsOf({ action, paceMs }: Bulk): number {
  const { bulkCancelRowsMax, bulkRowsMax, bulkAheadMs } = insightLimits;
  if (action === "cancel") return bulkCancelRowsMax;
  return Math.min(bulkRowsMax, Math.max(1, Math.floor(bulkAheadMs / paceMs)));
}

/** What failed again after the request did not match then: no job is retried twice, also when a process repeats a page. */
const asRequested = ({ search, createdAt }: Bulk): Bulk["search"] => ({
  ...search,
  endedTo: Math.min(search.endedTo ?? Number.POSITIVE_INFINITY, requestedMs(createdAt)),
});
/** Written in whole milliseconds. */
const requestedMs = (createdAt: string): number => new Date(createdAt).getTime() + 1;

/**
 * The newest jobs of each group that the change names; where it names none, of each group among the newest that match. None left means that
 * nothing is.
 */
async function takeStep({ ports, insight }: BulkWorld, bulk: Bulk, owner: string): Promise<boolean> {
  const { id, steps, search } = bulk;
  let jobs: readonly JobId[] = steps?.jobs ?? [];
  if (jobs.length === 0) {
    const size = steps?.sizes[steps.step - 1] ?? 1;
    const groups = search.fingerprints?.map((each) => ({ ...search, fingerprints: [each] }));
    const newest = async (of: Bulk["search"], most: number): Promise<readonly JobId[]> =>
      await newestOf(insight, { search: of, next: bulk.next }, most);
    const candidates = groups?.map((of) => newest(of, size)) ?? [newest(search, insightLimits.bulkRowsMax)];
    const [chosen] = await insight.run(chooseStep, { id, owner, jobs: (await Promise.all(candidates)).flat(), size });
    if (chosen === undefined) return false;
    jobs = chosen.jobs;
  }
  await ports.crashPoint?.("bulk.chosen");
  const unretried = await insight.run(readUnretried, { jobs, before: requestedMs(bulk.createdAt) });
  const left = unretried.map((row) => row.id);
  const moved = left.length === 0 ? [] : await retryJobs(ports, left, { caller: bulk.caller });
  await ports.crashPoint?.("bulk.retried");
  const refused = without(left, moved).length;
  const takenAlong = without(moved, left).length;
  return (await insight.run(sendStep, { id, owner, changed: jobs.length - refused, refused, takenAlong })).length > 0;
}

async function newestOf(
  insight: Database,
  from: Pick<Bulk, "search" | "next">,
  size: number,
): Promise<readonly JobId[]> {
  const found: JobId[] = [];
  for (let next: string | null = from.next; next !== null && found.length < size;) {
    const page = await findIds(insight, { ...from, next }, size - found.length);
    found.push(...page.ids);
    next = page.next;
  }
  return found;
}

/** @returns every job that moved: a retry in a run takes along what was skipped because of it. */
async function change({ ports, registry }: BulkWorld, bulk: Bulk, ids: readonly JobId[]): Promise<readonly JobId[]> {
  const how = { caller: bulk.caller };
  if (bulk.action === "cancel") return await cancelJobs(ports, registry, ids, how);
  if (bulk.paceMs === 0) return await retryJobs(ports, ids, how);
  const paced = await ports.store.retry(ids, { ...how, dueAt: bulk.dueAt, paceMs: bulk.paceMs });
  await afterCommit(ports, paced.aftermath);
  const inRuns = await retryJobs(ports, without(ids, paced.ids), how);
  return [...paced.ids, ...inRuns];
}

function without(ids: readonly JobId[], others: readonly JobId[]): readonly JobId[] {
  const left = new Set(others);
  return ids.filter((id) => !left.has(id));
}
