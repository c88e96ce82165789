import type { Instant } from "../machine/job.ts";
import { iso, minuteMs } from "../machine/units.ts";
import { insightLimits } from "./insight-limits.ts";
import type { Registry } from "../define/definition.ts";
import { archiveLimits } from "./archive.ts";
import { passLimits } from "../schedule/pass-limits.ts";
import type { Ports } from "../machine/ports.ts";
import { archiveLag } from "./archived.ts";
import { readFailures, readWorstKinds } from "./failures.ts";
import { readHealth } from "./health.ts";
import { readObjectives } from "./objectives.ts";
import { readMinutes } from "./minutes.ts";
import { type Database, oneRow } from "./sql-query.ts";

type MeasuringPorts = Pick<Ports, "metrics" | "log" | "launcher" | "schedulerTasksSince">;

/**
 * Once in a scheduler task: the figures of the whole system that alarms need. Zeros are left out, because each metric costs.
 * Never throws.
 */
export async function measureHealth(
  ports: MeasuringPorts,
  insight: Database,
  registry: Pick<Registry, "jobs">,
): Promise<void> {
  try {
    const now = await measureDatabase(ports, insight);
    await measureFailures(ports, insight);
    await measureObjectives(ports, insight);
    await measureArchive(ports, insight);
    await measureTasks(ports, registry, now);
  } catch (error) {
    ports.log.warn("what alarms watch was not measured; the next task does it", { error });
    ports.metrics.add("scheduler.step.failed", 1);
  }
}

/** Claims and losses are those of the last whole minute. @returns the time. */
async function measureDatabase({ metrics }: MeasuringPorts, insight: Database): Promise<Instant> {
  const { now, overdue, longRuns, deadRowsPercent, oldestTransactionMs, clockBehindMs } = await oneRow(
    insight,
    readHealth,
    insightLimits.overdueMs,
  );
  const since = iso(Math.floor(now / minuteMs) * minuteMs - minuteMs);
  const [minute] = await insight.run(readMinutes, { back: 2, kinds: null, lane: null });
  const isWhole = minute !== undefined && minute.at === since;
  if (isWhole && minute.started > 0) metrics.add("scheduler.jobs.started", minute.started);
  if (isWhole && minute.lost > 0) metrics.add("scheduler.jobs.lost", minute.lost);
  if (overdue > 0) metrics.add("scheduler.occurrences.overdue", overdue);
  if (longRuns > 0) metrics.add("runs.long", longRuns);
  if (deadRowsPercent > 0) metrics.add("database.dead_rows", deadRowsPercent, "Percent");
  if (oldestTransactionMs > insightLimits.oldTransactionMs) {
    metrics.add("database.oldest_transaction", oldestTransactionMs, "Milliseconds");
  }
  if (clockBehindMs > insightLimits.clockBehindMs) metrics.add("database.clock_behind", clockBehindMs, "Milliseconds");
  return now;
}

/** One figure for all kinds of jobs: a metric and an alarm for each kind would cost more than most jobs do. */
async function measureFailures({ metrics, log }: MeasuringPorts, insight: Database): Promise<void> {
  const { jobs, runs, dead } = await oneRow(insight, readFailures, {});
  const failed = Object.values(jobs).reduce((sum, each) => sum + each, 0);
  if (failed > 0) metrics.add("jobs.failed", failed);
  if (runs > 0) metrics.add("runs.failed", runs);
  if (dead > 0) metrics.add("jobs.dead", dead);
  for (const worst of await insight.run(readWorstKinds, {})) {
    metrics.add(`worst.${worst.what}`, worst.percent, "Percent");
    log.info("the kind of job that does worst", { ...worst });
  }
}

/** One figure for all schedules, as for kinds; the log names them. */
async function measureObjectives({ metrics, log }: MeasuringPorts, insight: Database): Promise<void> {
  const { objectives } = await readObjectives(insight, { isWhole: false });
  for (const window of ["fast", "slow"] as const) {
    const burning = objectives.filter((each) => each[window].burns);
    if (burning.length > 0) metrics.add(`objectives.burning.${window}`, burning.length);
    for (const { schedule, [window]: rates } of burning)
      log.warn("a schedule misses too many of its times", { schedule, window, ...rates });
  }
}

/** Rows wait for more of them by design, at most so long; only what is beyond it is behind. */
async function measureArchive({ metrics }: MeasuringPorts, insight: Database): Promise<void> {
  const lags = (await insight.run(archiveLag, {})).map(({ lagMs }) => lagMs);
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
  const before = now - longestMs - insightLimits.endlessTaskMs;
  const ofJobs = (await launcher?.runningSince(before)) ?? 0;
  const ofScheduler = (await schedulerTasksSince?.(before)) ?? 0;
  if (ofJobs + ofScheduler > 0) metrics.add("tasks.endless", ofJobs + ofScheduler);
}
