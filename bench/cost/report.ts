import Table from "cli-table3";
import type { Cost } from "./cost.ts";

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
