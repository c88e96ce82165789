import type { Store } from "../machine/store.ts";
import { costTable } from "./cost-table.ts";
import { type CostFacts, costFacts, costGrouping, type Costs, costPeriod, costsOf } from "./costs.ts";
import { csv } from "./csv.ts";
import type { Database } from "./sql-query.ts";

export type { CostLine, Costs } from "./costs.ts";

export interface CostsOptions {
  /** Days in UTC as YYYY-MM-DD. Default: this month, with today. */
  readonly from?: string;
  /** The first day that is not in it. */
  readonly to?: string;
  /** What is added up. Default `kind`. */
  readonly by?: Costs["by"];
  /** Of the database, a month. Default: what the deployment says, which knows the price of its own instance. */
  readonly databaseUsd?: number;
}

interface CostSource {
  readonly insight: Database;
  readonly facts: CostFacts;
  readonly store: Pick<Store, "now">;
}

const bound: unique symbol = Symbol.for("belfry.costs@1");
/** One for all copies of Belfry in the process. */
const place = globalThis as { [bound]?: CostSource };

/** Makes `readCosts()` work in this process. */
export function bindCosts({ insight, store }: Omit<CostSource, "facts">, of: Parameters<typeof costFacts>[0]): void {
  place[bound] = { insight, store, facts: costFacts(of) };
}

/**
 * What jobs cost, estimated by list prices: as `GET /costs`.
 * @throws RangeError naming what it cannot take; Error outside of a handler.
 */
export async function readCosts({ from, to, by = "kind", databaseUsd }: CostsOptions = {}): Promise<Costs> {
  const source = place[bound];
  if (source === undefined)
    throw new Error("readCosts() works in a handler: elsewhere ask GET /costs of the API, or `belfry costs`");
  if (!costGrouping.safeParse(by).success)
    throw new RangeError(`by is ${JSON.stringify(by)}: it must be kind, schedule or key`);
  if (databaseUsd !== undefined && !(databaseUsd >= 0 && databaseUsd < 1e9))
    throw new RangeError(`databaseUsd is ${databaseUsd}: it must be an amount in USD below a billion`);
  const { insight, facts, store } = source;
  const now = await store.now();
  return await costsOf(insight, {
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
