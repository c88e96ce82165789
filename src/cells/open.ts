/** The cells that a file names: `{ "a": { "number", "stage", "databaseUrl" } }`, or `function` in place of `databaseUrl`. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { serviceUrl } from "../aws/address.ts";
import { signedFetch } from "../aws/signed-fetch.ts";
import { createCellStore } from "../postgres/cell-store.ts";
import { openConnections } from "../postgres/connect.ts";
import { createSession } from "../postgres/session.ts";
import { type CellMap, cellLimits, checkCellMap } from "../machine/cell-map.ts";
import type { CellStores, ChangedCell } from "./move.ts";

const arn = /^arn:[^:]+:lambda:[^:]+:\d{12}:function:[^:]+$/;

const places = z.record(
  z.string(),
  z
    .strictObject({
      number: z
        .int()
        .min(0)
        .max(cellLimits.cellsMax - 1),
      stage: z.string().min(1),
      databaseUrl: z.string().min(1).optional(),
      function: z.string().regex(arn, "must be the ARN of the stage's migration function").optional(),
    })
    .refine(
      (place) => (place.databaseUrl === undefined) !== (place.function === undefined),
      "must have databaseUrl or function, not both",
    ),
);

export type CellPlaces = z.infer<typeof places>;

/** @throws RangeError that names the file, the field and the rule. */
export function readCells(file: string): CellPlaces {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new RangeError(`${file} cannot be read as JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = places.safeParse(content);
  if (parsed.success && Object.keys(parsed.data).length > 0) return parsed.data;
  const issue = parsed.error?.issues[0];
  throw new RangeError(`${file}: ${issue?.path.join(".") || "(root)"}: ${issue?.message ?? "must name a cell"}`);
}

/** The map lies in databases that many may read: it has no addresses of databases, which may hold passwords. */
export const withoutDatabases = (cells: CellPlaces): CellMap["cells"] =>
  Object.fromEntries(Object.entries(cells).map(([name, { number, stage }]) => [name, { number, stage }]));

/** Nothing is opened before the first use. @param env for `AWS_ENDPOINT_URL_LAMBDA` */
export function openCells(
  cells: CellPlaces,
  env: Readonly<Record<string, string | undefined>>,
): { readonly stores: CellStores; close(): Promise<void> } {
  const closes: (() => Promise<void>)[] = [];
  const stores = Object.entries(cells).map(([name, { databaseUrl: url, function: migration }]) => {
    if (url === undefined) return [name, deployedStore(migration ?? "", env["AWS_ENDPOINT_URL_LAMBDA"])] as const;
    const { main, where, close } = openConnections({ url, applicationName: "belfry cells" });
    closes.push(close);
    return [name, createCellStore(createSession(main, where))] as const;
  });
  return {
    stores: new Map(stores),
    async close() {
      await Promise.all(closes.map((close) => close()));
    },
  };
}

/** The function may start cold, and a map waits for the writes under way. */
const invokeMs = 60_000;

/** The cell map of a deployed stage: its migration function reads and writes it, which reaches the database as for a release. */
function deployedStore(migration: string, endpoint?: string): ChangedCell {
  const region = migration.split(":")[3] ?? "";
  const path = `/2015-03-31/functions/${encodeURIComponent(migration)}/invocations`;
  const url = new URL(path, endpoint ?? serviceUrl("lambda", region, false)).href;
  const invoke = async (cellMap: CellMap | null): Promise<{ map: CellMap | null; isInstalled: boolean }> => {
    const response = await signedFetch({
      url,
      method: "POST",
      service: "lambda",
      region,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ CellMap: cellMap }),
      timeoutMs: invokeMs,
    });
    const text = await response.text();
    if (response.ok && response.headers.get("x-amz-function-error") === null) return JSON.parse(text) as never;
    throw new Error(`${migration} answered ${response.status}: ${text.slice(0, 500)}`);
  };
  return {
    async map() {
      const { map } = await invoke(null);
      return map === null ? null : checkCellMap(map);
    },
    install: async (map) => (await invoke(map)).isInstalled,
  };
}
