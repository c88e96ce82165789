import type { Registry } from "../define/definition.ts";
import type { CircuitCount, CircuitRule } from "../machine/circuit-store.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { Ports } from "../machine/ports.ts";
import { reasons } from "../machine/reasons.ts";
import type { Settlement } from "../machine/store.ts";
import { minuteMs } from "../machine/units.ts";

/** A circuit's name has no colon. */
const nameOf = (kind: string): string => `retry:${kind}`;

/** The first attempt of a job whose kind has a budget. */
export const firstOf = (
  { kind, failures }: { readonly kind: string; readonly failures: number },
  registry: Registry,
): CircuitCount[] =>
  failures === 0 && registry.jobs.get(kind)?.retry.budget !== undefined
    ? [{ name: nameOf(kind), code: "", ends: 1 }]
    : [];

/** They keep the counts of the last minute, and open nothing. */
export const budgetsOf = (registry: Registry): readonly CircuitRule[] =>
  [...registry.jobs].flatMap(([kind, { retry }]) =>
    retry.budget === undefined
      ? []
      : { name: nameOf(kind), pattern: "^$", alike: false, share: 1, overMs: minuteMs, minimum: 1, pauseMs: minuteMs },
  );

interface Ended {
  readonly job: { readonly kind: string };
  readonly settlement: Settlement;
}

/**
 * Retries of a kind are apart by its budget: each takes the next time of its kind, and waits until then if its own wait is shorter. A time
 * that a crash or a refused settle leaves out is lost, so that there are never more.
 */
export async function withinBudget(
  { store }: Pick<Ports, "store">,
  registry: Registry,
  group: readonly Ended[],
): Promise<readonly Settlement[]> {
  const shareOf = ({ job, settlement }: Ended): number | null =>
    settlement.reason === reasons.retry ? (registry.jobs.get(job.kind)?.retry.budget ?? null) : null;
  const retried = Map.groupBy(
    group.filter((each) => shareOf(each) !== null),
    ({ job }) => nameOf(job.kind),
  );
  if (retried.size === 0) return group.map(({ settlement }) => settlement);
  const asked = [...retried].map(([name, of]) => ({ name, n: of.length, share: of[0] ? (shareOf(of[0]) ?? 1) : 1 }));
  const times = new Map((await store.spaceRetries(asked)).map((each) => [each.name, each]));
  return group.map((each) => {
    const name = nameOf(each.job.kind);
    const [time, of = []] = [times.get(name), retried.get(name)];
    const place = of.indexOf(each);
    if (time === undefined || place < 0) return each.settlement;
    // In whole seconds, as a message is delayed: a worker would keep a place of its lane for the rest.
    const seconds = Math.ceil((time.endsMs - (of.length - place) * time.everyMs) / 1_000);
    const delayMs = Math.min(seconds * 1_000, contractLimits.delayMsMax);
    const isLater = delayMs > each.settlement.delayMs;
    return isLater ? { ...each.settlement, delayMs, reason: reasons.retryBudget } : each.settlement;
  });
}
