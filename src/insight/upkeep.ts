import { insightLimits } from "./insight-limits.ts";
import type { Tally } from "../machine/ports.ts";
import { passLimits } from "../schedule/pass-limits.ts";
import { type BulkWorld, runBulkPage } from "./run-bulk.ts";

/**
 * Background work: adds up counts, releases jobs that a resumed lane left on hold, and continues bulk actions of processes that
 * have ended. The last two rest while there is nothing.
 * Safe in any number of processes at once. Ends with the signal; never throws.
 */
export async function upkeep(
  world: BulkWorld & { readonly tally: Pick<Tally, "rollUp"> },
  options: { owner: string; signal: AbortSignal },
): Promise<void> {
  const { ports, tally } = world;
  let restedMs = Number.NEGATIVE_INFINITY;
  while (!options.signal.aborted) {
    try {
      const added = await tally.rollUp(insightLimits.rollUpRowsMax);
      let isChanging = false;
      if (ports.clock.elapsedMs() - restedMs >= passLimits.passRestMs) {
        const left = await ports.store.unholdOpen(insightLimits.unholdRowsMax);
        if (left > 0) ports.log.info("jobs were still on hold in lanes that are not paused", { jobs: left });
        isChanging = await runBulkPage(world, options);
        if (left === 0 && !isChanging) restedMs = ports.clock.elapsedMs();
      }
      if (isChanging || added >= insightLimits.rollUpRowsMax) continue;
    } catch (error) {
      ports.log.warn("the upkeep failed; the next round goes on", { error });
      ports.metrics.add("scheduler.step.failed", 1);
    }
    await ports.clock.sleep(passLimits.passIntervalMs, options.signal);
  }
}
