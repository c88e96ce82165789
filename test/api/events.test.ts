import { expect, onTestFinished, test, vi } from "vitest";
import { keptSaves } from "../../src/api/saves.ts";
import { aJob } from "../contract/store/fixture.ts";
import { openApi } from "./harness.ts";
import { readEvents } from "../../src/insight/stream.ts";
import { eachTest } from "../support/each-test.ts";
import { otherSession } from "../support/database.ts";
import { soon } from "../support/soon.ts";

const opened = eachTest(() => openApi());

type Opened = Awaited<ReturnType<typeof openApi>>;

interface Frame {
  readonly id: string;
  readonly event: string;
  readonly data: { readonly id: string; readonly job: string; readonly to: string; readonly jobs: readonly unknown[] };
}

/** One client of the stream: what it was sent so far. */
async function listen({ api }: Opened, path = "/events", lastId: string | null = null) {
  const headers = {
    host: "127.0.0.1",
    accept: "text/event-stream",
    ...(lastId === null ? {} : { "last-event-id": lastId }),
  };
  const response = await api.fetch(new Request(`http://127.0.0.1${path}`, { headers }));
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  const frames: Frame[] = [];
  let rest = "";
  const pump = async (): Promise<void> => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop() ?? "";
      frames.push(...blocks.flatMap(frameOf));
    }
  };
  const ended = pump().catch(() => undefined);
  const leave = async (): Promise<void> => {
    await reader.cancel();
    await ended;
  };
  onTestFinished(leave);
  return {
    frames,
    leave,
    jobs: () => frames.filter(({ event }) => event === "job"),
    async until(count: number): Promise<void> {
      await soon(() => expect(frames.filter(({ event }) => event === "job").length).toBeGreaterThanOrEqual(count));
    },
    begun: () => soon(() => expect(frames.length).toBeGreaterThan(0)),
  };
}

function frameOf(block: string): Frame[] {
  const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? "";
  return field("data") === "" ? [] : [{ id: field("id"), event: field("event"), data: JSON.parse(field("data")) }];
}

async function create(body: object = { kind: "ping" }): Promise<string> {
  return (await opened.call("POST", "/jobs", body)).body.id;
}

/** An event as another transaction would write it. */
const writeEvent =
  "insert into belfry.event (id, at, to_state, job_ids, attempts, generations) values (belfry.next_event(), now(), 'QUEUED', array[$1::bigint], array[0], array[1])";

test("a client is sent the newest jobs, then each change as it becomes visible", async () => {
  await create();
  const client = await listen(opened);
  await client.begun();
  expect(client.frames[0]).toMatchObject({ event: "snapshot", data: { jobs: [{ kind: "ping" }] } });
  const id = await create();
  await client.until(1);
  expect(client.jobs()).toMatchObject([{ data: { job: id, kind: "ping", from: null, to: "QUEUED" } }]);
});

test("an event of a thousand moves reaches a client as a thousand messages, each once", async () => {
  const client = await listen(opened);
  await client.begun();
  const jobs = Array.from({ length: 1_000 }, () => aJob({ kind: "ping" }));
  await opened.store.insert(jobs);
  await client.until(1_000);
  expect(client.jobs()).toHaveLength(1_000);
  expect(new Set(client.jobs().map(({ data }) => data.job)).size).toBe(1_000);
});

test("a transaction that stays open holds nothing up, and one that commits late is not missed", async () => {
  const [idle, late] = [await opened.pool.connect(), await opened.pool.connect()];
  onTestFinished(() => [idle, late].forEach((each) => each.release()));
  await idle.query("begin; select pg_current_xact_id()");
  await late.query("begin");
  await late.query(writeEvent, [1]);
  const client = await listen(opened);
  await client.begun();
  const after = await create();
  await client.until(1);
  expect(client.jobs().map(({ data }) => data.job)).toEqual([after]);
  await late.query("commit");
  await client.until(2);
  expect(client.jobs().map(({ data }) => data.job)).toEqual([after, "1"]);
  await idle.query("rollback");
});

test("a client that comes back with the id of any event it saw misses nothing, also of a transaction that was open then", async () => {
  const late = await otherSession(opened.pool);
  await late.query(writeEvent, [1]);
  const first = await listen(opened);
  await first.begun();
  const made: string[] = [];
  for (let n = 0; n < 5; n += 1) made.push(await create());
  await first.until(5);
  await first.leave();
  made.push(await create());
  await late.query("commit");
  for (const { id, data } of first.jobs()) {
    const again = await listen(opened, "/events", id);
    const sawBefore = made.slice(0, made.indexOf(data.job) + 1);
    const missing = [...made, "1"].filter((job) => !sawBefore.includes(job));
    await soon(() => expect(again.jobs().map((frame) => frame.data.job)).toEqual(expect.arrayContaining(missing)));
    const ids = again.jobs().map((frame) => frame.data.id);
    expect(new Set(ids).size).toBe(ids.length);
    await again.leave();
  }
});

test("asking for the head of the stream opens none", async () => {
  const reading = vi.spyOn(opened.insight, "run");
  const headers = { host: "127.0.0.1", accept: "text/event-stream" };
  const response = await opened.api.fetch(new Request("http://127.0.0.1/events", { method: "HEAD", headers }));
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
  expect(reading.mock.calls.filter(([query]) => query.name === "stream-end")).toHaveLength(1);
});

test("filters leave out what was not asked for", async () => {
  const client = await listen(opened, "/events?kind=greet&state=QUEUED,CANCELED");
  await client.begun();
  await create();
  const id = await create({ kind: "greet", payload: { name: "Ada" } });
  await opened.call("POST", `/jobs/${id}/cancel`, {});
  await client.until(2);
  expect(client.jobs().map(({ data }) => [data.job, data.to])).toEqual([
    [id, "QUEUED"],
    [id, "CANCELED"],
  ]);
});

