/** The cells that a file names, and their databases: `{ "a": { "number", "stage", "api", "databaseUrl" } }`. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { createCellStore } from "../adapters/postgres/cell-store.ts";
import { openConnections } from "../adapters/postgres/connect.ts";
import { createSession } from "../adapters/postgres/session.ts";
import { type CellMap, cellLimits } from "../core/ports/cell-map.ts";
import type { CellStores } from "./move.ts";

const places = z.record(
  z.string(),
  z.strictObject({
    number: z
      .int()
      .min(0)
      .max(cellLimits.cellsMax - 1),
    stage: z.string().min(1),
    api: z.url(),
    databaseUrl: z.string().min(1),
  }),
);

export type CellPlaces = z.infer<typeof places>;

/** @throws RangeError that names the file, the field and the rule. */
export function readCells(file: string): CellPlaces {
  let given: unknown;
  try {
    given = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new RangeError(`${file} cannot be read as JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = places.safeParse(given);
  if (parsed.success && Object.keys(parsed.data).length > 0) return parsed.data;
  const issue = parsed.error?.issues[0];
  throw new RangeError(`${file}: ${issue?.path.join(".") || "(root)"}: ${issue?.message ?? "must name a cell"}`);
}

/** The map lies in databases that many may read: it has no addresses of databases, which may hold passwords. */
export const withoutDatabases = (cells: CellPlaces): CellMap["cells"] =>
  Object.fromEntries(Object.entries(cells).map(([name, { number, stage, api }]) => [name, { number, stage, api }]));

/** Nothing is opened before the first use. */
export function openCells(cells: CellPlaces): { readonly stores: CellStores; close(): Promise<void> } {
  const opened = Object.entries(cells).map(([name, { databaseUrl: url }]) => ({
    name,
    // A move holds one of them while it writes on the other.
    connections: openConnections({
      url,
      applicationName: "belfry cells",
      connections: 2,
      idleInTransactionMs: 600_000,
    }),
  }));
  return {
    stores: new Map(
      opened.map(({ name, connections: { main, where } }) => [name, createCellStore(createSession(main, where))]),
    ),
    async close() {
      await Promise.all(opened.map(({ connections }) => connections.close()));
    },
  };
}
