import { cancelJobs, retryJobs } from "./control.ts";
import type { Registry } from "../define/definition.ts";
import type { JobId } from "../job/job.ts";
import { operationsLimits } from "../ports/operations-limits.ts";
import type { Ports } from "../ports/ports.ts";
import { afterCommit } from "../delivery/after-commit.ts";
import type { Bulk } from "../ports/bulk.ts";
import type { Operations } from "../ports/operations.ts";

type BulkPorts = Pick<Ports, "store" | "queue" | "log" | "metrics" | "crashPoint" | "launcher">;

/**
 * Does one page of the oldest bulk action that no other process works on.
 * @returns whether there was one: call again.
 */
export async function runBulkPage(
  ports: BulkPorts,
  registry: Registry,
  operations: Operations,
  options: { owner: string; dispatchWindowMs: number },
): Promise<boolean> {
  const bulk = await operations.takeBulk(options.owner);
  if (bulk === null) return false;
  const rows = bulk.action === "cancel" ? operationsLimits.bulkCancelRowsMax : operationsLimits.bulkRowsMax;
  const { ids, next } = await operations.bulkPage(bulk, rows);
  const moved = ids.length === 0 ? [] : await change(ports, registry, operations, { bulk, ids, ...options });
  const asked = new Set(ids);
  const changed = moved.filter((id) => asked.has(id)).length;
  await operations.advanceBulk(bulk.id, options.owner, {
    next,
    changed,
    takenAlong: moved.length - changed,
    refused: ids.length - changed,
    dueAt: bulk.dueAt + changed * bulk.paceMs,
  });
  return true;
}

/** @returns every job that moved: a retry in a run takes along what was skipped because of it. */
async function change(
  ports: BulkPorts,
  registry: Registry,
  operations: Operations,
  options: { bulk: Bulk; ids: readonly JobId[]; dispatchWindowMs: number },
): Promise<readonly JobId[]> {
  const { bulk, ids, dispatchWindowMs } = options;
  if (bulk.action === "cancel") return await cancelJobs(ports, registry, ids, { dispatchWindowMs });
  if (bulk.paceMs === 0) return await retryJobs(ports, ids, { dispatchWindowMs });
  const pace = { dueAt: bulk.dueAt, paceMs: bulk.paceMs, dispatchWindowMs };
  const paced = await operations.retryPaced(ids, pace);
  await afterCommit(ports, paced.aftermath, { dispatchWindowMs });
  const inRuns = await retryJobs(ports, without(ids, paced.ids), { dispatchWindowMs });
  return [...paced.ids, ...inRuns];
}

function without(ids: readonly JobId[], others: readonly JobId[]): readonly JobId[] {
  const left = new Set(others);
  return ids.filter((id) => !left.has(id));
}