test("a client without streams asks for pages; a cursor of another database is answered as a gap", async () => {
  const page = async (query: string) => {
    const { status, body } = await opened.call("GET", `/events${query}`);
    expect(status).toBe(200);
    return body as unknown as { events: { job: string }[]; cursor: string; isGap: boolean; jobs?: unknown[] };
  };
  const start = await page("");
  expect(start).toMatchObject({ events: [], jobs: [], isGap: false });
  const id = await create();
  const next = await page(`?cursor=${encodeURIComponent(start.cursor)}`);
  expect(next.events.map((event) => event.job)).toEqual([id]);
  expect((await page(`?cursor=${encodeURIComponent(next.cursor)}`)).events).toEqual([]);
  expect(await page("?cursor=0badcafe~5:5::5:0")).toMatchObject({ events: [], isGap: true });
  // Also without the transactions that were open: none of them can be below the new beginning.
  const restored = next.cursor.replace(/~\d+:\d+:.*/, "~9999999999:9999999999::9999999999:1");
  expect(await page(`?cursor=${encodeURIComponent(restored)}`)).toMatchObject({ isGap: true });
  expect(await opened.call("GET", "/events?cursor=x")).toMatchObject({ status: 400 });
});

test("a burst larger than one look comes in pages, each event once and in order", async () => {
  const { cursor } = await readEvents(opened.insight, null, 10);
  await opened.pool.query(
    "insert into belfry.event (id, at, to_state, job_ids, attempts, generations) select belfry.next_event(), now(), 'QUEUED', array[2 * n - 1, 2 * n], array[0, 0], array[1, 1] from generate_series(1, 13) n",
  );
  const seen: string[] = [];
  for (let at = cursor, more = true; more;) {
    const page = await readEvents(opened.insight, at, 10);
    seen.push(...page.events.map((event) => event.job));
    at = page.cursor;
    more = page.isMore;
  }
  expect(seen).toEqual(Array.from({ length: 26 }, (_, n) => String(n + 1)));
});

test("one reader serves every client, and reads nothing once they have left", async () => {
  let looks = 0;
  const { run } = opened.insight;
  opened.insight.run = (query, params) => {
    if (query.name === "stream-end") looks += 1;
    return run(query, params);
  };
  const clients = await Promise.all(Array.from({ length: 20 }, () => listen(opened)));
  await Promise.all(clients.map((client) => client.begun()));
  looks = 0;
  const began = performance.now();
  const id = await create();
  await Promise.all(clients.map((client) => client.until(1)));
  // One reader makes four looks a second; twenty clients that each looked would make eighty.
  expect(looks).toBeLessThan(20 * Math.max(1, (performance.now() - began) / 1_000));
  expect(clients.map((client) => client.jobs()[0]?.data.job)).toEqual(clients.map(() => id));
  await Promise.all(clients.map((client) => client.leave()));
  await soon(async () => {
    const before = looks;
    await opened.ports.clock.sleep(600);
    expect(looks).toBe(before);
  });
});

test("where a stream ends at once, its client asks again and misses and repeats nothing", async () => {
  const opened = await openApi(undefined, { endsStreams: true });
  const first = (await opened.call("POST", "/jobs", { kind: "ping" })).body.id;
  const begin = await ended(opened, null);
  expect(begin.text).toMatch(/^retry: 3000\n\nevent: snapshot\n/);
  expect(begin.frames[0]?.data.jobs).toHaveLength(1);
  const second = (await opened.call("POST", "/jobs", { kind: "ping" })).body.id;
  await opened.call("POST", `/jobs/${first}/cancel`, {});
  const next = await ended(opened, begin.lastId);
  expect(next.frames.map(({ data }) => data.job)).toEqual(expect.arrayContaining([first, second]));
  expect(next.frames.every(({ event }) => event === "job")).toBe(true);
  expect((await ended(opened, next.lastId)).frames).toEqual([]);
});

/** The whole answer, and the id to go on from. */
async function ended({ api }: Opened, lastId: string | null) {
  const headers = {
    host: "127.0.0.1",
    accept: "text/event-stream",
    ...(lastId === null ? {} : { "last-event-id": lastId }),
  };
  const response = await api.fetch(new Request("http://127.0.0.1/events", { headers }));
  const text = await response.text();
  const [, last = ""] = [...text.matchAll(/^id: (.*)$/gm)].at(-1) ?? [];
  return { text, lastId: last, frames: text.split("\n\n").flatMap(frameOf) };
}

test("a stream begins with the save that cannot be used, and says when it changes; without a watch it says nothing", async () => {
  const saves = keptSaves();
  const rejected = { file: "jobs/hello.ts", problem: "jobs/hello.ts:9  no such zone", at: "2026-10-25T04:01:22.000Z" };
  const installed = { version: "2f6a0c91d3be", since: "2026-10-25T03:50:00.000Z" };
  const running = { ...installed, parts: ["scheduler", "API"], definitions: installed };
  saves.tell({ ...running, refused: rejected });
  const client = await listen(await openApi(undefined, { saves }));
  const said = () => client.frames.filter(({ event }) => event === "save").map(({ data }) => data as unknown);
  await expect.poll(said).toEqual([rejected]);
  saves.tell({ ...running, refused: null });
  await expect.poll(said).toEqual([rejected, null]);
  const unwatched = await listen(await openApi());
  await unwatched.begun();
  expect(unwatched.frames[0]?.event).toBe("snapshot");
});
