/** The page's files with a fake API behind them, so that a test says what it answers. */
import { once } from "node:events";
import type { Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { consolePage, type PageFiles } from "../../src/api/console.ts";
import * as scene from "./scene.ts";
import { kinds } from "./scene-kinds.ts";
import { nightOf } from "./scene-night.ts";
import * as runScene from "./scene-run.ts";
import * as system from "./scene-system.ts";

export type Mode = "loaded" | "empty" | "error" | "hostile";

export interface FakeApi {
  readonly url: string;
  /** What every request after this one is answered with. */
  mode: Mode;
  /** Method and path of each request for data, in order. */
  readonly asked: string[];
  /** Path and query of each of them. */
  readonly queries: string[];
  /** What was sent to be changed, in order. */
  readonly bodies: object[];
  readonly events: EventDesk;
  stop(): Promise<void>;
}

export async function openFakeApi(files: PageFiles): Promise<FakeApi> {
  const events = eventDesk();
  const state: { mode: Mode; asked: string[]; queries: string[]; bodies: object[] } = {
    mode: "loaded",
    asked: [],
    queries: [],
    bodies: [],
  };
  const app = new Hono();
  app.route(
    "/console",
    consolePage(() => Promise.resolve(files)),
  );
  app.get("/events", (c) => events.open(c));
  app.all("*", async (c) => {
    const { method, path } = c.req;
    state.asked.push(`${method} ${path}`);
    state.queries.push(c.req.url.slice(new URL(c.req.url).origin.length));
    const hasBody = method !== "GET" && method !== "DELETE";
    const body = hasBody ? await c.req.json() : {};
    if (hasBody) state.bodies.push(body);
    if (state.mode === "error") {
      return c.json({ code: "store-away", detail: "the database does not answer: try again in a few seconds" }, 503);
    }
    const answer =
      method === "POST" && path === "/jobs"
        ? { ...scene.detailOf(3, "PENDING"), created: true }
        : answerOf(path, state.mode, { ...c.req.query(), ...body });
    if (answer === "bad")
      return c.json({ code: "invalid-expression", detail: `${c.req.query("expression")}: has 4 fields` }, 400);
    if (answer === null) return c.json({ code: "no-such-route", detail: `there is no ${method} ${path}` }, 404);
    return c.json((state.mode === "hostile" ? hostile(answer) : answer) as object);
  });
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get mode() {
      return state.mode;
    },
    set mode(mode: Mode) {
      state.mode = mode;
    },
    asked: state.asked,
    queries: state.queries,
    bodies: state.bodies,
    events,
    async stop() {
      events.cut();
      server.closeAllConnections();
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}

function answerOf(path: string, mode: Mode, body: Readonly<Record<string, unknown>>): unknown {
  const isEmpty = mode === "empty";
  const list = <T>(rows: readonly T[]): readonly T[] => (isEmpty ? [] : rows);
  const jobs = Array.from({ length: 40 }, (_, index) => scene.jobOf(140 - index));
  const routes: readonly (readonly [RegExp, () => unknown])[] = [
    [/^\/summary$/, () => (isEmpty ? system.emptySummary : scene.summary)],
    [/^\/jobs\/counts$/, () => (isEmpty ? scene.noCounts : scene.counts)],
    [/^\/jobs$/, () => ({ jobs: list(jobs), nextCursor: null, complete: true })],
    [/^\/jobs\/\d+\/attempts\/\d+$/, () => scene.attempt],
    [/^\/jobs\/1$/, () => scene.detailOf(1, "FAILED")],
    [/^\/jobs\/2$/, () => scene.detailOf(2, "RUNNING")],
    [/^\/jobs\/\d+(\/[\w-]+)?$/, () => ({ ...scene.detailOf(3, "PENDING"), explanation })],
    [/^\/schedule-outcomes$/, () => outcomesFor(isEmpty, body)],
    [/^\/kind-figures$/, () => (isEmpty ? { ...scene.kindFigures, kinds: [] } : scene.kindFigures)],
    [/^\/night$/, () => (isEmpty ? { ...nightOf(body as never), rows: [] } : nightOf(body as never))],
    [/^\/upcoming$/, () => (isEmpty ? { ...scene.upcoming, times: [], jobs: [], parts: [] } : scene.upcoming)],
    [/^\/schedules\/by-hand$/, () => ({ ...scene.schedules[0], versions: [{ spec: { payload: { reportId: 9 } } }] })],
    [/^\/schedules\/[^/]+$/, () => scene.schedules[0]],
    [/^\/schedules$/, () => ({ schedules: list(scene.schedules), nextCursor: null })],
    [/^\/schedules\/[^/]+\/explain$/, () => ({ answers: [system.neverPlanned] })],
    [
      /^\/schedules\/[^/]+\/backfill$/,
      () => (body["dryRun"] === true ? { times: backfilled } : { matched: { count: 1 } }),
    ],
    [/^\/schedules\/[^/]+\/trigger$/, () => ({ id: "3", created: true })],
    [/^\/schedules\/[^/]+\/(pause|resume)$/, () => scene.schedules[0]],
    [
      /^\/runs$/,
      () => ({ runs: list([runScene.run, { ...runScene.run, id: "8", state: "RUNNING" }]), nextCursor: null }),
    ],
    [/^\/runs\/8$/, () => openRun],
    [/^\/runs\/9$/, () => largeRun],
    [/^\/runs\/\d+$/, () => runScene.run],
    [/^\/runs\/\d+\/cancel$/, () => ({ canceled: 2 })],
    [/^\/runs\/\d+\/rerun$/, () => ({ ...runScene.run, id: "8" })],
    [/^\/bulk$/, () => (body["dryRun"] === true ? { matched: { count: 42, isMore: false } } : bulk("RUNNING"))],
    [/^\/bulk\/5$/, () => bulk("DONE")],
    [/^\/runs\/9\/map$/, () => ({ ...runScene.largeMap(10_000), run: largeRun })],
    [/^\/runs\/8\/map$/, () => ({ ...runScene.runMap, run: openRun })],
    [/^\/runs\/\d+\/map$/, () => runScene.runMap],
    [/^\/runs\/\d+\/retry$/, () => ({ run: runScene.run, again: ["202"] })],
    [
      /^\/dead-letters\/redrive$/,
      () => (body["dryRun"] === true ? { matched: { count: 42, isMore: false } } : bulk("RUNNING")),
    ],
    [/^\/dead-letters$/, () => ({ groups: list(system.groups), isMore: false })],
    [
      /^\/lanes$/,
      () => ({ lanes: list(system.lanes), caps: list(system.caps), workers: list(system.workers), isMore: false }),
    ],
    [/^\/lanes\/\w+\/(pause|resume)$/, () => system.lanes[0]],
    [/^\/audits$/, () => ({ audits: list(system.audits), nextCursor: null })],
    [/^\/preview$/, () => previewOf(body)],
    [/^\/kinds$/, () => ({ kinds: list(kinds) })],
    [/^\/locks$/, () => ({ locks: list(system.locks), jobLocks: list(system.jobLocks) })],
  ];
  return routes.find(([pattern]) => pattern.test(path))?.[1]() ?? null;
}

const explanation = {
  job: "3",
  cause: "slot",
  sentence: "It waits for a slot of cap:export-report.",
  advice: "raise the cap",
  until: null,
  waitsFor: ["3"],
};
const openRun = { ...runScene.run, id: "8", state: "RUNNING", finishedAt: null };
const largeRun = { ...runScene.run, id: "9", progress: { ...runScene.run.progress, total: 10_000, failed: 1 } };

/** `bad` for what is refused. */
const previewOf = ({ expression, timezone }: Readonly<Record<string, unknown>>): unknown =>
  String(expression).split(" ").length === 4
    ? "bad"
    : { expression, timezone, notes: [], times: nextTimes, ended: false };

/** Ten thousand of them for the word `many`, as the server would page them. */
function outcomesFor(
  isEmpty: boolean,
  { id, include, text, state, cursor = 0, limit = 50 }: Readonly<Record<string, unknown>>,
) {
  const [first] = scene.outcomeRows;
  if (include !== undefined) {
    const times = { occurrences: isEmpty ? [] : scene.occurrences, next: nextTimes };
    const found = id === "by-hand" ? { ...first, id, source: "api" } : scene.outcomeRows.find((row) => row.id === id);
    return { schedules: found === undefined ? [] : [{ ...found, times }], total: 1, isMore: false, nextCursor: null };
  }
  const failing = scene.outcomeRows.filter((row) => state !== "failing" || row.failingSince !== null);
  if (isEmpty || text === "none") return { schedules: [], total: 0, isMore: false, nextCursor: null };
  if (text !== "many") return { schedules: failing, total: failing.length, isMore: false, nextCursor: null };
  const from = Number(cursor);
  const schedules = Array.from({ length: Math.min(Number(limit), 10_000 - from) }, (_, index) => {
    return { ...first, id: `schedule-${String(from + index).padStart(5, "0")}` };
  });
  return { schedules, total: 10_000, isMore: false, nextCursor: String(from + schedules.length) };
}

const bulk = (state: "RUNNING" | "DONE") => {
  return {
    id: "5",
    state,
    matched: { count: 42, isMore: false },
    changed: state === "DONE" ? 41 : 0,
    refused: state === "DONE" ? 1 : 0,
  };
};

const nextTimes = [1, 2, 3, 4, 5].map((hours) => ({
  at: scene.ago(-hours * 3_600),
  localTime: "2026-11-22T08:00",
  fold: 0,
  fires: hours !== 2,
  change: hours === 2 ? { what: "skipped", clock: "02:30", from: "02:00", to: "03:00", into: null } : null,
  note: hours === 2 ? "the clock skips 02:30 (it jumps from 02:00 to 03:00): SKIPPED dst-gap" : null,
}));
const backfilled = [
  { nominalAt: scene.ago(7_200), was: "SKIPPED misfire", runs: true },
  { nominalAt: scene.ago(3_600), was: "FIRED", runs: false },
];

/** Text that would do harm if anything of it were taken for markup, script, an address or a direction of writing. */
export const hostileText =
  '<img src=x onerror="window.hit=1"><script>window.hit=1</script>{{7*7}} javascript:alert(1) \u202Egnp.exe \u0007 ' +
  "‮".repeat(2) +
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

export interface EventDesk {
  open(c: Context): Response;
  /** Sends to all listeners, and keeps it for those who come back. */
  send(change: object): void;
  /** What became of a save of the code: null for one that runs. */
  save(rejected: { readonly file: string; readonly problem: string } | null): void;
  /** Breaks every connection. @returns how many there were. */
  cut(): number;
  /** Whether each answer ends with what there is, as on Lambda; the page is to ask again after 50 ms. */
  endsAtOnce: boolean;
  /** What a page without a `Last-Event-ID` gets first; null for nothing. */
  snapshot: { readonly jobs: readonly object[] } | null;
  readonly listeners: () => number;
  /** The `Last-Event-ID` of each connection, in order. */
  readonly resumed: (string | null)[];
}

function eventDesk(): EventDesk {
  const kept: string[] = [];
  const open = new Set<{ write: (text: string) => void; cut: () => void }>();
  const resumed: (string | null)[] = [];
  const desk: EventDesk = {
    endsAtOnce: false,
    snapshot: null,
    resumed,
    listeners: () => open.size,
    open(c) {
      const last = c.req.header("last-event-id") ?? null;
      resumed.push(last);
      const { outgoing } = c.env as { outgoing: ServerResponse };
      let listener: { write: (text: string) => void; cut: () => void } | null = null;
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          const write = (text: string): void => controller.enqueue(new TextEncoder().encode(text));
          listener = { write, cut: () => void outgoing.destroy() };
          open.add(listener);
          write(": here\n\n");
          if (last === null && desk.snapshot !== null) {
            write(`event: snapshot\ndata: ${JSON.stringify(desk.snapshot)}\n\n`);
          }
          // One event of those that were seen comes again, as after a real resume.
          for (const text of kept.slice(Math.max(0, last === null ? 0 : Number(last) - 1))) write(text);
          if (!desk.endsAtOnce) return;
          write("retry: 50\n\n");
          open.delete(listener);
          controller.close();
        },
        cancel() {
          if (listener !== null) open.delete(listener);
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } });
    },
    send(change) {
      const text = `id: ${kept.length + 1}\nevent: job\ndata: ${JSON.stringify(change)}\n\n`;
      kept.push(text);
      for (const listener of open) listener.write(text);
    },
    save(rejected) {
      for (const listener of open) listener.write(`event: save\ndata: ${JSON.stringify(rejected)}\n\n`);
    },
    cut() {
      const all = [...open];
      open.clear();
      for (const listener of all) listener.cut();
      return all.length;
    },
  };
  return desk;
}
