/** One address for several cells: what is of one cell goes there, lists and figures are merged. */
import { type Context, Hono } from "hono";
import { consolePage, type PageFiles } from "../api/console.ts";
import { localOnly, sameOriginOnly } from "../api/guard.ts";
import { plainHeaders } from "../api/plain-headers.ts";
import { answerProblem, HttpProblem, invalidField } from "../api/problem.ts";
import { numbered } from "../api/request-id.ts";
import type { Registry } from "../core/define/definition.ts";
import { cellOfId, type CellStore } from "../core/ports/cell-map.ts";
import type { Log, Random } from "../core/ports/ports.ts";
import { ask, type Asking, everyCell, type FrontCell, inOne, type AskedByCell, type Reach } from "./ask.ts";
import { createThrough } from "./create.ts";
import { eventsOfAll } from "./events.ts";
import type { Fold } from "./fold.ts";
import { bulkJoint, changesOfAll, merges, wholeBulk } from "./merge.ts";
import { listed, lists, outcomes, withFields } from "./pages.ts";
import { mapOf, type RouteBy, type Routing, routingOver } from "./routing.ts";
import { placeSchedule, askSchedule } from "./schedules.ts";

export interface FrontOptions {
  readonly cells: ReadonlyMap<string, FrontCell & { readonly store: Pick<CellStore, "map" | "find"> }>;
  /** Of the release that the cells run: it says which key a payload makes. */
  readonly registry: Registry;
  readonly routeBy?: RouteBy;
  readonly random: Random;
  readonly log: Log;
  readonly console?: () => Promise<PageFiles>;
  /** As of the API. */
  readonly access?: "local" | "signed";
}

/** A caller that names a cell waits for it as for any stage. */
const namedMs = 30_000;

export function createFront(options: FrontOptions): Hono {
  const { cells, registry } = options;
  const reach: Reach = { cells, away: new Map() };
  const routing = routingOver(new Map([...cells].map(([name, { store }]) => [name, store])), options.routeBy);
  const front = new Hono();
  front.use(numbered(options.random), plainHeaders);
  if (options.access !== "signed") front.use(localOnly);
  front.use(sameOriginOnly);
  // Any request may name the cell that it is for.
  front.use(async (c, next) => {
    const named = c.req.query("cell");
    if (named === undefined) return await next();
    if (!cells.has(named)) throw invalidField("?cell", `must be one of ${[...cells.keys()].join(", ")}`);
    return await ask(reach, named, askingOf(c), { waitMs: namedMs });
  });
  merged(front, reach);
  front.post("/jobs", (c) => createThrough({ reach, routing, registry }, askingOf(c)));
  front.get("/events", (c) => eventsOfAll(cells, askingOf(c), options));
  byId(front, reach, routing);
  front.post("/schedules", (c) => placeSchedule(reach, routing, askingOf(c)));
  for (const path of ["/schedules/:id", "/schedules/:id/:of"])
    front.all(path, (c) => askSchedule(reach, c.req.param("id") ?? "", askingOf(c)));
  for (const path of ["/openapi.json", "/preview"]) front.get(path, (c) => inOne(reach, askingOf(c)));
  front.get("/livez", (c) => c.json({ status: "ok" }));
  if (options.console !== undefined) {
    front.route("/console", consolePage(options.console));
    front.get("/", (c) => c.redirect("/console/"));
  }
  front.notFound((c) => {
    const detail = `this is not merged over the cells: name one, ?cell=${[...cells.keys()].join(" or ?cell=")}`;
    return answerProblem(c, new HttpProblem("ask-the-cell", detail, { extra: { cells: [...cells.keys()] } }));
  });
  front.onError((error, c) => {
    if (error instanceof HttpProblem) return answerProblem(c, error);
    options.log.error("request failed", { method: c.req.method, path: c.req.path, error });
    return answerProblem(c, new HttpProblem("internal", "the request failed; the log has a line with this request id"));
  });
  return front;
}

const askingOf = (c: Context): Asking => ({
  request: c.req.raw,
  path: c.req.path,
  query: new URL(c.req.url).searchParams,
});

function merged(front: Hono, reach: Reach): void {
  for (const [path, { fold, asks = {} }] of Object.entries(merges)) {
    front.get(path, (c) => {
      const asking = askingOf(c);
      return folded(reach, { ...asking, query: withFields(asking.query, asks) }, fold);
    });
  }
  for (const [route, fold] of Object.entries(changesOfAll)) {
    const [method = "", path = ""] = route.split(" ");
    front.on(method, path, (c) => folded(reach, askingOf(c), fold));
  }
  for (const path of Object.keys(lists)) front.get(path, (c) => listed(reach, path, askingOf(c)));
  front.get("/schedule-outcomes", (c) => outcomes(reach, askingOf(c)));
}

async function folded(reach: Reach, asking: Asking, fold: Fold<object>, parts?: AskedByCell): Promise<Response> {
  const { answers, status, cellsAway, refusal } = await everyCell(reach, asking, parts);
  if (refusal !== null) return refusal;
  const isChange = asking.request.method !== "GET";
  const cells = isChange ? { cells: Object.fromEntries(answers.map(({ cell, value }) => [cell, value])) } : {};
  return Response.json({ ...fold(answers), ...cells, cellsAway }, { status });
}

const unknown = { jobs: "unknown-job", runs: "unknown-run", bulk: "unknown-bulk" } as const;

/** The cell that drew an id has what it is of. */
function byId(front: Hono, reach: Reach, routing: Routing): void {
  const cellIn = async (thing: keyof typeof unknown, id: string): Promise<string> => {
    const cell = cellOfId(await mapOf(routing), id);
    if (cell === null) throw new HttpProblem(unknown[thing], `no cell has drawn the id ${id}`);
    return cell;
  };
  for (const thing of ["jobs", "runs", "bulk"] as const) {
    const asked = async (c: Context): Promise<Response> =>
      await ask(reach, await cellIn(thing, c.req.param("id") ?? ""), askingOf(c));
    front.all(`/${thing}/:id{[1-9][0-9]{0,17}}`, asked);
    front.all(`/${thing}/:id{[1-9][0-9]{0,17}}/*`, asked);
  }
  const whole = async (c: Context): Promise<Response> => {
    const ids = (c.req.param("id") ?? "").split(bulkJoint);
    const parts = ids.map(
      async (id) => [await cellIn("bulk", id), { path: c.req.path.replace(/[\d-]+/, id) }] as const,
    );
    return await folded(reach, askingOf(c), wholeBulk, new Map(await Promise.all(parts)));
  };
  front.get("/bulk/:id{[1-9][0-9]{0,17}(-[1-9][0-9]{0,17}){1,63}}", whole);
  front.post("/bulk/:id{[1-9][0-9]{0,17}(-[1-9][0-9]{0,17}){1,63}}/stop", whole);
}
