import type { Registry } from "../define/definition.ts";
import { movedHook } from "../run/settled-hook.ts";
import type { Fence } from "../machine/fence.ts";
import type { Ports } from "../machine/ports.ts";
import { runLimits } from "../machine/run-limits.ts";
import { scheduleLimits } from "../machine/schedule.ts";
import { passLimits } from "./pass-limits.ts";

/** Cancels the jobs that removed schedules left waiting, some pages a pass: a deployment must not wait for 100,000 of them. */
export async function finishRemovals(
  ports: Pick<Ports, "store" | "log" | "metrics">,
  registry: Registry,
  { signal, fence }: { readonly signal: AbortSignal; readonly fence?: Fence | undefined },
): Promise<Record<string, number>> {
  const { store, log } = ports;
  if ((await store.endRemovals({ fence })) === 0) return {};
  const inSameTransaction = movedHook(ports, registry, "CANCELED");
  const limit = runLimits.cancelRowsMax;
  let canceled = 0;
  for (let round = 0; round < passLimits.cancelRemovedRoundsMax && !signal.aborted; round += 1) {
    const { rows } = await store.cancelRemoved({ limit, fence, inSameTransaction });
    canceled += rows.length;
    // A page is short when others hold some of its rows.
    if (rows.length === 0) break;
  }
  const left = await store.removedJobs(scheduleLimits.removedCountedMax);
  log.info("jobs of removed schedules were canceled", {
    canceled,
    left,
    leftIsMore: left === scheduleLimits.removedCountedMax,
  });
  return { "jobs.canceled": canceled };
}
