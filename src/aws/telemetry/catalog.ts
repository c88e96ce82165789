/** A metric of Belfry, and what it costs: CloudWatch bills each combination of name and dimensions by the hour it is written in. */
export interface MetricShape {
  /** `busy`: while jobs run; `fault`: only when something is wrong. */
  readonly when: "busy" | "fault";
  /** One for each lane, named or that of its job; without it, one for the stage. */
  readonly by?: "lane";
}

const busy = { when: "busy" } as const;
const fault = { when: "fault" } as const;
const busyByLane = { when: "busy", by: "lane" } as const;
const faultByLane = { when: "fault", by: "lane" } as const;

/** Every metric that this code writes. Those of an app (`ctx.metric`) are its own. */
export const catalog: Readonly<Record<string, MetricShape>> = {
  // A pass writes it too, without a job.
  "scheduler.execution.time": busyByLane,
  "scheduler.lock.acquired": busyByLane,
  "scheduler.lock.failed": faultByLane,
  "scheduler.lock.outage": fault,
  "scheduler.lock.skipped": fault,
  "scheduler.payload.failed": fault,
  "scheduler.step.failed": fault,
  "scheduler.jobs.started": busy,
  "scheduler.jobs.lost": fault,
  "scheduler.occurrences.overdue": fault,
  "runs.long": fault,
  "objectives.burning.fast": fault,
  "objectives.burning.slow": fault,
  "jobs.failed": fault,
  "jobs.dead": fault,
  "runs.failed": fault,
  "tasks.endless": fault,
  "aftermath.failed": fault,
  "job.settle.unwritten": faultByLane,
  // The kind of job that does worst, in percent.
  "worst.failed": fault,
  "worst.items.failed": fault,
  "worst.slow": fault,
  "worst.late": fault,
  "worst.lock.failed": fault,
  "database.dead_rows": fault,
  "database.oldest_transaction": fault,
  "database.clock_behind": fault,
  "rescue.messages.lost": fault,
  "messages.resent": faultByLane,
  "archive.failed": fault,
  "archive.lag": fault,
  "events.published": busy,
  "events.publish.failed": fault,
  "run.done": busy,
  "run.failed": fault,
  "run.canceled": fault,
  "message.unreadable": fault,
  "job.rescued": fault,
  "job.undelivered": fault,
  "job.lateness": busyByLane,
  "scheduler.items.processed": busyByLane,
  "scheduler.items.succeeded": busyByLane,
  "scheduler.items.failed": faultByLane,
  "scheduler.items.left": fault,
  "job.success": busyByLane,
  "job.queued": fault,
  "job.retry_wait": faultByLane,
  "job.failed": faultByLane,
  "job.ambiguous": fault,
  "job.canceled": fault,
  "job.skipped": fault,
  "job.refused": fault,
  "circuit.opened": fault,
  "job.settle.refused": fault,
  "job.on_settled.failed": fault,
  "job.child.conflicts": fault,
  "job.launch.failed": fault,
  "job.launch.postponed": fault,
  "job.task.stopped": fault,
  "fanout.targets": busy,
  "fanout.conflicts": fault,
  "sweep.lateness": busy,
  "sweep.late": fault,
  "sweep.created": busy,
  "sweep.known": busy,
};

/** Written by the scheduler task of a system without jobs. */
export const idleMetrics = ["scheduler.execution.time", "scheduler.lock.acquired"] as const;
