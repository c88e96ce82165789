/** POST /jobs of the front: routed as every enqueue is, and written by the API of the cell that has the key. */
import type { HttpProblem } from "../api/problem.ts";
import { cellMapHeader, preparedProblem } from "../api/routes/create-job.ts";
import { startableKind } from "../api/startable-kind.ts";
import type { Registry } from "../core/define/definition.ts";
import { cellOfId } from "../core/ports/cell-map.ts";
import type { Enqueued } from "../core/ports/client.ts";
import { CellMapChanged, StoreAway } from "../core/ports/ports.ts";
import { ask, type Asking, cellAway, inOne, type Reach } from "./ask.ts";
import { CellsFailed, enqueueRouted, mapOf, OldCellAway, type Routing } from "./routing.ts";

interface Body {
  readonly kind?: unknown;
  readonly payload?: unknown;
  readonly key?: unknown;
}

export interface Creating {
  readonly reach: Reach;
  readonly routing: Routing;
  readonly registry: Registry;
}

/** An answer that is none of routing's business: what the API of the cell refused. */
class Refused extends Error {
  readonly answer: Response;
  constructor(answer: Response) {
    super("the cell refused the job");
    this.answer = answer;
  }
}

export async function createThrough({ reach, routing, registry }: Creating, asking: Asking): Promise<Response> {
  const body = await bodyOf(asking.request);
  // What no release would take is refused by any of them, in the words of the API.
  if (typeof body?.kind !== "string") return await inOne(reach, asking);
  // A kind or a payload that this release does not take is not handed on: a newer one might write it in the wrong cell.
  const definition = startableKind(registry, body.kind);
  const header = asking.request.headers.get("idempotency-key");
  const key = typeof body.key === "string" ? body.key : header === null ? undefined : unquoted(header);
  const written: { answer?: Response } = {};
  try {
    const items = [{ payload: body.payload, key }];
    const [made] = await enqueueRouted(routing, { definition, items }, async (cell, [item], { mapVersion }) => {
      const own = JSON.stringify(item?.key === undefined ? body : { ...body, key: item.key });
      written.answer = await posted(reach, { cell, asking, body: own, mapVersion });
      const { id, created } = (await written.answer.clone().json()) as Enqueued;
      return [{ id, created }];
    });
    return written.answer ?? (await kept(reach, routing, String(made?.id), asking));
  } catch (thrown) {
    const { error, cell } =
      thrown instanceof CellsFailed && thrown.failed[0] !== undefined ? thrown.failed[0] : { error: thrown, cell: "" };
    if (error instanceof Refused) return error.answer;
    if (error instanceof OldCellAway) throw cellAway(error.cell, `${error.message}: nothing was written`, error);
    if (error instanceof StoreAway) throw cellAway(cell, error.message, error);
    throw preparedProblem(error);
  }
}

async function posted(
  reach: Reach,
  { cell, asking, body, mapVersion }: { cell: string; asking: Asking; body: string; mapVersion: number },
): Promise<Response> {
  const headers = { [cellMapHeader]: String(mapVersion), "content-type": "application/json" };
  const answer = await ask(reach, cell, asking, { headers, body }).catch((error: HttpProblem) => {
    throw isUnreached(error) ? new StoreAway(error.message, { cause: error }) : error;
  });
  if (answer.ok) return answer;
  const { code } = (await answer.clone().json()) as { code?: string };
  throw code === "cell-map-changed" ? new CellMapChanged("the front's cell map is old") : new Refused(answer);
}

/** No process listened, so nothing was done. */
function isUnreached({ cause }: HttpProblem): boolean {
  const reason = cause instanceof Error ? (cause.cause as { readonly code?: unknown } | undefined) : undefined;
  return reason?.code === "ECONNREFUSED" || reason?.code === "ENOTFOUND";
}

/** The answer for a key that a cell keeps which had its range before. */
async function kept(reach: Reach, routing: Routing, id: string, asking: Asking): Promise<Response> {
  const path = `/jobs/${id}`;
  const answer = await ask(reach, cellOfId(await mapOf(routing), id) ?? "", asking, { method: "GET", path });
  if (answer.status !== 200) return answer;
  const job = (await answer.json()) as object;
  return Response.json({ created: false, notes: [], ...job }, { headers: { location: path } });
}

const unquoted = (header: string): string => /^"(.*)"$/.exec(header)?.[1] ?? header;

async function bodyOf(request: Request): Promise<Body | null> {
  try {
    const body: unknown = JSON.parse(await request.clone().text());
    return typeof body === "object" && body !== null && !Array.isArray(body) ? body : null;
  } catch {
    return null;
  }
}
