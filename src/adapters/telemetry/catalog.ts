/** A metric of ours, and what it costs: CloudWatch bills each combination of name and dimensions by the hour it is written in. */
export interface MetricShape {
  readonly writer: "scheduler" | "worker";
  /** `always`: also by a system without jobs; `busy`: while jobs run; `fault`: only when something is wrong. */
  readonly when: "always" | "busy" | "fault";
  /** What it is told apart by, besides stage and lane. Only where an alarm reads it so. */
  readonly by?: "job" | "step";
}

const always = { writer: "scheduler", when: "always" } as const;
const passes = { writer: "scheduler", when: "busy" } as const;
const passFault = { writer: "scheduler", when: "fault" } as const;
const tries = { writer: "worker", when: "busy" } as const;
const tryFault = { writer: "worker", when: "fault" } as const;

/** Every metric that this code writes. Those of an app (`ctx.metric`) are its own. */
export const catalog: Readonly<Record<string, MetricShape>> = {
  "scheduler.lock.acquired": always,
  "scheduler.schedules": passes,
  "scheduler.occurrences": passes,
  "scheduler.relayed": passes,
  "scheduler.pruned": passes,
  "scheduler.pruned.occurrences": passes,
  "scheduler.resolved": passes,
  "scheduler.runs.closed": passes,
  "scheduler.woken": passes,
  "scheduler.lock.failed": passFault,
  "scheduler.lock.outage": passFault,
  "scheduler.missed": passFault,
  "scheduler.payload.failed": passFault,
  "scheduler.undecided": passFault,
  "scheduler.resent": passFault,
  "scheduler.requeued": passFault,
  "scheduler.rescued": passFault,
  "scheduler.lock.skipped": passFault,
  "scheduler.jobs.started": passes,
  "scheduler.jobs.lost": passFault,
  "scheduler.jobs.canceled": passFault,
  "scheduler.occurrences.overdue": passFault,
  "database.dead_rows": passFault,
  "database.oldest_transaction": passFault,
  "database.clock_behind": passFault,
  "scheduler.step.failed": { ...passFault, by: "step" },
  "rescue.messages.lost": passFault,
  "events.published": passes,
  "events.publish.failed": passFault,
  "run.done": passes,
  "run.failed": passFault,
  "run.canceled": passFault,
  "job.rescued": tryFault,
  "job.undelivered": tryFault,
  // Passes write it too, without a job.
  "scheduler.execution.time": { ...tries, by: "job" },
  "scheduler.items.processed": { ...tries, by: "job" },
  "scheduler.items.failed": { ...tries, by: "job" },
  "scheduler.items.succeeded": tries,
  "scheduler.items.left": tries,
  "job.lateness": { ...tries, by: "job" },
  "job.success": tries,
  "job.queued": tries,
  "job.retry_wait": tryFault,
  "job.failed": tryFault,
  "job.ambiguous": tryFault,
  "job.canceled": tryFault,
  "job.skipped": tryFault,
  "job.refused": tryFault,
  "job.settle.refused": tryFault,
  "job.on_settled.failed": tryFault,
  "aftermath.failed": tryFault,
  "job.child.conflicts": tryFault,
  "job.launch.failed": tryFault,
  "job.launch.postponed": tryFault,
  "job.task.stopped": tryFault,
  "fanout.targets": tries,
  "fanout.conflicts": tryFault,
  "sweep.lateness": tries,
  "sweep.late": { ...tryFault, by: "job" },
  "sweep.created": tries,
  "sweep.known": tries,
};

const dimensionsOfOurs = ["job", "step", "reason"];

/**
 * The dimensions that a metric keeps. A kind that no alarm is about is added to the others: it would be one more metric
 * to pay for. @param jobs the kinds that alarms are about.
 */
export function kept(
  name: string,
  dimensions: Readonly<Record<string, string>>,
  jobs: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  const shape = catalog[name];
  if (shape === undefined) return dimensions;
  return Object.fromEntries(
    Object.entries(dimensions).filter(([dimension, value]) => {
      if (!dimensionsOfOurs.includes(dimension)) return true;
      return dimension === shape.by && (dimension !== "job" || jobs.has(value));
    }),
  );
}
