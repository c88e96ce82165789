import { backfill } from "./backfill.ts";
import { cancelJobs, retryJobs } from "./control.ts";
import type { Registry } from "../define/definition.ts";
import type { JobId } from "../job/job.ts";
import { ScheduleRefused } from "../scheduler/schedule-refused.ts";
import { operationsLimits } from "../ports/operations-limits.ts";
import type { Ports } from "../ports/ports.ts";
import { afterCommit } from "../delivery/after-commit.ts";
import type { Bulk } from "../ports/bulk.ts";
import type { Operations } from "../ports/operations.ts";

type BulkPorts = Pick<Ports, "store" | "queue" | "clock" | "log" | "metrics" | "crashPoint" | "launcher" | "random">;

/**
 * Does one page of the oldest bulk action that no other process works on.
 * @returns whether there was one: call again.
 */
export async function runBulkPage(
  ports: BulkPorts,
  registry: Registry,
  operations: Operations,
  options: { owner: string; stage: string },
): Promise<boolean> {
  const bulk = await operations.takeBulk(options.owner);
  if (bulk === null) return false;
  if (bulk.action === "backfill") return await runBackfill(ports, registry, operations, { bulk, ...options });
  if (bulk.canary?.state === "wanted") return await sendCanaries(ports, operations, bulk, options);
  const { ids, next } = await operations.bulkPage(bulk, rowsOf(bulk));
  const moved = ids.length === 0 ? [] : await change(ports, registry, operations, { bulk, ids, ...options });
  const asked = new Set(ids);
  const changed = moved.filter((id) => asked.has(id)).length;
  await operations.advanceBulk(bulk.id, options.owner, {
    next,
    changed,
    takenAlong: moved.length - changed,
    refused: ids.length - changed,
  });
  return true;
}

/** All pages, or as many as come before it is stopped: a time that is planned already is none of them when it is taken again. */
async function runBackfill(
  ports: BulkPorts,
  registry: Registry,
  operations: Operations,
  { bulk, owner, ...options }: { bulk: Bulk; owner: string; stage: string },
): Promise<boolean> {
  const { scheduleId = "", dueFrom: from = 0, dueTo: to = 0 } = bulk.search;
  const advance = (changed: number, refused: number, isLast: boolean): Promise<boolean> =>
    operations.advanceBackfill(bulk.id, owner, { changed, refused, isLast });
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
    await operations.stopBulk(bulk.id);
  }
  return true;
}

/** A paced page is small, so that little of what it wrote ahead still runs after a stop. A pace of 0 bounds nothing. */
function rowsOf({ action, paceMs }: Bulk): number {
  const { bulkCancelRowsMax, bulkRowsMax, bulkAheadMs } = operationsLimits;
  if (action === "cancel") return bulkCancelRowsMax;
  return Math.min(bulkRowsMax, Math.max(1, Math.floor(bulkAheadMs / paceMs)));
}

/** The newest job of each group that the change names, or of all that match. None left means that nothing is. */
async function sendCanaries(
  ports: BulkPorts,
  operations: Operations,
  bulk: Bulk,
  { owner }: { owner: string },
): Promise<boolean> {
  const groups = bulk.search.fingerprints?.map((each) => ({ ...bulk.search, fingerprints: [each] })) ?? [bulk.search];
  const newest = await Promise.all(groups.map((search) => newestOf(operations, { search, next: bulk.next })));
  const ids = newest.flatMap((id) => id ?? []);
  const moved = ids.length === 0 ? [] : await retryJobs(ports, ids, { caller: bulk.caller });
  const jobs = ids.filter((id) => moved.includes(id));
  // Another process was faster with all of them: the next round takes others.
  if (jobs.length === 0 && ids.length > 0) return true;
  return await operations.sendCanaries(bulk.id, owner, { jobs, takenAlong: moved.length - jobs.length });
}

async function newestOf(operations: Operations, from: Pick<Bulk, "search" | "next">): Promise<JobId | null> {
  for (let next: string | null = from.next; next !== null;) {
    const page = await operations.bulkPage({ ...from, next }, 1);
    if (page.ids[0] !== undefined) return page.ids[0];
    next = page.next;
  }
  return null;
}

/** @returns every job that moved: a retry in a run takes along what was skipped because of it. */
async function change(
  ports: BulkPorts,
  registry: Registry,
  operations: Operations,
  options: { bulk: Bulk; ids: readonly JobId[] },
): Promise<readonly JobId[]> {
  const { bulk, ids } = options;
  const how = { caller: bulk.caller };
  if (bulk.action === "cancel") return await cancelJobs(ports, registry, ids, how);
  if (bulk.paceMs === 0) return await retryJobs(ports, ids, how);
  const paced = await operations.retryPaced(ids, { ...how, dueAt: bulk.dueAt, paceMs: bulk.paceMs });
  await afterCommit(ports, paced.aftermath);
  const inRuns = await retryJobs(ports, without(ids, paced.ids), how);
  return [...paced.ids, ...inRuns];
}

function without(ids: readonly JobId[], others: readonly JobId[]): readonly JobId[] {
  const left = new Set(others);
  return ids.filter((id) => !left.has(id));
}
