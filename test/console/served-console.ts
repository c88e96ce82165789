import { once } from "node:events";
import type { Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { consolePage, type PageFiles } from "../../src/api/console.ts";
import { createApi } from "../../src/api/api.ts";
import { openApi } from "../api/harness.ts";
import { consoleApp, plantConsole } from "./planted-console.ts";

/** What the API answers: rows, no rows, an error, or rows with `hostileText` in every field that holds text. */
export type Mode = "loaded" | "empty" | "error" | "hostile";

type Opened = Awaited<ReturnType<typeof openApi>>;

/** The page before the real API, on a database with the rows of `plantConsole`. */
export interface ServedConsole extends Opened {
  readonly url: string;
  /** For every request after this one. */
  mode: Mode;
  /** Method and path of each request for data, in order. */
  readonly requests: string[];
  /** Path and query of each of them. */
  readonly queries: string[];
  /** What was sent to be changed, in order. */
  readonly bodies: object[];
  readonly streams: Streams;
  stop(): Promise<void>;
}

/** The streams of events that are open. */
interface Streams {
  /** Breaks every one. */
  cut(): void;
  readonly listeners: () => number;
  /** The `Last-Event-ID` of each, in order. */
  readonly resumed: (string | null)[];
  /** Whether each ends with the present events, as on Lambda. */
  endsAtOnce: boolean;
}

export async function serveConsole(files: PageFiles): Promise<ServedConsole> {
  const closing: (() => Promise<void>)[] = [];
  const open = (apps: Parameters<typeof openApi>[0]): Promise<Opened> =>
    openApi(apps, { ticks: true, own: true, closes: (close) => void closing.push(close) });
  const loaded = await open([consoleApp]);
  await plantConsole(loaded);
  const openEmpty = async (): Promise<Opened> => {
    const opened = await open([]);
    await opened.pool.query("delete from belfry.schedule");
    return opened;
  };
  let empty: Promise<Opened> | undefined;
  let endingApi: ReturnType<typeof createApi> | undefined;
  const state = { mode: "loaded" as Mode, requests: [] as string[], queries: [] as string[], bodies: [] as object[] };
  const streams = { endsAtOnce: false, resumed: [] as (string | null)[], open: new Set<ServerResponse>() };
  const app = new Hono();
  app.route(
    "/console",
    consolePage(() => Promise.resolve(files)),
  );
  app.get("/events", (c) => {
    streams.resumed.push(c.req.header("last-event-id") ?? null);
    const { outgoing } = c.env as { outgoing: ServerResponse };
    streams.open.add(outgoing);
    outgoing.once("close", () => streams.open.delete(outgoing));
    const ending = () => (endingApi ??= createApi({ ...loaded.options, endsStreams: true }));
    return (streams.endsAtOnce ? ending() : loaded.api).fetch(c.req.raw);
  });
  app.all("*", async (c) => {
    const { method, path } = c.req;
    state.requests.push(`${method} ${path}`);
    state.queries.push(c.req.url.slice(new URL(c.req.url).origin.length));
    if (state.mode === "error") {
      return c.json({ code: "store-away", detail: "the database does not answer: try again in a few seconds" }, 503);
    }
    const text = await c.req.raw.clone().text();
    if (text !== "") state.bodies.push(JSON.parse(text) as object);
    const headers = new Headers(c.req.raw.headers);
    headers.delete("accept-encoding");
    const { api } = state.mode === "empty" ? await (empty ??= openEmpty()) : loaded;
    const answer = await api.fetch(new Request(c.req.raw, { headers }));
    return state.mode === "hostile" ? c.json(hostile(await answer.json()) as object) : answer;
  });
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    for (const each of streams.open) each.destroy();
  };
  return Object.assign(state, loaded, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    streams: Object.assign(streams, { cut, listeners: () => streams.open.size }),
    async stop() {
      server.closeAllConnections();
      server.close();
      for (const close of closing) await close();
    },
  });
}

/** Text that would do harm if anything of it were taken for markup, script, an address or a direction of writing. */
export const hostileText =
  '<img src=x onerror="window.hit=1"><script>window.hit=1</script>{{7*7}} javascript:alert(1) \u202Egnp.exe \u0007 ' +
  "\u202E".repeat(2) +
  "A".repeat(300);

/** Fields whose values decide what the page does, and are therefore closed sets, numbers or times. */
const meant =
  /^(state|outcome|result|status|join|from|to|id|job|jobId|run|newest|source|cursor|nextCursor|.*At|.*From|.*To)$/;
const plain = /^(\d+|[\d-]{10}T[\d:.]+Z?)$/;

function hostile(value: unknown, name = ""): unknown {
  if (typeof value === "string") return meant.test(name) || plain.test(value) ? value : hostileText;
  if (Array.isArray(value)) return value.map((each) => hostile(each, name));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hostile(each, key)]));
}
