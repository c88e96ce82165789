import type { Topology } from "../../src/stage/topology.ts";
import { catalog, idleMetrics } from "../../src/aws/telemetry/catalog.ts";
import { assumptions, gb, million, use, type Use, workUses } from "../../src/insight/prices.ts";

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

/** To SQS and CloudWatch, through a NAT gateway where there is one. */
const networkBytesAnInvocation = 6_000;

/** A million jobs that succeed at their first try: sent, received, run, deleted. */
export function jobUses({ jobsABatch }: Load, memoryMb: number, hasGateway: boolean): readonly Use[] {
  const calls = million / jobsABatch;
  const gbSeconds = (calls * (assumptions.invocationMs / 1_000) * memoryMb) / 1_024;
  return [
    ...workUses({ attempts: million, calls, gbSeconds }),
    ...(hasGateway ? [use("NAT gateway, data", (calls * networkBytesAnInvocation) / gb, "calls of AWS")] : []),
  ];
}

/** Own metrics that are written in a month. @param when which of them: those of a fault are paid by the hour it lasts. */
export function metricUses({ lanes }: Topology, when: "always" | "busy"): Use {
  if (when === "always") return use("CloudWatch metric", idleMetrics.length, "metrics of an idle system");
  const busy = Object.values(catalog).filter((shape) => shape.when === "busy");
  const amount = busy.reduce((sum, { by }) => sum + (by === "lane" ? lanes.length : 1), 0);
  return use("CloudWatch metric", amount, "metrics while jobs run");
}

/** A task of a size for some hours. 1,024 of `cpu` are a core. */
export function taskUses(
  hours: number,
  { cpu, memoryMb }: { readonly cpu: number; readonly memoryMb: number },
  what: string,
  isSpot = false,
): readonly Use[] {
  return [
    use(isSpot ? "Fargate Spot ARM, CPU" : "Fargate ARM, CPU", (hours * cpu) / 1_024, what),
    use(isSpot ? "Fargate Spot ARM, memory" : "Fargate ARM, memory", (hours * memoryMb) / 1_024, what),
  ];
}
