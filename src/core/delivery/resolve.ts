import type { RunId } from "../job/job.ts";
import { runLimits } from "../ports/run-limits.ts";
import type { Fence, Ports, Resolved } from "../ports/ports.ts";

/** One bounded round over these runs; the caller does what it leaves. */
export async function resolveOnce(
  ports: Pick<Ports, "store" | "log" | "metrics">,
  options: {
    readonly runs: readonly RunId[] | "all";
    readonly fence?: Fence | undefined;
  },
): Promise<Resolved> {
  const resolved = await ports.store.resolve({ ...options, limit: runLimits.resolveRowsMax });
  for (const run of resolved.closed) {
    ports.log.info("run closed", { run: run.runId, kind: run.kind, state: run.state });
    ports.metrics.add(`run.${run.state.toLowerCase()}`, 1, "Count", { job: run.kind });
  }
  return resolved;
}
