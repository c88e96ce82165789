import { demandTable, jobCost, measuredTable } from "../../scripts/costs/scale.ts";
import type { Cost } from "./cost.ts";

/** The two tables of docs/scale.md: a line a kind of work, all of it a job, and what so many jobs a day ask of one stage. */
export const costReport = (costs: readonly Cost[]): string =>
  `${measuredTable(costs)}\n\n${demandTable(jobCost(new Map(costs.map((each) => [each.work, each]))))}`;
