import type { SettledJob } from "../define/context.ts";
import type { Registry } from "../define/definition.ts";
import { type InSameTransaction, type Moved, refuseBroken, type StoreTx } from "../machine/transaction.ts";
import { type Ports } from "../machine/ports.ts";
import { isFinal } from "../machine/state.ts";

/**
 * Calls `onSettled` for rows that rescue, cancel or the dead-letter drain moved, in the transaction that moved them.
 * A hook that throws loses only its own writes: the move itself must not depend on an app's code.
 */
export function movedHook(
  ports: Pick<Ports, "log" | "metrics">,
  registry: Registry,
  outcome: SettledJob["outcome"],
): InSameTransaction {
  return async (tx, rows) => {
    for (const row of rows) {
      if (registry.jobs.get(row.kind)?.onSettled == null) continue;
      try {
        await tx.nested(() => callHook(registry, row, outcome, tx));
      } catch (error) {
        ports.log.error("onSettled failed; the job itself was moved", { job: row.jobId, kind: row.kind, error });
        ports.metrics.add("job.on_settled.failed", 1, "Count", { job: row.kind });
      }
    }
  };
}

/** Calls the definition's `onSettled`, if it has one, with the payload as its handler saw it. */
export async function callHook(
  registry: Registry,
  row: Moved,
  outcome: SettledJob["outcome"],
  tx: StoreTx,
): Promise<void> {
  const definition = registry.jobs.get(row.kind);
  if (definition?.onSettled == null) return;
  const checked = await definition.check(row.payload);
  const settled: SettledJob = {
    jobId: row.jobId,
    outcome,
    attempt: row.attempt,
    final: isFinal(row.state),
    ...(row.errorCode === null ? {} : { error: { code: row.errorCode, message: row.errorMessage ?? "" } }),
  };
  await definition.onSettled(checked.ok ? checked.value : row.payload, settled, tx);
  refuseBroken(tx, `onSettled of "${row.kind}"`);
}
