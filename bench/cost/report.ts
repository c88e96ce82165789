import { demandTable, measuredTable } from "../../scripts/costs/scale.ts";
import type { Cost } from "./cost.ts";

/** The two tables of docs/scale.md: a line a kind of work, all of it a job, and what so many jobs a day ask of one stage. */
export function costReport(costs: readonly Cost[]): string {
  const cost = costs.find(({ work }) => work === "job, ten a batch");
  if (cost === undefined) throw new Error('no cost of "job, ten a batch" was measured');
  return `${measuredTable(costs)}\n\n${demandTable(cost)}`;
}
