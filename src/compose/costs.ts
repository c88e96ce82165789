import {
  type CostFacts,
  type CostListReply as Costs,
  costPeriod,
  type CostsAsked,
  costTable,
  readCosts as read,
} from "../insight/costs.ts";
import type { Database } from "../insight/sql-query.ts";
import type { Instant } from "../machine/job.ts";
import { csv } from "../outside/csv.ts";

export interface CostsOptions {
  /** Days in UTC as YYYY-MM-DD. Default: this month, with today. */
  readonly from?: string;
  /** The first day that is not in it. */
  readonly to?: string;
  /** What is added up. Default `kind`. */
  readonly by?: CostsAsked["by"];
  /** Of the database, a month. Default: what the deployment says, which knows the price of its own instance. */
  readonly databaseUsd?: number;
}

export interface CostSource {
  readonly insight: Database;
  readonly facts: CostFacts;
  now(): Promise<Instant>;
}

const bound: unique symbol = Symbol.for("belfry.costs@1");
/** One for all copies of Belfry in the process. */
const place = globalThis as { [bound]?: CostSource | null };

export function bindCosts(source: CostSource | null): void {
  place[bound] = source;
}

/**
 * What jobs cost, estimated by list prices: as `GET /costs`.
 * @throws RangeError for days that are no period; Error outside of a handler.
 */
export async function readCosts({ from, to, by = "kind", databaseUsd }: CostsOptions = {}): Promise<Costs> {
  const source = place[bound];
  if (!source)
    throw new Error("readCosts() works in a handler: elsewhere ask GET /costs of the API, or `belfry costs`");
  const { insight, facts } = source;
  const now = await source.now();
  return await read(insight, {
    asked: { ...costPeriod({ from, to }, now), by, kinds: null },
    facts: databaseUsd === undefined ? facts : { ...facts, databaseUsd },
    now,
  });
}

/** A line for each group, for a spreadsheet. */
export function costsCsv(costs: Costs): string {
  const { head, rows } = costTable(costs);
  return csv(head, rows);
}
