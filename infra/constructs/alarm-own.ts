import { Duration } from "aws-cdk-lib";
import { TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import type { Topology } from "../../src/stage/topology.ts";
import type { AlarmChoices } from "./alarm-choices.ts";
import { type AlarmMaker, share } from "./alarm-maker.ts";

type Name = keyof AlarmChoices;
type Rows = { readonly [N in Name]?: readonly [id: string, metric: string, what: string, section?: string] };

/** Whether passes are made and all of their steps succeed. A row's section of the runbook is its id in small letters. */
const countsOfPasses: Rows = {
  lockOutages: ["LockOutage", "scheduler.lock.outage", "The lock store is away"],
  lockSkips: ["LockSkipped", "scheduler.lock.skipped", "Wakes are skipped: the lock store is away"],
  rescues: ["Rescues", "scheduler.jobs.lost", "Jobs were rescued from silent workers"],
  failedSteps: ["FailedSteps", "scheduler.step.failed", "Steps of passes fail"],
  failedPublishes: ["FailedPublishes", "events.publish.failed", "Events are not accepted"],
  failedArchives: ["FailedArchives", "archive.failed", "What is pruned cannot be archived"],
};

/**
 * What only the database knows, as a scheduler task reads it once. A kind has no alarm of its own: of all kinds it is the worst
 * one, which the log names.
 */
const figures: Rows = {
  overdueOccurrences: ["Overdue", "scheduler.occurrences.overdue", "Occurrences are past and undecided"],
  deadRowsPercent: ["DeadRows", "database.dead_rows", "Dead rows pile up (percent of a table)"],
  oldestTransactionSeconds: ["OldestTransaction", "database.oldest_transaction", "A transaction stays open (ms)"],
  archiveLagSeconds: ["LateArchive", "archive.lag", "What is past its retention waits for the archive (ms)"],
  clockBehindSeconds: [
    "ClockBehind",
    "database.clock_behind",
    "The database's clock stepped back: schedules wait for it (ms)",
  ],
  failedJobs: ["FailedJobs", "jobs.failed", "Jobs ended FAILED"],
  failedRuns: ["FailedRuns", "runs.failed", "Runs ended FAILED"],
  longRuns: ["LongRuns", "runs.long", "Runs stay open for days"],
  waitingDeadLetters: ["WaitingDeadLetters", "jobs.dead", "FAILED jobs wait"],
  failingKindPercent: ["FailingKind", "worst.failed", "Jobs of a kind fail (percent)"],
  failedItemsPercent: ["FailedItems", "worst.items.failed", "Too many items of a kind of job fail (percent)"],
  slowTriesPercent: ["Execution", "worst.slow", "Attempts of a kind are slow (percent)"],
  lateStartsPercent: ["Lateness", "worst.late", "Jobs of a kind start late (percent)"],
  jobLockFailedPercent: ["JobLockFailed", "worst.lock.failed", "Most jobs of a kind do not get their lock (percent)"],
  fastBurns: ["FastBurn", "objectives.burning.fast", "A schedule misses its objective, fast", "burning-objectives"],
  slowBurns: ["SlowBurn", "objectives.burning.slow", "A schedule misses its objective", "burning-objectives"],
  endlessTasks: ["EndlessTasks", "tasks.endless", "Tasks run longer than any job and any pass may"],
};

/** What becomes of jobs of any kind and lane, whichever process runs them. */
const countsOfJobs: Rows = {
  unreadableMessages: ["Unreadable", "message.unreadable", "Messages could not be read"],
  undeliveredJobs: ["Undelivered", "job.undelivered", "Messages of jobs died before a worker claimed them"],
  ambiguousJobs: ["Ambiguous", "job.ambiguous", "Jobs wait for a person: whether their call was done is unknown"],
  openedCircuits: ["OpenedCircuits", "circuit.opened", "A circuit opened: what its jobs call is down", "circuit"],
  lateSweeps: ["LateSweep", "sweep.late", "A sweep starts later than its maxLateness"],
  failedLaunches: ["FailedLaunches", "job.launch.failed", "Tasks are refused by ECS"],
};

const pages: ReadonlySet<string> = new Set<Name>([
  ...(["lockOutages", "lockSkips", "overdueOccurrences", "clockBehindSeconds", "failedRuns"] as const),
  ...(["failingKindPercent", "failedItemsPercent", "fastBurns", "lateSweeps"] as const),
]);

/** Choices about a feature that the stage may not have: an alarm that cannot ring is not made. */
function usesOf({ uses, onLockOutage, publishes, archive, jobTask }: Topology): { readonly [N in Name]?: boolean } {
  return {
    lockSkips: onLockOutage === "skip",
    failedPublishes: publishes,
    failedArchives: archive !== undefined,
    archiveLagSeconds: archive !== undefined,
    failedRuns: uses.runs,
    longRuns: uses.runs,
    fastBurns: uses.objectives,
    slowBurns: uses.objectives,
    ambiguousJobs: uses.parking,
    openedCircuits: uses.circuits,
    lateSweeps: uses.sweeps,
    failedLaunches: jobTask !== null,
    postponedLaunches: jobTask !== null,
  };
}

/** On the metrics that our own processes write. */
export function addOwnAlarms(maker: AlarmMaker, choices: AlarmChoices, topology: Topology): void {
  const uses = usesOf(topology);
  const add = (rows: Rows, statistic: "Sum" | "Maximum"): void => {
    for (const [name, [id, metric, what, section = kebabOf(id)]] of Object.entries(rows)) {
      const choice = uses[name as Name] === false ? "none" : choices[name as Name];
      // Our metrics of time are in milliseconds.
      const threshold = choice !== "none" && name.endsWith("Seconds") ? choice * 1_000 : choice;
      maker.add(id, threshold, { metric: maker.own(metric, statistic), what, section, page: pages.has(name) });
    }
  };
  addPassAlarms(maker, choices);
  add(countsOfPasses, "Sum");
  add(figures, "Maximum");
  add(countsOfJobs, "Sum");
  maker.add("PostponedLaunches", uses.postponedLaunches === false ? "none" : choices.postponedLaunches, {
    metric: maker.own("job.launch.postponed", "Sum"),
    periods: 3,
    what: "Tasks find no room",
    section: "postponed-launches",
  });
}

const kebabOf = (id: string): string => id.replaceAll(/(?<!^)[A-Z]/g, "-$&").toLowerCase();

function addPassAlarms(maker: AlarmMaker, choices: AlarmChoices): void {
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
}
