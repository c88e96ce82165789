/** Requests to the APIs of the cells, with the credentials of the caller. */
import { HttpProblem } from "../api/problem.ts";
import type { Answered, Cursors, Row } from "./merge.ts";

export interface FrontCell {
  /** Address of its API. */
  readonly api: string;
}

/** What the caller asked the front. */
export interface Asking {
  readonly request: Request;
  readonly path: string;
  readonly query: URLSearchParams;
}

type FrontCells = ReadonlyMap<string, FrontCell>;

/** A cell that takes longer is away: the others' rows are worth more than its own. */
const answerMs = 10_000;
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
}

/** Hands the request to one cell. @throws HttpProblem when it does not answer. */
export async function ask(
  cells: FrontCells,
  cell: string,
  asking: Asking,
  settings: AskSettings = {},
): Promise<Response> {
  const { request, query } = asking;
  const method = settings.method ?? request.method;
  const url = new URL(settings.path ?? asking.path, cells.get(cell)?.api);
  const own = new URLSearchParams(query);
  own.delete("cell");
  url.search = settings.path === undefined ? own.toString() : "";
  const body = settings.body ?? (["GET", "HEAD"].includes(method) ? null : await request.clone().text());
  try {
    const answer = await fetch(url, {
      method,
      headers: headersOf(request, settings.headers),
      redirect: "manual",
      signal: AbortSignal.any([request.signal, AbortSignal.timeout(answerMs)]),
      ...(body === null || body === "" ? {} : { body }),
    });
    const headers = new Headers(answer.headers);
    for (const name of keptHere) headers.delete(name);
    return new Response(answer.body, { status: answer.status, headers });
  } catch (error) {
    const detail = `cell "${cell}" does not answer: whether it did what was asked is not known; ask again`;
    throw new HttpProblem("cell-away", detail, { extra: { cell }, headers: { "retry-after": "2" }, cause: error });
  }
}

export interface FromAll {
  readonly answers: readonly Answered[];
  /** Cells that did not answer, or could not. */
  readonly cellsAway: readonly string[];
  /** What a cell refused, as every cell would. */
  readonly refusal: Response | null;
}

/** Hands the request to each cell. @throws HttpProblem when none answers. */
export async function everyCell(cells: FrontCells, asking: Asking, cursors: Cursors = {}): Promise<FromAll> {
  const answers: Answered[] = [];
  const cellsAway: string[] = [];
  let refusal: Response | null = null;
  const body = ["GET", "HEAD"].includes(asking.request.method) ? {} : { body: await asking.request.text() };
  await Promise.all(
    [...cells.keys()].map(async (cell) => {
      const query = new URLSearchParams(asking.query);
      query.delete("cursor");
      const cursor = cursors[cell];
      if (typeof cursor === "string") query.set("cursor", cursor);
      const answer = await ask(cells, cell, { ...asking, query }, body).catch(() => null);
      if (answer === null || answer.status >= 500) cellsAway.push(cell);
      else if (answer.status >= 400) refusal = answer;
      else answers.push({ cell, body: (await answer.json()) as Row });
    }),
  );
  if (refusal === null && answers.length === 0 && cells.size > 0) {
    throw new HttpProblem("cell-away", `no cell answers: ${cellsAway.toSorted().join(", ")}`, {
      headers: { "retry-after": "2" },
    });
  }
  const order = [...cells.keys()];
  return {
    answers: answers.toSorted((a, b) => order.indexOf(a.cell) - order.indexOf(b.cell)),
    cellsAway: cellsAway.toSorted(),
    refusal,
  };
}

/** What is the same in every cell: of the first that answers. */
export async function inOne(cells: FrontCells, asking: Asking): Promise<Response> {
  for (const cell of cells.keys()) {
    const answer = await ask(cells, cell, asking).catch(() => null);
    if (answer !== null && answer.status < 500) return answer;
  }
  throw new HttpProblem("cell-away", "no cell answers", { headers: { "retry-after": "2" } });
}
