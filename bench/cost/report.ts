import Table from "cli-table3";
import type { Cost } from "./cost.ts";
import { asked, batch, peakFactor } from "./model.ts";

/** For people: a line a kind of work, all of it a job. */
export function costTable(costs: readonly Cost[]): string {
  const table = new Table({
    head: ["a job", "WAL B", "Postgres us", "Node us", "statements", "connection ms", "SQS calls", "log B", "kept B"],
    colAligns: ["left", "right", "right", "right", "right", "right", "right", "right", "right"],
    style: { head: [], border: [] },
  });
  for (const each of costs) {
    const { work, walBytes, postgresUs, nodeUs, statements, connectionMs, sqsCalls, logBytes, keptBytes } = each;
    const rounded = [walBytes, postgresUs, nodeUs].map((value) => Math.round(value).toLocaleString("en-US"));
    const small = [statements, connectionMs, sqsCalls].map((value) => value.toFixed(value >= 1 ? 2 : 3));
    table.push([work, ...rounded, ...small, Math.round(logBytes), Math.round(keptBytes)]);
  }
  return table.toString();
}

const scales = [1e6, 1e7, 1e8, 1e9];

/** What so many jobs a day ask of one stage, from the cost of a job in batches of ten. */
export function scaleTable(costs: readonly Cost[]): string {
  const cost = costs.find(({ work }) => work === "job, ten a batch");
  if (cost === undefined) throw new Error('no cost of "job, ten a batch" was measured');
  const table = new Table({
    head: [
      `jobs a day, ${batch} a batch, peak ${peakFactor} x`,
      "peak a second",
      "Postgres cores",
      "WAL MB/s",
      "connections, 50 ms",
      "connections, 2 s",
      "kept GB",
      "USD a month",
    ],
    colAligns: ["left", "right", "right", "right", "right", "right", "right", "right"],
    style: { head: [], border: [] },
  });
  for (const jobsADay of scales) {
    const each = asked(cost, jobsADay);
    const whole = [each.connections.short, each.connections.long, each.keptGb, each.usdAMonth];
    table.push([
      jobsADay.toExponential(0).replace("+", ""),
      Math.round(each.peakPerSecond).toLocaleString("en-US"),
      each.postgresCores.toFixed(2),
      each.walMbPerSecond.toFixed(2),
      ...whole.map((value) => Math.round(value).toLocaleString("en-US")),
    ]);
  }
  return table.toString();
}
