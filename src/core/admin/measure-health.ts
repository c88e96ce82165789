import type { Instant } from "../job/job.ts";
import { minuteMs } from "../job/units.ts";
import { operationsLimits } from "../ports/operations-limits.ts";
import type { Registry } from "../define/definition.ts";
import { archiveLimits } from "../scheduler/archive-limits.ts";
import { passLimits } from "../scheduler/pass-limits.ts";
import type { Ports } from "../ports/ports.ts";
import type { Operations } from "../ports/operations.ts";

type Measured = Pick<Operations, "health" | "minutes" | "failures" | "archiveLags">;
type MeasuringPorts = Pick<Ports, "metrics" | "log" | "launcher" | "schedulerTasksSince">;

/**
 * Once in a scheduler task: the figures of the whole system that alarms need. Zeros are left out, because each metric costs.
 * Never throws.
 */
export async function measureHealth(
  ports: MeasuringPorts,
  operations: Measured,
  registry: Pick<Registry, "jobs">,
): Promise<void> {
  try {
    const now = await measureDatabase(ports, operations);
    await measureFailures(ports, operations);
    await measureArchive(ports, operations);
    await measureTasks(ports, registry, now);
  } catch (error) {
    ports.log.warn("what alarms watch was not measured; the next task does it", { error });
    ports.metrics.add("scheduler.step.failed", 1);
  }
}

/** Claims and losses are those of the last whole minute. @returns the time. */
async function measureDatabase({ metrics }: MeasuringPorts, operations: Measured): Promise<Instant> {
  const { now, overdue, longRuns, deadRowsPercent, oldestTransactionMs, clockBehindMs } = await operations.health(
    operationsLimits.overdueMs,
  );
  const since = Math.floor(now / minuteMs) * minuteMs - minuteMs;
  const [minute] = await operations.minutes({ since, kinds: null, lane: null });
  const isWhole = minute !== undefined && minute.at === since;
  if (isWhole && minute.started > 0) metrics.add("scheduler.jobs.started", minute.started);
  if (isWhole && minute.lost > 0) metrics.add("scheduler.jobs.lost", minute.lost);
  if (overdue > 0) metrics.add("scheduler.occurrences.overdue", overdue);
  if (longRuns > 0) metrics.add("runs.long", longRuns);
  if (deadRowsPercent > 0) metrics.add("database.dead_rows", deadRowsPercent, "Percent");
  if (oldestTransactionMs > operationsLimits.oldTransactionMs) {
    metrics.add("database.oldest_transaction", oldestTransactionMs, "Milliseconds");
  }
  if (clockBehindMs > operationsLimits.clockBehindMs)
    metrics.add("database.clock_behind", clockBehindMs, "Milliseconds");
  return now;
}

/** One figure for all kinds of jobs: a metric and an alarm for each kind would cost more than most jobs do. */
async function measureFailures({ metrics, log }: MeasuringPorts, operations: Measured): Promise<void> {
  const { jobs, runs, dead, worst } = await operations.failures();
  if (jobs > 0) metrics.add("jobs.failed", jobs);
  if (runs > 0) metrics.add("runs.failed", runs);
  if (dead > 0) metrics.add("jobs.dead", dead);
  for (const [what, kind] of Object.entries(worst)) {
    if (kind === null) continue;
    metrics.add(`worst.${what}`, kind.percent, "Percent");
    log.info("the kind of job that does worst", { what, ...kind });
  }
}

/** Rows wait for more of them by design, at most so long; only what is beyond it is behind. */
async function measureArchive({ metrics }: MeasuringPorts, operations: Measured): Promise<void> {
  const lags = (await operations.archiveLags()).map(({ lagMs }) => lagMs);
  const mostMs = Math.max(0, ...lags);
  if (mostMs > 2 * archiveLimits.rowsWaitMs) metrics.add("archive.lag", mostMs, "Milliseconds");
}

/** A task whose process hangs is billed until it is stopped, whether it runs a job, a schedule or passes. */
async function measureTasks(
  { metrics, launcher, schedulerTasksSince }: MeasuringPorts,
  { jobs }: Pick<Registry, "jobs">,
  now: Instant,
): Promise<void> {
  const longestMs = Math.max(passLimits.wakeMs, ...[...jobs.values()].map(({ timeoutMs }) => timeoutMs));
  const before = now - longestMs - operationsLimits.endlessTaskMs;
  const ofJobs = (await launcher?.runningSince(before)) ?? 0;
  const ofScheduler = (await schedulerTasksSince?.(before)) ?? 0;
  if (ofJobs + ofScheduler > 0) metrics.add("tasks.endless", ofJobs + ofScheduler);
}
