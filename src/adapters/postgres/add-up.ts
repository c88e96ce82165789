import { operationsLimits } from "../../core/ports/operations-limits.ts";
import { hourBuckets } from "../../core/ports/kind-figures.ts";
import { durationBuckets } from "../../core/ports/overview.ts";
import type { Tx } from "../../core/ports/ports.ts";
import { addUp } from "./sql/rollup.ts";
import { execute } from "./statement.ts";

/** Adds up the events of the transactions from `from` up to `upto` whose ids begin at `first`. @returns how many moves. */
export async function addUpTo(tx: Tx, range: { from: string; upto: string; first: string }): Promise<number> {
  const { slowTryMs, lateStartMs } = operationsLimits;
  const bounds = [durationBuckets, slowTryMs / 1_000, lateStartMs / 1_000, hourBuckets];
  const [added] = await execute(tx, addUp, [range.from, range.upto, ...bounds, range.first]);
  return added?.events ?? 0;
}
