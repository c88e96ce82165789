/** Metrics that AWS itself writes, as far as alarms read them: no process of Belfry emits them, so they are played here. */
import { type AlarmMetric, dimensionsOf, type Emitted } from "./emitted.ts";

/** Of a system that is well. */
const well: Readonly<Record<string, number>> = {
  ApproximateNumberOfMessagesVisible: 0,
  NumberOfMessagesSent: 0,
  ApproximateAgeOfOldestMessage: 1,
  FailedInvocations: 0,
  Throttles: 0,
  Errors: 0,
  Duration: 1_000,
  Url5xxCount: 0,
  FreeStorageSpace: 15e9,
  DatabaseConnections: 12,
  FreeableMemory: 300e6,
  SwapUsage: 20e6,
  IamDbAuthConnectionFailure: 0,
  CPUUtilization: 12,
  CPUCreditBalance: 280,
  MaximumUsedTransactionIDs: 1e6,
  StatusCheckFailed: 0,
  ErrorPortAllocation: 0,
};

interface Value {
  readonly metric: string;
  readonly of: RegExp;
  readonly value: number;
}

/** One wrong value of one of them, by what is wrong. */
export const awsFaults: Readonly<Record<string, Value>> = {
  "a dead-letter queue is not drained": {
    metric: "ApproximateNumberOfMessagesVisible",
    of: /LanemailDeadLetters/,
    value: 3,
  },
  "workers do not keep up": { metric: "ApproximateAgeOfOldestMessage", of: /LanemailQueue/, value: 900 },
  "a wake could not start a task": { metric: "NumberOfMessagesSent", of: /LostWakes/, value: 1 },
  "the end of a task could not be settled": {
    metric: "ApproximateNumberOfMessagesVisible",
    of: /LostEvents/,
    value: 1,
  },
  "EventBridge may not start tasks": { metric: "FailedInvocations", of: /Wakepass/, value: 5 },
  "the API throttles": { metric: "Throttles", of: /HttpApi/, value: 12 },
  "a worker's function crashes": { metric: "Errors", of: /LanemailWorker/, value: 1 },
  "the drain times out": { metric: "Errors", of: /DeadLettersDrain/, value: 1 },
  "an invocation takes almost all of its time": { metric: "Duration", of: /LanemailWorker/, value: 59_500 },
  "storage is used up to a tenth": { metric: "FreeStorageSpace", of: /Database/, value: 2e9 },
  "storage runs out and RDS adds none": { metric: "FreeStorageSpace", of: /Database/, value: 1.4e9 },
  "connections run out": { metric: "DatabaseConnections", of: /Database/, value: 95 },
  "the database is short of memory": { metric: "FreeableMemory", of: /Database/, value: 20e6 },
  "the database swaps": { metric: "SwapUsage", of: /Database/, value: 400e6 },
  "the database refuses sign-ins": { metric: "IamDbAuthConnectionFailure", of: /Database/, value: 3 },
  "the database's CPU is busy": { metric: "CPUUtilization", of: /Database/, value: 98 },
  "CPU credits are used up": { metric: "CPUCreditBalance", of: /Database/, value: 0 },
  "transaction ids run out": { metric: "MaximumUsedTransactionIDs", of: /Database/, value: 1.5e9 },
  "the NAT instance is dead": { metric: "StatusCheckFailed", of: /Nat/i, value: 1 },
};

/**
 * A value for each metric of AWS that an alarm reads; the one that each of `over` names has its value.
 * @throws Error for a metric that has no healthy value here, and for a fault that no alarm's metric is about.
 */
export function awsMetrics(read: readonly AlarmMetric[], ...over: readonly Value[]): readonly Emitted[] {
  const unread = new Set(over);
  // Two alarms may read one metric.
  const series = new Map(read.map((metric) => [JSON.stringify([metric.MetricName, metric.Dimensions]), metric]));
  const all = [...series.values()].map((metric): Emitted => {
    const value = well[metric.MetricName];
    if (value === undefined) throw new Error(`${metric.MetricName} has no healthy value in aws-metrics.ts: add one`);
    const dimensions = JSON.stringify(metric.Dimensions);
    const meant = over.find(({ metric: name, of }) => name === metric.MetricName && of.test(dimensions));
    if (meant !== undefined && !unread.delete(meant)) throw new Error(`${meant.metric} ${meant.of} is read twice`);
    return {
      name: metric.MetricName,
      unit: "None",
      dimensions: dimensionsOf(metric) as Readonly<Record<string, string>>,
      values: [meant?.value ?? value],
    };
  });
  for (const { metric, of } of unread) throw new Error(`${metric} ${of} is read by no alarm`);
  return all;
}
