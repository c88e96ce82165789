import type { Topology } from "../../src/stage/topology.ts";
import { jobUses, loads, taskUses } from "./jobs.ts";
import { hoursAMonth, million, prices, use, usdOf } from "../../src/insight/prices.ts";

const runsAMonth = { "each minute": hoursAMonth * 60, "each hour": hoursAMonth, "each day": hoursAMonth / 24 } as const;

/** What one more scheduled kind of job costs: its runs, and nothing besides, because it has no metric and no alarm of its own. */
export function kindPart({ schedulerTask, lanes }: Topology): string {
  const memoryMb = Math.max(...lanes.map((lane) => lane.memoryMb));
  const [alone] = loads;
  const millionUsd = alone === undefined ? 0 : usdOf(jobUses(alone, memoryMb, false));
  const rows = Object.entries(runsAMonth).map(([often, runs]) => {
    const byTick = (runs * millionUsd) / million;
    const byRule =
      byTick +
      usdOf([...taskUses(runs / 60, schedulerTask, "wakes"), use("EventBridge, events", runs / million, "wakes")]);
    return `| ${often} | ${byTick.toFixed(4)} | ${byRule.toFixed(2)} |`;
  });
  const alarm = prices["CloudWatch alarm, metric"].usd;
  const metric = prices["CloudWatch metric"].usd;
  return `## One more scheduled kind of job

It adds no resource, no alarm and no metric: what a kind does is counted in Postgres, and alarms are about the kind that does worst.
1,000 scheduled kinds synthesize with as many resources as one. An alarm and a metric for each would cost ${(alarm + metric).toFixed(2)} a month for each kind and each
question. \`launch: "rule"\` adds one rule, of 300 that a bus has, and starts a task for each time, which is billed as a minute.

| it runs | by the tick, a month | with \`launch: "rule"\`, a month |
|---|---|---|
${rows.join("\n")}
`;
}
