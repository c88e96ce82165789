/** Requests to the APIs of the cells, with the credentials of the caller. */
import { HttpProblem } from "../api/problem.ts";
import type { Said } from "./fold.ts";

export interface FrontCell {
  /** Address of its API. */
  readonly api: string;
}

/** The cells of a front, and which of them did not answer the last time. */
export interface Reach {
  readonly cells: ReadonlyMap<string, FrontCell>;
  /** When it first did not, as a time of ISO 8601. */
  readonly away: Map<string, string>;
}

export interface CellAway {
  readonly cell: string;
  readonly since: string;
}

/** What the caller asked the front. */
export interface Asking {
  readonly request: Request;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** A cell that takes longer to read is away: the others' rows are worth more than its own. */
const readMs = 2_000;
const writeMs = 10_000;
const passedOn = [
  "accept",
  "authorization",
  "content-type",
  "if-match",
  "idempotency-key",
  "last-event-id",
  "belfry-version",
];
/** Of one connection alone, or of a body that has been decoded on the way. */
const keptHere = ["connection", "keep-alive", "transfer-encoding", "content-encoding", "content-length"];

export function headersOf(request: Request, more: Readonly<Record<string, string>> = {}): Headers {
  const headers = new Headers(more);
  for (const name of passedOn) {
    const value = request.headers.get(name);
    if (value !== null && !headers.has(name)) headers.set(name, value);
  }
  return headers;
}

export interface AskSettings {
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly body?: string;
  readonly path?: string;
  readonly waitMs?: number;
}

const isRead = (method: string): boolean => method === "GET" || method === "HEAD";

/** Hands the request to one cell. @throws HttpProblem when it does not answer. */
export async function ask(reach: Reach, cell: string, asking: Asking, settings: AskSettings = {}): Promise<Response> {
  const { request, query } = asking;
  const method = settings.method ?? request.method;
  const url = new URL(settings.path ?? asking.path, reach.cells.get(cell)?.api);
  const own = new URLSearchParams(query);
  own.delete("cell");
  url.search = settings.path === undefined ? own.toString() : "";
  const body = isRead(method) ? null : (settings.body ?? (await request.clone().text()));
  const late = AbortSignal.timeout(settings.waitMs ?? (isRead(method) ? readMs : writeMs));
  try {
    const answer = await fetch(url, {
      method,
      headers: headersOf(request, settings.headers),
      redirect: "manual",
      signal: AbortSignal.any([request.signal, late]),
      ...(body === null || body === "" ? {} : { body }),
    });
    if (answer.status < 500) reach.away.delete(cell);
    const headers = new Headers(answer.headers);
    for (const name of keptHere) headers.delete(name);
    return new Response(answer.body, { status: answer.status, headers });
  } catch (error) {
    if (!request.signal.aborted) noteAway(reach, cell);
    const unknown = isRead(method) ? "" : ": whether it did what was asked is not known; ask again";
    throw cellAway(cell, `cell "${cell}" does not answer${unknown}`, error);
  }
}

const noteAway = ({ away }: Reach, cell: string, since = new Date().toISOString()): void => {
  if (!away.has(cell)) away.set(cell, since);
};

export const cellAway = (cell: string, detail: string, cause?: unknown): HttpProblem =>
  new HttpProblem("cell-away", detail, { extra: { cell }, headers: { "retry-after": "2" }, cause });

export interface FromAll {
  /** In the order of the cells. */
  readonly answers: readonly Said<object>[];
  readonly status: number;
  /** Those that did not answer, or could not. */
  readonly cellsAway: readonly CellAway[];
  /** What a cell refused, as every cell would. */
  readonly refusal: Response | null;
}

/** By cell, what is asked of it in place of the caller's own path or query. */
export type AskedByCell = ReadonlyMap<string, Partial<Pick<Asking, "path" | "query">>>;

/** Hands the request to these cells. @throws HttpProblem when none answers. */
export async function everyCell(
  reach: Reach,
  asking: Asking,
  parts: AskedByCell = new Map([...reach.cells.keys()].map((cell) => [cell, {}])),
): Promise<FromAll> {
  const body = isRead(asking.request.method) ? {} : { body: await asking.request.text() };
  const asked = [...parts].map(async ([cell, part]) => {
    const since = reach.away.get(cell);
    const answer = await ask(reach, cell, { ...asking, ...part }, body).catch(() => null);
    if (answer === null) return { cell, answer };
    if (answer.status < 500 && answer.status >= 400) return { cell, answer, refusal: answer };
    // A body that does not come in time is no answer either.
    const value = answer.status >= 500 ? null : ((await answer.json().catch(() => null)) as object | null);
    if (value === null) noteAway(reach, cell, since);
    return { cell, answer, value };
  });
  const all = await Promise.all(asked);
  const answers = all.flatMap(({ cell, value }) => (value == null ? [] : [{ cell, value }]));
  const refusal = all.find((each) => each.refusal !== undefined)?.refusal ?? null;
  const silent = all.filter((each) => each.value == null && each.refusal === undefined).map(({ cell }) => cell);
  if (refusal === null && answers.length === 0 && silent.length > 0) {
    throw cellAway(silent[0] ?? "", `no cell answers: ${silent.join(", ")}`);
  }
  const status = all.find(({ value }) => value != null)?.answer?.status ?? 200;
  const cellsAway = silent
    .toSorted()
    .map((cell) => ({ cell, since: reach.away.get(cell) ?? new Date().toISOString() }));
  return { answers, status, cellsAway, refusal };
}

/** What is the same in every cell: of the first that answers. */
export async function inOne(reach: Reach, asking: Asking): Promise<Response> {
  for (const cell of reach.cells.keys()) {
    const answer = await ask(reach, cell, asking).catch(() => null);
    if (answer !== null && answer.status < 500) return answer;
  }
  throw cellAway([...reach.cells.keys()].join(", "), "no cell answers");
}
