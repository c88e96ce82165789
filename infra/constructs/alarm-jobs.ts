import type { Topology } from "../../src/stage/topology.ts";
import type { AlarmChoices, Choice } from "./alarm-choices.ts";
import type { AlarmMaker } from "./alarm-maker.ts";

type Row = readonly [id: string, choice: Choice, metric: string, what: string, section: string, page: boolean];

/**
 * What becomes of jobs of any kind and lane, whichever process runs them. A kind has no alarm of its own: the scheduler reads
 * the worst one from Postgres, and its log names it.
 */
export function addJobAlarms(maker: AlarmMaker, choices: AlarmChoices, topology: Topology): void {
  const { uses } = topology;
  const where = (isUsed: boolean, choice: Choice): Choice => (isUsed ? choice : "none");
  const figures: readonly Row[] = [
    ["FailedJobs", choices.failedJobs, "jobs.failed", "Jobs ended FAILED", "failed-jobs", false],
    ["FailedRuns", where(uses.runs, choices.failedRuns), "runs.failed", "Runs ended FAILED", "failed-runs", true],
    ["LongRuns", where(uses.runs, choices.longRuns), "runs.long", "Runs stay open for days", "long-runs", false],
    ["WaitingDeadLetters", choices.waitingDeadLetters, "jobs.dead", "FAILED jobs wait", "waiting-dead-letters", false],
    ["FailingKind", choices.failingKindPercent, "worst.failed", "Jobs of a kind fail (percent)", "failing-kind", true],
    [
      "FailedItems",
      choices.failedItemsPercent,
      "worst.items.failed",
      "Too many items of a kind of job fail (percent)",
      "failed-items",
      true,
    ],
    ["Execution", choices.slowTriesPercent, "worst.slow", "Attempts of a kind are slow (percent)", "execution", false],
    ["Lateness", choices.lateStartsPercent, "worst.late", "Jobs of a kind start late (percent)", "lateness", false],
    [
      "JobLockFailed",
      choices.jobLockFailedPercent,
      "worst.lock.failed",
      "Most jobs of a kind do not get their lock (percent)",
      "job-lock-failed",
      false,
    ],
    [
      "FastBurn",
      where(uses.objectives, choices.fastBurns),
      "objectives.burning.fast",
      "A schedule misses its objective, fast",
      "burning-objectives",
      true,
    ],
    [
      "SlowBurn",
      where(uses.objectives, choices.slowBurns),
      "objectives.burning.slow",
      "A schedule misses its objective",
      "burning-objectives",
      false,
    ],
    [
      "EndlessTasks",
      choices.endlessTasks,
      "tasks.endless",
      "Tasks run longer than any job and any pass may",
      "endless-tasks",
      false,
    ],
  ];
  for (const [id, choice, name, what, section, page] of figures) {
    maker.add(id, choice, { metric: maker.own(name, "Maximum"), what, section, page });
  }
  addCounts(maker, choices, topology);
}

function addCounts(maker: AlarmMaker, choices: AlarmChoices, { uses, jobTask }: Topology): void {
  const where = (isUsed: boolean, choice: Choice): Choice => (isUsed ? choice : "none");
  const unreadable = "Messages could not be read";
  const undelivered = "Messages of jobs died before a worker claimed them";
  const unknown = "Jobs wait for a person: whether their call was done is unknown";
  const down = "A circuit opened: what its jobs call is down";
  const late = "A sweep starts later than its maxLateness";
  const onFargate = jobTask !== null;
  const counts: readonly Row[] = [
    ["Unreadable", choices.unreadableMessages, "message.unreadable", unreadable, "unreadable", false],
    ["Undelivered", choices.undeliveredJobs, "job.undelivered", undelivered, "undelivered", false],
    ["Ambiguous", where(uses.parking, choices.ambiguousJobs), "job.ambiguous", unknown, "ambiguous", false],
    ["OpenedCircuits", where(uses.circuits, choices.openedCircuits), "circuit.opened", down, "circuit", false],
    ["LateSweep", where(uses.sweeps, choices.lateSweeps), "sweep.late", late, "late-sweep", true],
    [
      "FailedLaunches",
      where(onFargate, choices.failedLaunches),
      "job.launch.failed",
      "Tasks are refused by ECS",
      "failed-launches",
      false,
    ],
  ];
  for (const [id, choice, name, what, section, page] of counts) {
    maker.add(id, choice, { metric: maker.own(name, "Sum"), what, section, page });
  }
  maker.add("PostponedLaunches", where(onFargate, choices.postponedLaunches), {
    metric: maker.own("job.launch.postponed", "Sum"),
    periods: 3,
    what: "Tasks find no room",
    section: "postponed-launches",
  });
}
