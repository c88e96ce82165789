import { backfill } from "./backfill.ts";
import { cancelJobs, retryJobs } from "./cancel-and-retry.ts";
import type { Registry } from "../define/definition.ts";
import { afterCommit } from "../run/after-commit.ts";
import type { JobId } from "../machine/job.ts";
import { insightLimits } from "./insight-limits.ts";
import type { Ports } from "../machine/ports.ts";
import { ScheduleRefused } from "../schedule/schedule-refused.ts";
import { advanceBackfill, advanceBulk, type Bulk, nextBulk, sendCanaries, stopBulk } from "./bulk.ts";
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
export async function runBulkPage(world: BulkWorld, options: { owner: string; stage: string }): Promise<boolean> {
  const { insight } = world;
  const { owner } = options;
  const bulk = await nextBulk(insight, owner);
  if (bulk === null) return false;
  if (bulk.action === "backfill") return await runBackfill(world, { bulk, ...options });
  if (bulk.canary?.state === "wanted") return await beginCanaries(world, bulk, owner);
  const { ids, next } = await findIds(insight, bulk, rowsOf(bulk));
  const moved = ids.length === 0 ? [] : await change(world, bulk, ids);
  const matching = new Set(ids);
  const changed = moved.filter((id) => matching.has(id)).length;
  const refused = ids.length - changed;
  await insight.run(advanceBulk, { id: bulk.id, owner, next, changed, takenAlong: moved.length - changed, refused });
  return true;
}

/** All pages, or as many as come before it is stopped: a time that is planned already is none of them when it is taken again. */
async function runBackfill(
  { ports, registry, insight }: BulkWorld,
  { bulk, owner, ...options }: { bulk: Bulk; owner: string; stage: string },
): Promise<boolean> {
  const { scheduleId = "", dueFrom: from = 0, dueTo: to = 0 } = bulk.search;
  const advance = async (changed: number, refused: number, isLast: boolean): Promise<boolean> =>
    (await insight.run(advanceBackfill, { id: bulk.id, owner, changed, refused, isLast })).length > 0;
  // What may lie before its ledger was judged when it was asked for.
  const asked = { from, to, dryRun: false, force: true, paceMs: bulk.paceMs, ...options };
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

/** The newest job of each group that the change names, or of all that match. None left means that nothing is. */
async function beginCanaries({ ports, insight }: BulkWorld, bulk: Bulk, owner: string): Promise<boolean> {
  const groups = bulk.search.fingerprints?.map((each) => ({ ...bulk.search, fingerprints: [each] })) ?? [bulk.search];
  const newest = await Promise.all(groups.map((search) => newestOf(insight, { search, next: bulk.next })));
  const ids = newest.flatMap((id) => id ?? []);
  const moved = ids.length === 0 ? [] : await retryJobs(ports, ids, { caller: bulk.caller });
  const jobs = ids.filter((id) => moved.includes(id));
  // Another process was faster with all of them: the next round takes others.
  if (jobs.length === 0 && ids.length > 0) return true;
  const sent = { id: bulk.id, owner, jobs, takenAlong: moved.length - jobs.length };
  return (await insight.run(sendCanaries, sent)).length > 0;
}

async function newestOf(insight: Database, from: Pick<Bulk, "search" | "next">): Promise<JobId | null> {
  for (let next: string | null = from.next; next !== null;) {
    const page = await findIds(insight, { ...from, next }, 1);
    if (page.ids[0] !== undefined) return page.ids[0];
    next = page.next;
  }
  return null;
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
