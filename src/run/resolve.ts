import type { RunId } from "../machine/job.ts";
import { runLimits } from "../machine/run-limits.ts";
import type { Fence } from "../machine/fence.ts";
import type { Ports } from "../machine/ports.ts";
import type { Resolved } from "../machine/run.ts";

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
