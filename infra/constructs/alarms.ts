import type { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { Topology } from "../../src/stage/topology.ts";
import type { AlarmChoices } from "./alarm-choices.ts";
import { addDatabaseAlarms } from "./alarm-database.ts";
import { addFunctionAlarms } from "./alarm-functions.ts";
import { AlarmMaker, awsMetric, fiveMinutes } from "./alarm-maker.ts";
import { addNetworkAlarms } from "./alarm-network.ts";
import { addOwnAlarms } from "./alarm-own.ts";
import type { AlarmsProps } from "./alarm-props.ts";
import { addDashboard } from "./alarm-dashboard.ts";
import type { Lane } from "./lane.ts";

/** All alarms of a deployment and its dashboard. Their number does not depend on how many kinds of jobs there are. */
export class Alarms extends Construct {
  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { system, topology, choices, topics } = props;
    const maker = new AlarmMaker(this, { system, stage: topology.stage, topics });
    addOwnAlarms(maker, choices, topology);
    for (const lane of props.lanes) addQueueAlarms(maker, choices, lane, longestWayMs(topology, lane));
    addWakeAlarms(maker, choices, props);
    addFunctionAlarms(maker, choices, props.functions);
    if (props.database instanceof Construct) addDatabaseAlarms(maker, choices, { database: props.database, topology });
    addNetworkAlarms(maker, choices, props.network);
    addDashboard(this, maker, props);
  }
}

/** A message counts as waiting from its sending, which is ahead of its time, until its worker has done with it. */
function longestWayMs({ lanes, dispatchWindowMs }: Topology, { name }: Lane): number {
  const { functionTimeoutSeconds = 0 } = lanes.find((lane) => lane.name === name) ?? {};
  return dispatchWindowMs + functionTimeoutSeconds * 1_000;
}

function addQueueAlarms(maker: AlarmMaker, choices: AlarmChoices, lane: Lane, longestWayMs: number): void {
  const { oldestMessageSeconds: oldest } = choices;
  maker.add(`DeadLetters-${lane.name}`, choices.deadLetters, {
    // All the time: one that the drain takes at once may be counted too.
    metric: waitingIn(lane.deadLetters, "Minimum"),
    page: true,
    what: `The dead-letter queue of lane ${lane.name} is not drained`,
    section: "dead-letters",
  });
  maker.add(`OldestMessage-${lane.name}`, oldest === "none" ? oldest : oldest + longestWayMs / 1_000, {
    metric: lane.queue.metricApproximateAgeOfOldestMessage({ period: fiveMinutes, statistic: "Maximum" }),
    what: `Messages of lane ${lane.name} wait for a worker (seconds)`,
    section: "oldest-message",
  });
  maker.add(`Resent-${lane.name}`, choices.resentMessages, {
    metric: maker.own("messages.resent", "Sum", { lane: lane.name }),
    what: `Messages of lane ${lane.name} are sent again and again`,
    section: "resent",
  });
}

/** The rules of single schedules have no alarm of their own: what they could not start is in the queue of lost wakes. */
function addWakeAlarms(maker: AlarmMaker, choices: AlarmChoices, { wakes, lostEvents }: AlarmsProps): void {
  if (wakes.lost !== null) {
    maker.add("LostWakes", choices.lostWakes, {
      // Those of now: what waits in the queue for a person to read is no fault that goes on.
      metric: wakes.lost.metricNumberOfMessagesSent({ period: fiveMinutes, statistic: "Sum" }),
      what: "Wakes could not start a task",
      section: "lost-wakes",
    });
  }
  for (const rule of wakes.rules) {
    maker.add(`FailedInvocations-${rule.node.id}`, choices.failedInvocations, {
      metric: awsMetric("AWS/Events", "FailedInvocations", "Sum", { RuleName: rule.ruleName }),
      what: `EventBridge could not start what ${rule.node.id} asks for`,
      section: "failed-invocations",
    });
  }
  if (lostEvents === null) return;
  maker.add("LostEvents", choices.lostEvents, {
    metric: waitingIn(lostEvents),
    what: "Ends of tasks could not be settled",
    section: "lost-events",
  });
}

const waitingIn = (queue: Queue, statistic: "Maximum" | "Minimum" = "Maximum") =>
  queue.metricApproximateNumberOfMessagesVisible({ period: fiveMinutes, statistic });
