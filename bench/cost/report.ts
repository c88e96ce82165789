import { rowsTable } from "../table.ts";
import type { Cost } from "./cost.ts";
import { demandTable } from "../../scripts/costs/scale.ts";

const rounded = (values: readonly number[]): readonly string[] =>
  values.map((value) => Math.round(value).toLocaleString("en-US"));

/** For people: a line a kind of work, all of it a job. */
export const costTable = (costs: readonly Cost[]): string =>
  rowsTable(
    ["a job", ">WAL B", ">Postgres us", ">Node us", ">statements", ">connection ms", ">SQS calls", ">log B", ">kept B"],
    costs.map((each) => [
      each.work,
      ...rounded([each.walBytes, each.postgresUs, each.nodeUs]),
      ...[each.statements, each.connectionMs, each.sqsCalls].map((value) => value.toFixed(value >= 1 ? 2 : 3)),
      Math.round(each.logBytes),
      Math.round(each.keptBytes),
    ]),
  );

/** What so many jobs a day ask of one stage, as docs/scale.md has it. */
export function scaleTable(costs: readonly Cost[]): string {
  const cost = costs.find(({ work }) => work === "job, ten a batch");
  if (cost === undefined) throw new Error('no cost of "job, ten a batch" was measured');
  return demandTable(cost);
}
