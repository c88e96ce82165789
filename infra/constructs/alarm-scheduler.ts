import { Duration } from "aws-cdk-lib";
import { TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import type { Topology } from "../../src/stage/topology.ts";
import type { AlarmChoices } from "./alarm-choices.ts";
import { type AlarmMaker, inMilliseconds, share } from "./alarm-maker.ts";

/** Whether passes are made and all of their steps succeed, and what they find out about the database. */
export function addSchedulerAlarms(maker: AlarmMaker, choices: AlarmChoices, topology: Topology): void {
  const silent = choices.schedulerSilentWakes;
  maker.add("SchedulerSilent", silent === "none" ? "none" : 1, {
    metric: maker.own("scheduler.execution.time", "SampleCount", { period: Duration.minutes(1) }),
    page: true,
    periods: silent === "none" ? 1 : silent,
    below: true,
    missing: TreatMissingData.BREACHING,
    what: "No scheduler task has finished a minute of passes",
    section: "scheduler-silent",
  });
  maker.add("LockFailed", choices.lockFailedPercent, {
    metric: share(
      maker.own("scheduler.lock.failed", "Sum"),
      maker.own("scheduler.lock.acquired", "Sum"),
      "100 * FILL(part, 0) / (FILL(part, 0) + FILL(whole, 0))",
    ),
    what: "Most scheduler tasks do not get the lock (percent)",
    section: "lock-failed",
  });
  maker.add("RescuedShare", choices.rescuedPercent, {
    metric: share(
      maker.own("scheduler.jobs.lost", "Sum"),
      maker.own("scheduler.jobs.started", "Sum"),
      "IF(FILL(whole, 0) > 0, 100 * FILL(part, 0) / whole, 0)",
    ),
    page: true,
    what: "Many of the claimed jobs lose their worker (percent)",
    section: "rescues",
  });
  addSums(maker, choices, topology);
  addFigures(maker, choices, topology);
}

function addSums(maker: AlarmMaker, choices: AlarmChoices, { onLockOutage, publishes, archive }: Topology): void {
  const skips = onLockOutage === "skip" ? choices.lockSkips : "none";
  const publishing = publishes ? choices.failedPublishes : "none";
  const archiving = archive === undefined ? "none" : choices.failedArchives;
  const away = "Wakes are skipped: the lock store is away";
  const sums = [
    ["LockOutage", choices.lockOutages, "scheduler.lock.outage", "The lock store is away", "lock-outage", true],
    ["LockSkipped", skips, "scheduler.lock.skipped", away, "lock-skipped", true],
    ["Rescues", choices.rescues, "scheduler.jobs.lost", "Jobs were rescued from silent workers", "rescues", false],
    ["FailedSteps", choices.failedSteps, "scheduler.step.failed", "Steps of passes fail", "failed-steps", false],
    ["FailedPublishes", publishing, "events.publish.failed", "Events are not accepted", "failed-publishes", false],
    ["FailedArchives", archiving, "archive.failed", "What is pruned cannot be archived", "failed-archives", false],
  ] as const;
  for (const [id, choice, name, what, section, page] of sums) {
    maker.add(id, choice, { metric: maker.own(name, "Sum"), what, section, page });
  }
}

/** What only the database knows, as a scheduler task reads it once. */
function addFigures(maker: AlarmMaker, choices: AlarmChoices, { archive }: Topology): void {
  const { overdueOccurrences, deadRowsPercent } = choices;
  const oldestMs = inMilliseconds(choices.oldestTransactionSeconds);
  const behindMs = inMilliseconds(choices.clockBehindSeconds);
  const behind = "The database's clock stepped back: schedules wait for it (ms)";
  const lagMs = archive === undefined ? "none" : inMilliseconds(choices.archiveLagSeconds);
  const late = "What is past its retention waits for the archive (ms)";
  const overdue = "Occurrences are past and undecided";
  const dead = "Dead rows pile up (percent of a table)";
  const open = "A transaction stays open (ms)";
  const figures = [
    ["Overdue", overdueOccurrences, "scheduler.occurrences.overdue", overdue, "overdue", true],
    ["DeadRows", deadRowsPercent, "database.dead_rows", dead, "dead-rows", false],
    ["OldestTransaction", oldestMs, "database.oldest_transaction", open, "oldest-transaction", false],
    ["LateArchive", lagMs, "archive.lag", late, "late-archive", false],
    ["ClockBehind", behindMs, "database.clock_behind", behind, "clock-behind", true],
  ] as const;
  for (const [id, choice, name, what, section, page] of figures) {
    maker.add(id, choice, { metric: maker.own(name, "Maximum"), what, section, page });
  }
}
