import { rateGate } from "../admission/rate.ts";
import { isByKey } from "../admission/slots.ts";
import { RateLimited } from "../define/errors.ts";
import { checkedKeyOf } from "../define/new-job.ts";
import { afterCommit } from "./after-commit.ts";
import type { InvocationScope } from "./invocation-scope.ts";
import { workerLimits } from "./worker-limits.ts";

/**
 * Takes a unit of a shared rate and waits for its time, for half of what the attempt has left at most: the other half is for the call.
 * @throws RateLimited when its time is later: nothing was taken then.
 */
export async function takeLimit(scope: InvocationScope, name: string, of: string | undefined): Promise<void> {
  const { worker, hold, phase } = scope;
  const { ports, options } = worker;
  if (phase !== "open") throw new Error(`ctx.limit("${name}") must come before ctx.tx and before the handler ends`);
  const key = keyOf(scope, name, of);
  const nowMs = ports.clock.elapsedMs();
  const leftMs = (scope.endsMs - nowMs) / 2;
  // Fixed before the first look: half of what is left at each would be nearly all of it after some.
  const untilMs = nowMs + Math.min(leftMs, options.limitWaitMsMax ?? leftMs);
  for (;;) {
    hold.signal.throwIfAborted();
    const restMs = untilMs - ports.clock.elapsedMs();
    const withinMs = Math.max(0, restMs);
    const unit = await ports.store.takeUnit(key, { withinMs });
    if (unit === null)
      throw new Error(`limit "${name}" is not installed in this stage: deploy the code that defines it`);
    await afterCommit(ports, unit.aftermath);
    if (!unit.isTaken && (unit.waitMs > withinMs || restMs < 0)) throw new RateLimited(name, unit.at, unit.waitMs);
    // One that is free and was not taken is being claimed at this moment.
    const waitMs = unit.isTaken ? unit.waitMs : Math.max(unit.waitMs, workerLimits.limitLookMs);
    if (waitMs > 0) await ports.clock.sleep(waitMs, hold.signal);
    hold.signal.throwIfAborted();
    if (unit.isTaken) return;
  }
}

function keyOf({ worker, definition }: InvocationScope, name: string, of: string | undefined): string {
  const { limits } = worker.registry;
  const limit = limits.get(`@${name}`);
  if (limit === undefined) {
    const names = [...limits.keys()].map((id) => id.slice(1)).join(", ") || "none";
    throw new Error(`there is no limit "${name}": there are ${names}; add it to the limits of the app`);
  }
  const group = rateGate.groupOf(limit);
  if (group === null)
    throw new Error(`limit "${name}" has no rate to take from: name it in the limits of job "${definition.id}"`);
  if (isByKey(group) !== (of !== undefined)) {
    const rule = of === undefined ? "is by key: pass { key }" : "is not by key: leave the key out";
    throw new Error(`limit "${name}" ${rule}`);
  }
  return of === undefined ? group.key : group.key + checkedKeyOf(definition.id, `ctx.limit("${name}")`, () => of);
}
