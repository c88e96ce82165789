import { limits } from "../limits.ts";
import type { Fence, Ports, RunId } from "../ports/ports.ts";
import { wakeHeld } from "./relay.ts";
import { sendOutbox } from "./send.ts";

type ResolvePorts = Pick<Ports, "store" | "queue" | "log" | "metrics" | "crashPoint">;

/**
 * Brings runs forward: spreads skipped branches, adds up wide joins and progress, closes what is complete. Whoever ended a
 * job calls it after the commit; it goes on while a look after the commit finds more, since another one that appended
 * meanwhile was not let in. The pass does the same for what is left over, which counts as a rescue.
 */
export async function resolveRuns(
  ports: ResolvePorts,
  options: {
    runs: readonly RunId[] | "all";
    rounds: number;
    dispatchWindowMs: number;
    fence?: Fence;
    signal?: AbortSignal;
  },
): Promise<Record<string, number>> {
  let steps = 0;
  let closed = 0;
  for (let round = 0; round < options.rounds && options.signal?.aborted !== true; round += 1) {
    const resolved = await ports.store.resolve({
      runs: options.runs,
      limit: limits.resolveRowsMax,
      dispatchWindowMs: options.dispatchWindowMs,
      ...(options.fence === undefined ? {} : { fence: options.fence }),
    });
    await sendOutbox(ports, resolved.outbox);
    await wakeHeld(ports, { slotKeys: resolved.freed });
    for (const run of resolved.closed) {
      ports.log.info("run closed", { run: run.runId, kind: run.kind, state: run.state });
      ports.metrics.add(`run.${run.state.toLowerCase()}`, 1, "Count", { job: run.kind });
    }
    steps += resolved.steps;
    closed += resolved.closed.length;
    if (!resolved.more || resolved.steps === 0) break;
  }
  return { resolved: steps, "runs.closed": closed };
}

/** After a commit that ended jobs. What fails here is left to the next pass. */
export async function resolveAfter(
  ports: ResolvePorts,
  runs: readonly RunId[] | "all",
  options: { dispatchWindowMs: number },
): Promise<void> {
  if (runs !== "all" && runs.length === 0) return;
  try {
    await resolveRuns(ports, { runs, rounds: limits.resolveRoundsMax, dispatchWindowMs: options.dispatchWindowMs });
  } catch (error) {
    ports.log.warn("runs were not brought forward; the next pass does it", { runs, error });
  }
}
