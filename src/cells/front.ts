/** One address for several cells: what is of one cell goes there, lists and figures are merged. */
import { type Context, Hono } from "hono";
import { consolePage, type PageFiles } from "../api/console.ts";
import { localOnly, sameOriginOnly } from "../api/guard.ts";
import { plainHeaders } from "../api/plain-headers.ts";
import { answerProblem, HttpProblem, invalidField } from "../api/problem.ts";
import { numbered } from "../api/request-id.ts";
import type { Log, Random } from "../core/ports/ports.ts";
import { ask, type Asking, everyCell, inOne } from "./ask.ts";
import { type CreateOptions, createThrough } from "./create.ts";
import { eventsOfAll } from "./events.ts";
import { added, type Cursors, lists, merges, page, readCursor, type Row, writeCursor } from "./merge.ts";
import { type CellMap, cellOfId } from "./route.ts";

export interface FrontOptions extends Omit<CreateOptions, "isOld"> {
  /** The newest that a cell knows. */
  readonly map: () => Promise<CellMap>;
  readonly random: Random;
  readonly log: Log;
  readonly console?: () => Promise<PageFiles>;
  /** As of the API. */
  readonly access?: "local" | "signed";
}

const limitUsual = 50;
const limitMax = 500;

export function createFront(options: FrontOptions): Hono {
  const { cells } = options;
  let known: CellMap | null = null;
  const map = async (): Promise<CellMap> => (known ??= await options.map());
  const front = new Hono();
  front.use(numbered(options.random), plainHeaders);
  if (options.access !== "signed") front.use(localOnly);
  front.use(sameOriginOnly);
  // Any request may name the cell that it is for.
  front.use(async (c, next) => {
    const named = c.req.query("cell");
    if (named === undefined) return await next();
    if (!cells.has(named)) throw invalidField("?cell", `must be one of ${[...cells.keys()].join(", ")}`);
    return await ask(cells, named, askingOf(c));
  });
  for (const [path, merge] of Object.entries(merges)) {
    front.get(path, async (c) => {
      const { answers, cellsAway, refusal } = await everyCell(cells, askingOf(c));
      return refusal ?? c.json({ ...merge(answers), cellsAway });
    });
  }
  for (const path of Object.keys(lists)) front.get(path, (c) => listed(c, path, cells));
  front.post("/jobs", (c) => createThrough({ ...options, map, isOld: () => (known = null) }, askingOf(c)));
  front.get("/events", (c) => eventsOfAll(cells, askingOf(c), options));
  for (const thing of ["jobs", "runs", "bulk"]) {
    const byId = async (c: Context): Promise<Response> => {
      const id = c.req.param("id") ?? "";
      const cell = cellOfId(await map(), id);
      if (cell === null)
        throw new HttpProblem(
          `unknown-${thing === "jobs" ? "job" : thing === "runs" ? "run" : "bulk"}`,
          `no cell has drawn the id ${id}`,
        );
      return await ask(cells, cell, askingOf(c));
    };
    front.all(`/${thing}/:id{[1-9][0-9]{0,17}}`, byId);
    front.all(`/${thing}/:id{[1-9][0-9]{0,17}}/*`, byId);
  }
  front.post("/lanes/:name/:change{pause|resume}", (c) => inAll(c, cells));
  front.put("/caps/:kind", (c) => inAll(c, cells));
  for (const path of ["/openapi.json", "/preview"]) front.get(path, (c) => inOne(cells, askingOf(c)));
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

async function listed(c: Context, path: string, cells: FrontOptions["cells"]): Promise<Response> {
  const list = lists[path];
  const asking = askingOf(c);
  if (list === undefined) throw new Error(`${path} is no list`);
  const cursor = asking.query.get("cursor");
  const before: Cursors | null = cursor === null ? {} : readCursor(cursor);
  if (before === null) throw invalidField("?cursor", "must be the nextCursor of the page before");
  const limit = Math.min(limitMax, Number(asking.query.get("limit") ?? limitUsual));
  const open = new Map([...cells].filter(([name]) => before[name] !== null));
  const { answers, cellsAway, refusal } = await everyCell(open, asking, before);
  if (refusal !== null) return refusal;
  const { rows, cursors } = page(list, answers, { query: asking.query, limit, before });
  const isOver = [...cells.keys()].every((name) => cursors[name] === null || cellsAway.includes(name));
  const has = (name: string): boolean => answers.some(({ body }) => body[name] !== undefined);
  const totals: Row = {
    ...(has("complete") ? { complete: answers.every(({ body }) => body["complete"] !== false) } : {}),
    ...(has("total") ? { total: added(answers.map(({ body }) => body["total"])) } : {}),
  };
  return c.json({ [list.member]: rows, nextCursor: isOver ? null : writeCursor(cursors), ...totals, cellsAway });
}

/** The same change in every cell: the first answer, with what each cell answered. */
async function inAll(c: Context, cells: FrontOptions["cells"]): Promise<Response> {
  const { answers, cellsAway, refusal } = await everyCell(cells, askingOf(c));
  if (refusal !== null) return refusal;
  const all = Object.fromEntries(answers.map(({ cell, body }) => [cell, body]));
  return c.json({ ...answers[0]?.body, cells: all, cellsAway });
}
