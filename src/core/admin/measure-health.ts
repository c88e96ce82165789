import { minuteMs } from "../job/units.ts";
import { operationsLimits } from "../ports/operations-limits.ts";
import type { Ports } from "../ports/ports.ts";
import type { Operations } from "../ports/operations.ts";

/**
 * Once a scheduler task: what alarms are about and no single process knows. Claims and losses are those of the last whole
 * minute, whoever made them. Zeros are left out: each would be a metric to pay for. Never throws.
 */
export async function measureHealth(
  ports: Pick<Ports, "metrics" | "log">,
  operations: Pick<Operations, "health" | "minutes">,
): Promise<void> {
  const { metrics, log } = ports;
  try {
    const { now, overdue, deadRowsPercent, oldestTransactionMs, clockBehindMs } = await operations.health(
      operationsLimits.overdueMs,
    );
    const since = Math.floor(now / minuteMs) * minuteMs - minuteMs;
    const [minute] = await operations.minutes({ since, kind: null, lane: null });
    const isWhole = minute !== undefined && minute.at === since;
    if (isWhole && minute.started > 0) metrics.add("scheduler.jobs.started", minute.started);
    if (isWhole && minute.lost > 0) metrics.add("scheduler.jobs.lost", minute.lost);
    if (overdue > 0) metrics.add("scheduler.occurrences.overdue", overdue);
    if (deadRowsPercent > 0) metrics.add("database.dead_rows", deadRowsPercent, "Percent");
    if (oldestTransactionMs > operationsLimits.oldTransactionMs) {
      metrics.add("database.oldest_transaction", oldestTransactionMs, "Milliseconds");
    }
    if (clockBehindMs > operationsLimits.clockBehindMs)
      metrics.add("database.clock_behind", clockBehindMs, "Milliseconds");
  } catch (error) {
    log.warn("what alarms watch was not measured; the next task does it", { error });
  }
}
