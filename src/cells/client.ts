/** One client for several cells: each job goes to the cell that has its key. */
import type { JobDefinition } from "../define/definition.ts";
import type { Client } from "../run/enqueue.ts";
import type { CellStore } from "../machine/cell-map.ts";
import type { EnqueueClient } from "../machine/client.ts";
import { enqueueRouted, type RouteBy, routingOver } from "./routing.ts";

export interface OpenCell {
  readonly client: Pick<Client, "enqueue">;
  readonly store: Pick<CellStore, "map" | "find">;
}

export function createCellsClient(cells: ReadonlyMap<string, OpenCell>, routeBy?: RouteBy): EnqueueClient {
  const routing = routingOver(new Map([...cells].map(([name, { store }]) => [name, store])), routeBy);
  return {
    async enqueue(given, items, settings = {}) {
      const definition = given as JobDefinition;
      return await enqueueRouted(routing, { definition, items, settings }, async (cell, some, options) => {
        const open = cells.get(cell);
        if (open === undefined) throw new Error(`cell "${cell}" is not connected`);
        return await open.client.enqueue(definition, some, options);
      });
    },
  };
}
