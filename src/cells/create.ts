/** POST /jobs of the front: the cell that has the key writes the job, once. */
import type { Sought } from "../adapters/postgres/cell-store.ts";
import { HttpProblem } from "../api/problem.ts";
import { cellMapHeader } from "../api/routes/create-job.ts";
import { canonical } from "../core/define/new-job.ts";
import type { InsertResult } from "../core/ports/ports.ts";
import { ask, type Asking, type FrontCell } from "./ask.ts";
import type { RouteBy } from "./client.ts";
import { type CellMap, cellOf, rangeOf } from "./route.ts";

export interface CreateOptions {
  readonly cells: ReadonlyMap<string, FrontCell>;
  readonly map: () => Promise<CellMap>;
  /** The map was older than the one of a cell: read it again. */
  readonly isOld: () => void;
  readonly routeBy?: RouteBy;
  /** The key that a definition makes of a payload; null: none. */
  readonly keyOf: (kind: string, payload: unknown) => Promise<string | null>;
  /** What a cell keeps under a key. */
  readonly find: (cell: string, sought: Sought) => Promise<InsertResult | null>;
}

/** Moves that may happen while one request is routed. */
const roundsMax = 10;
let turn = 0;

export async function createThrough(options: CreateOptions, asking: Asking): Promise<Response> {
  const { cells, routeBy = ({ key: own }) => own } = options;
  const body = await bodyOf(asking.request);
  const kind = typeof body?.["kind"] === "string" ? body["kind"] : null;
  // What no cell would take is refused by any of them, in the words of the API.
  if (body === null || kind === null) return await ask(cells, anyOf(cells), asking);
  const key = await keyOf(options, body, asking.request);
  for (let round = 0; ; round += 1) {
    const map = await options.map();
    const text = routeBy({ kind, key });
    if (text !== null && key !== null) {
      const kept = await keptBefore(options, map, { text, kind, key, payload: body["payload"] }, asking);
      if (kept !== null) return kept;
    }
    const cell = text === null ? anyOf(cells) : cellOf(map, text);
    const headers = { [cellMapHeader]: String(map.version), "content-type": "application/json" };
    const answer = await ask(cells, cell, asking, {
      headers,
      body: JSON.stringify(key === null ? body : { ...body, key }),
    });
    if (answer.status !== 409 || round >= roundsMax || !(await isOfOldMap(answer))) return answer;
    options.isOld();
  }
}

const anyOf = (cells: CreateOptions["cells"]): string => [...cells.keys()][turn++ % cells.size] ?? "";

const isOfOldMap = async (answer: Response): Promise<boolean> =>
  ((await answer.clone().json()) as { code?: unknown }).code === "cell-map-changed";

async function bodyOf(request: Request): Promise<Record<string, unknown> | null> {
  try {
    const body: unknown = JSON.parse(await request.clone().text());
    return typeof body === "object" && body !== null && !Array.isArray(body) ? (body as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

async function keyOf(options: CreateOptions, body: Record<string, unknown>, request: Request): Promise<string | null> {
  if (typeof body["key"] === "string") return body["key"];
  const header = request.headers.get("idempotency-key");
  if (header !== null) return /^"(.*)"$/.exec(header)?.[1] ?? header;
  return await options.keyOf(String(body["kind"]), body["payload"]);
}

/** The answer for a key that a cell keeps which had its range before. */
async function keptBefore(
  { cells, find }: CreateOptions,
  map: CellMap,
  { text, kind, key, payload }: { text: string; kind: string; key: string; payload: unknown },
  asking: Asking,
): Promise<Response | null> {
  for (const old of rangeOf(map, text).was ?? []) {
    const found = await find(old, { kind, key, canonicalInput: canonical(payload) }).catch((error: unknown) => {
      const detail = `cell "${old}" had this key before and does not answer: nothing was written`;
      throw new HttpProblem("cell-away", detail, {
        extra: { cell: old },
        headers: { "retry-after": "2" },
        cause: error,
      });
    });
    if (found === null) continue;
    if (found.conflict !== null) {
      const detail = `key ${JSON.stringify(key)} of "${kind}" already belongs to job ${found.id} with another payload`;
      throw new HttpProblem("key-conflict", detail, { extra: { conflict: { jobId: found.id, ...found.conflict } } });
    }
    const path = `/jobs/${found.id}`;
    const answer = await ask(cells, old, asking, { method: "GET", path });
    if (answer.status !== 200) return answer;
    const job = (await answer.json()) as object;
    return Response.json({ created: false, notes: [], ...job }, { headers: { location: path } });
  }
  return null;
}
