/** Metrics that AWS itself writes, as far as alarms read them: no process of ours emits them, so they are played here. */
import { type AlarmMetric, dimensionsOf, type Emitted } from "./emitted.ts";

/** Of a system that is well. */
const well: Readonly<Record<string, number>> = {
  ApproximateNumberOfMessagesVisible: 0,
  ApproximateAgeOfOldestMessage: 1,
  FailedInvocations: 0,
  Throttles: 0,
  Errors: 0,
  Duration: 1_000,
  Url5xxCount: 0,
  FreeStorageSpace: 15e9,
  DatabaseConnections: 12,
  FreeableMemory: 300e6,
  CPUUtilization: 12,
  CPUCreditBalance: 280,
  MaximumUsedTransactionIDs: 1e6,
  StatusCheckFailed: 0,
};

/** One wrong value of one of them, by what is wrong. */
export const awsFaults: Readonly<
  Record<string, { readonly metric: string; readonly of: RegExp; readonly value: number }>
> = {
  "a dead-letter queue is not drained": {
    metric: "ApproximateNumberOfMessagesVisible",
    of: /LanemailDeadLetters/,
    value: 3,
  },
  "workers do not keep up": { metric: "ApproximateAgeOfOldestMessage", of: /LanemailQueue/, value: 900 },
  "a wake could not start a task": { metric: "ApproximateNumberOfMessagesVisible", of: /LostWakes/, value: 1 },
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
  "storage runs out": { metric: "FreeStorageSpace", of: /Database/, value: 2e9 },
  "connections run out": { metric: "DatabaseConnections", of: /Database/, value: 95 },
  "the database is short of memory": { metric: "FreeableMemory", of: /Database/, value: 20e6 },
  "the database's CPU is busy": { metric: "CPUUtilization", of: /Database/, value: 98 },
  "CPU credits are used up": { metric: "CPUCreditBalance", of: /Database/, value: 0 },
  "transaction ids run out": { metric: "MaximumUsedTransactionIDs", of: /Database/, value: 1.5e9 },
  "the NAT instance is dead": { metric: "StatusCheckFailed", of: /Nat/i, value: 1 },
};

/**
 * A value for each metric of AWS that an alarm reads; those that `over` names have its value.
 * @throws Error for a metric that has no healthy value here, and for a fault that no alarm's metric is about.
 */
export function awsMetrics(
  read: readonly AlarmMetric[],
  over: { readonly metric: string; readonly of: RegExp; readonly value: number } | null,
): readonly Emitted[] {
  let changed = 0;
  const all = read.map((metric): Emitted => {
    const value = well[metric.MetricName];
    if (value === undefined) throw new Error(`${metric.MetricName} has no healthy value in aws-metrics.ts: add one`);
    const isMeant = over?.metric === metric.MetricName && over.of.test(JSON.stringify(metric.Dimensions));
    if (isMeant) changed += 1;
    return {
      name: metric.MetricName,
      unit: "None",
      dimensions: dimensionsOf(metric) as Readonly<Record<string, string>>,
      values: [isMeant ? over.value : value],
    };
  });
  if (over !== null && changed !== 1)
    throw new Error(`${over.metric} ${over.of} is read by ${changed} alarms, not by one`);
  return all;
}
