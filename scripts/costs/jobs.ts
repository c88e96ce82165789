import { type Topology, jobTaskSize } from "../../src/stage/topology.ts";
import { catalog, idleMetrics } from "../../src/aws/telemetry/catalog.ts";
import type { PriceName, Use } from "./prices.ts";

/** How a million jobs are assumed to come. What a handler itself does and calls is the team's own. */
export interface Load {
  readonly name: string;
  /** Jobs that share a message batch, an invocation and a send. */
  readonly jobsABatch: number;
}

export const loads: readonly Load[] = [
  { name: "one at a time", jobsABatch: 1 },
  { name: "ten a batch", jobsABatch: 10 },
];

export const assumed = {
  jobs: 1_000_000,
  /** Of one invocation: handlers of 50 ms side by side, claim and settle around them. */
  invocationMs: 80,
  logBytesAJob: 500,
  logBytesAnInvocation: 1_500,
  /** To SQS and CloudWatch, through a NAT gateway where there is one. */
  networkBytesAnInvocation: 6_000,
} as const;

const million = 1_000_000;
const gb = 1_000_000_000;
const use = (of: PriceName, amount: number, what: string): Use => ({ of, amount, what });

/** A job that succeeds at its first try: sent, received, run, deleted. */
export function jobUses({ jobsABatch }: Load, memoryMb: number, hasGateway: boolean): readonly Use[] {
  const { jobs, invocationMs, logBytesAJob, logBytesAnInvocation, networkBytesAnInvocation } = assumed;
  const invocations = jobs / jobsABatch;
  const gbSeconds = (invocations * (invocationMs / 1_000) * memoryMb) / 1_024;
  const logged = jobs * logBytesAJob + invocations * logBytesAnInvocation;
  return [
    use("SQS, requests", (3 * invocations) / million, "send, receive, delete"),
    use("Lambda, requests", invocations / million, "invocations"),
    use("Lambda ARM, duration", gbSeconds, "run time"),
    use("CloudWatch logs, written", logged / gb, "logs and metrics"),
    ...(hasGateway ? [use("NAT gateway, data", (invocations * networkBytesAnInvocation) / gb, "calls of AWS")] : []),
  ];
}

/** Tasks of the default size. Fargate bills seconds, and a minute at least. */
export function taskUses(tasks: number, minutes: number): readonly Use[] {
  const hours = (tasks * Math.max(1, minutes)) / 60;
  return [
    use("Fargate ARM, CPU", (hours * jobTaskSize.cpu) / 1_024, "CPU"),
    use("Fargate ARM, memory", (hours * jobTaskSize.memoryMb) / 1_024, "memory"),
  ];
}

/** Own metrics that are written in a month. @param when which of them: those of a fault are paid by the hour it lasts. */
export function metricUses({ lanes }: Topology, when: "always" | "busy"): Use {
  if (when === "always") return use("CloudWatch metric", idleMetrics.length, "metrics of an idle system");
  const busy = Object.values(catalog).filter((shape) => shape.when === "busy");
  const amount = busy.reduce((sum, { by }) => sum + (by === "lane" ? lanes.length : 1), 0);
  return use("CloudWatch metric", amount, "metrics while jobs run");
}
