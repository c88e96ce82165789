import { Duration } from "aws-cdk-lib";
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import type { Function } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import type { Topology } from "../../src/topology.ts";
import type { AlarmChoices, Choice } from "./alarm-choices.ts";
import type { Topics } from "./alarm-topics.ts";
import type { FargateJobs } from "./fargate-jobs.ts";
import type { Lane } from "./lane.ts";
import type { SchedulerTask } from "./scheduler-task.ts";

export interface AlarmsProps {
  readonly topology: Topology;
  readonly choices: AlarmChoices;
  readonly topics: Topics;
  readonly lanes: readonly Lane[];
  readonly functions: readonly Function[];
  readonly scheduler: SchedulerTask;
  /** Null when no job runs on Fargate. */
  readonly jobs: FargateJobs | null;
}

/** Of the metrics that our own processes write (`src/adapters/telemetry`). */
export const ownNamespace = "Belfry";
const runbook = "docs/runbook.md";
const minutes = (count: number): Duration => Duration.minutes(count);

/** All alarms of a deployment. Each says in its description where the runbook has its cause, check and action. */
export class Alarms extends Construct {
  readonly #props: AlarmsProps;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    this.#props = props;
    this.#scheduler();
    this.#database();
    for (const job of props.topology.jobs) this.#job(job);
    for (const lane of props.lanes) this.#lane(lane);
    if (props.jobs !== null) this.#launches(props.jobs);
    this.#rest();
  }

  #scheduler(): void {
    const { choices } = this.#props;
    const silent = choices.schedulerSilentWakes;
    this.#add("SchedulerSilent", silent === "none" ? "none" : 1, {
      metric: this.#own("scheduler.execution.time", "SampleCount", minutes(1)),
      page: true,
      periods: silent === "none" ? 1 : silent,
      below: true,
      missing: TreatMissingData.BREACHING,
      what: "No scheduler task has finished a minute of passes",
      section: "scheduler-silent",
    });
    this.#add("LockFailed", choices.lockFailedPercent, {
      metric: share(
        this.#own("scheduler.lock.failed", "Sum", minutes(5)),
        this.#own("scheduler.lock.acquired", "Sum", minutes(5)),
        "100 * FILL(part, 0) / (FILL(part, 0) + FILL(whole, 0))",
        minutes(5),
      ),
      what: "Most scheduler tasks do not get the lock (percent)",
      section: "lock-failed",
    });
    const skips = this.#props.topology.onLockOutage === "skip" ? choices.lockSkips : "none";
    const sums = [
      ["LockOutage", choices.lockOutages, "scheduler.lock.outage", "The lock store is away", "lock-outage", true],
      [
        "LockSkipped",
        skips,
        "scheduler.lock.skipped",
        "Wakes are skipped: the lock store is away",
        "lock-skipped",
        true,
      ],
      ["Rescues", choices.rescues, "scheduler.jobs.lost", "Jobs were rescued from silent workers", "rescues", false],
    ] as const;
    for (const [id, choice, name, what, section, page] of sums) {
      this.#add(id, choice, { metric: this.#own(name, "Sum", minutes(5)), what, section, page });
    }
    this.#add("RescuedShare", choices.rescuedPercent, {
      metric: share(
        this.#own("scheduler.jobs.lost", "Sum", minutes(5)),
        this.#own("scheduler.jobs.started", "Sum", minutes(5)),
        "IF(FILL(whole, 0) > 0, 100 * FILL(part, 0) / whole, 0)",
        minutes(5),
      ),
      page: true,
      what: "Many of the claimed jobs lose their worker (percent)",
      section: "rescues",
    });
    for (const step of ["tick", "relay", "rescue"]) {
      const metric = this.#own("scheduler.step.failed", "Sum", minutes(5), { step });
      const what = `The step ${step} of a pass failed`;
      this.#add(`StepFailed-${step}`, choices.failedSteps, { metric, what, section: "failed-step" });
    }
  }

  /** What only the database knows, as a scheduler task reads it once. */
  #database(): void {
    const { choices } = this.#props;
    const figures = [
      [
        "Overdue",
        choices.overdueOccurrences,
        "scheduler.occurrences.overdue",
        "Occurrences are past and undecided",
        "overdue",
        true,
      ],
      [
        "DeadRows",
        choices.deadRowsPercent,
        "database.dead_rows",
        "Dead rows pile up (percent of a table)",
        "dead-rows",
        false,
      ],
      [
        "OldestTransaction",
        inMilliseconds(choices.oldestTransactionSeconds),
        "database.oldest_transaction",
        "A transaction stays open (ms)",
        "oldest-transaction",
        false,
      ],
      [
        "ClockBehind",
        inMilliseconds(choices.clockBehindSeconds),
        "database.clock_behind",
        "The database's clock stepped back: schedules wait for it (ms)",
        "clock-behind",
        true,
      ],
    ] as const;
    for (const [id, choice, name, what, section, page] of figures) {
      this.#add(id, choice, { metric: this.#own(name, "Maximum", minutes(5)), what, section, page });
    }
  }

  #job({ kind: job, lane, isSweep }: Topology["jobs"][number]): void {
    const { choices } = this.#props;
    const metric = (name: string, statistic: string) => this.#own(name, statistic, minutes(5), { lane, job }, "worker");
    this.#add(`Execution-${job}`, inMilliseconds(choices.executionP99Seconds), {
      metric: metric("scheduler.execution.time", "p99"),
      what: `The slowest tries of ${job} take too long (ms)`,
      section: "execution",
    });
    this.#add(`Lateness-${job}`, inMilliseconds(choices.latenessP99Seconds), {
      metric: metric("job.lateness", "p99"),
      what: `Jobs of ${job} start too late (ms)`,
      section: "lateness",
    });
    this.#add(`LateSweep-${job}`, isSweep ? choices.lateSweeps : "none", {
      metric: metric("sweep.late", "Sum"),
      page: true,
      what: `The sweep ${job} starts later than its maxLateness`,
      section: "late-sweep",
    });
    // A sweep has no items: its rows become jobs.
    this.#add(`FailedItems-${job}`, isSweep ? "none" : choices.failedItemsPercent, {
      metric: share(
        metric("scheduler.items.failed", "Sum"),
        metric("scheduler.items.processed", "Sum"),
        "IF(FILL(whole, 0) > 0, 100 * FILL(part, 0) / whole, 0)",
        minutes(5),
      ),
      periods: 2,
      page: true,
      what: `Too many items of ${job} fail (percent)`,
      section: "failed-items",
    });
  }

  #lane(lane: Lane): void {
    const { choices } = this.#props;
    this.#add(`DeadLetters-${lane.name}`, choices.deadLetters, {
      metric: lane.deadLetters.metricApproximateNumberOfMessagesVisible({ period: minutes(5), statistic: "Maximum" }),
      page: true,
      what: `The dead-letter queue of lane ${lane.name} is not drained`,
      section: "dead-letters",
    });
    this.#add(`Ambiguous-${lane.name}`, choices.ambiguousJobs, {
      metric: this.#own("job.ambiguous", "Sum", minutes(5), { lane: lane.name }, "worker"),
      what: `Jobs of lane ${lane.name} wait for a person: whether their call was done is unknown`,
      section: "ambiguous",
    });
    this.#add(`OldestMessage-${lane.name}`, choices.oldestMessageSeconds, {
      metric: lane.queue.metricApproximateAgeOfOldestMessage({ period: minutes(5), statistic: "Maximum" }),
      what: `Messages of lane ${lane.name} wait for a worker (seconds)`,
      section: "oldest-message",
    });
  }

  #launches({ lostEvents }: FargateJobs): void {
    const { choices, topology } = this.#props;
    for (const lane of topology.jobTask?.lanes ?? []) {
      this.#add(`FailedLaunches-${lane}`, choices.failedLaunches, {
        metric: this.#own("job.launch.failed", "Sum", minutes(5), { lane }, "worker"),
        what: `Tasks of lane ${lane} are refused by ECS`,
        section: "failed-launches",
      });
      this.#add(`PostponedLaunches-${lane}`, choices.postponedLaunches, {
        metric: this.#own("job.launch.postponed", "Sum", minutes(5), { lane }, "worker"),
        periods: 3,
        what: `Tasks of lane ${lane} find no room`,
        section: "postponed-launches",
      });
    }
    this.#add("LostEvents", choices.lostEvents, {
      metric: lostEvents.metricApproximateNumberOfMessagesVisible({ period: minutes(5), statistic: "Maximum" }),
      what: "Ends of tasks could not be settled",
      section: "lost-events",
    });
  }

  #rest(): void {
    const { choices, scheduler, functions } = this.#props;
    this.#add("LostWakes", choices.lostWakes, {
      metric: scheduler.lostWakes.metricApproximateNumberOfMessagesVisible({
        period: minutes(5),
        statistic: "Maximum",
      }),
      what: "Wakes could not start a task",
      section: "lost-wakes",
    });
    for (const rule of scheduler.rules) {
      this.#add(`FailedInvocations-${rule.node.id}`, choices.failedInvocations, {
        metric: new Metric({
          namespace: "AWS/Events",
          metricName: "FailedInvocations",
          dimensionsMap: { RuleName: rule.ruleName },
          statistic: "Sum",
          period: minutes(5),
        }),
        what: `EventBridge could not start what ${rule.node.id} asks for`,
        section: "failed-invocations",
      });
    }
    for (const fn of functions) {
      this.#add(`Throttles-${fn.node.path.split("/").slice(-3, -1).join("-")}`, choices.throttles, {
        metric: fn.metricThrottles({ period: minutes(5), statistic: "Sum" }),
        what: "Invocations were throttled",
        section: "throttles",
      });
    }
  }

  /** With the dimensions that the process writes: all of them, or CloudWatch finds nothing. */
  #own(
    name: string,
    statistic: string,
    period: Duration,
    more: Record<string, string> = {},
    service = "scheduler",
  ): Metric {
    const dimensionsMap = { service, stage: this.#props.topology.stage, ...more };
    return new Metric({ namespace: ownNamespace, metricName: name, dimensionsMap, statistic, period });
  }

  #add(id: string, choice: Choice, about: AlarmAbout): void {
    if (choice === "none") return;
    const alarm = new Alarm(this, id, {
      metric: about.metric,
      threshold: choice,
      comparisonOperator:
        about.below === true ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: about.periods ?? 1,
      treatMissingData: about.missing ?? TreatMissingData.NOT_BREACHING,
      alarmDescription: `${about.what}: ${runbook}#${about.section}`,
    });
    alarm.addAlarmAction(new SnsAction(about.page === true ? this.#props.topics.page : this.#props.topics.warn));
  }
}

interface AlarmAbout {
  readonly metric: IMetric;
  readonly what: string;
  /** Of docs/runbook.md. */
  readonly section: string;
  readonly page?: boolean;
  readonly periods?: number;
  readonly below?: boolean;
  readonly missing?: TreatMissingData;
}

const inMilliseconds = (seconds: Choice): Choice => (seconds === "none" ? "none" : seconds * 1_000);

const share = (part: IMetric, whole: IMetric, expression: string, period: Duration): IMetric =>
  new MathExpression({ expression, usingMetrics: { part, whole }, period });
