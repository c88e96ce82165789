import type { Registry } from "../define/definition.ts";
import { operationsLimits } from "../ports/operations-limits.ts";
import { passLimits } from "../scheduler/pass-limits.ts";
import type { Ports } from "../ports/ports.ts";
import type { Operations } from "../ports/operations.ts";
import { runBulkPage } from "./run-bulk.ts";

/**
 * Background work: adds up counts, releases jobs that a resumed lane left on hold, and continues bulk actions.
 * Safe in any number of processes at once. Ends with the signal; never throws.
 */
export async function upkeep(
  ports: Pick<Ports, "store" | "queue" | "clock" | "random" | "log" | "metrics" | "crashPoint" | "launcher">,
  registry: Registry,
  operations: Operations,
  options: { owner: string; stage: string; signal: AbortSignal },
): Promise<void> {
  while (!options.signal.aborted) {
    try {
      const added = await operations.rollUp(operationsLimits.rollUpRowsMax);
      const left = await operations.unholdOpen(operationsLimits.unholdRowsMax);
      if (left > 0) ports.log.info("jobs were still on hold in lanes that are not paused", { jobs: left });
      const isChanging = await runBulkPage(ports, registry, operations, options);
      if (isChanging || added >= operationsLimits.rollUpRowsMax) continue;
    } catch (error) {
      ports.log.warn("the upkeep failed; the next round goes on", { error });
      ports.metrics.add("scheduler.step.failed", 1);
    }
    await ports.clock.sleep(passLimits.passIntervalMs, options.signal);
  }
}
