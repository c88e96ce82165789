import { expect, test, vi } from "vitest";
import { z } from "zod";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { DatabaseError } from "../../src/postgres/failure.ts";
import { insightLimits } from "../../src/insight/insight-limits.ts";
import { openApi } from "./harness.ts";
import { eachTest } from "../support/each-test.ts";

const opened = eachTest(() => openApi());

const patience = { timeout: 30_000, interval: 5 };

/** Resolves every call to `work` only after `open()`. */
function gated<A extends unknown[], R>(work: (...given: A) => Promise<R>) {
  const gate = Promise.withResolvers<void>();
  let begun = 0;
  return {
    open: gate.resolve,
    begun: () => begun,
    work: async (...given: A): Promise<R> => {
      begun += 1;
      await gate.promise;
      return await work(...given);
    },
  };
}

async function insertsOf() {
  const { store } = opened;
  const inserts: number[] = [];
  const { insert } = store;
  store.insert = async (jobs, options) => {
    inserts.push(jobs.length);
    return await insert(jobs, options);
  };
  return inserts;
}

test("creates that come while others are written go in one statement and one outbox batch", async () => {
  const gate = gated(opened.store.insert);
  opened.store.insert = gate.work;
  const inserts = await insertsOf();
  const first = opened.call("POST", "/jobs", { kind: "ping" });
  await vi.waitFor(() => expect(gate.begun()).toBe(1), patience);
  const send = vi.spyOn(opened.ports.queue, "send");
  const others = Array.from({ length: 10 }, () => opened.call("POST", "/jobs", { kind: "ping" }));
  gate.open();
  expect((await Promise.all([first, ...others])).map(({ status }) => status)).toEqual(Array(11).fill(201));
  expect(inserts.length).toBeLessThan(11);
  expect(inserts.reduce((sum, rows) => sum + rows, 0)).toBe(11);
  expect(send.mock.calls).toHaveLength(inserts.length);
});

test("while an outbox batch is sent the next creates are written, and none is answered before its own was sent", async () => {
  const gate = gated(opened.ports.queue.send);
  opened.ports.queue.send = gate.work;
  const answered: number[] = [];
  const create = (n: number) => opened.call("POST", "/jobs", { kind: "ping" }).then(() => answered.push(n));
  const first = create(1);
  await vi.waitFor(() => expect(gate.begun()).toBe(1), patience);
  const second = create(2);
  await vi.waitFor(async () => {
    const { rows } = await opened.pool.query("select count(*)::int as audits from belfry.audit");
    expect([gate.begun(), rows]).toEqual([2, [{ audits: 2 }]]);
  }, patience);
  expect(answered).toEqual([]);
  gate.open();
  await Promise.all([first, second]);
  expect(answered).toHaveLength(2);
});

test("a queue that refuses costs a create nothing: it is written, and its outbox batch stays open", async () => {
  opened.ports.queue.send = () => Promise.reject(new Error("the queue is away"));
  expect(await opened.call("POST", "/jobs", { kind: "ping" })).toMatchObject({
    status: 201,
    body: { state: "QUEUED" },
  });
  const { rows } = await opened.pool.query("select count(*)::int as open from belfry.outbox");
  expect(rows).toEqual([{ open: 1 }]);
});

test("one create that the database refuses fails alone: those that went with it are written", async () => {
  const { insert } = opened.store;
  opened.store.insert = async (jobs, options) => {
    if (jobs.some(({ key }) => key === "bad")) throw new DatabaseError("out of range", { code: "22003" });
    return await insert(jobs, options);
  };
  const gate = gated(opened.store.insert);
  opened.store.insert = gate.work;
  const first = opened.call("POST", "/jobs", { kind: "ping" });
  await vi.waitFor(() => expect(gate.begun()).toBe(1), patience);
  const others = ["a", "bad", "b"].map((key) => opened.call("POST", "/jobs", { kind: "ping", key }));
  await opened.call("GET", "/jobs");
  gate.open();
  expect((await Promise.all([first, ...others])).map(({ status }) => status)).toEqual([201, 201, 500, 201]);
  const { rows } = await opened.pool.query("select status from belfry.audit order by status");
  expect(rows.map(({ status }: { status: number }) => status)).toEqual([201, 201, 201, 500]);
});

test("large payloads that come at once go in statements of a bounded size", async () => {
  const inserts = await insertsOf();
  const name = "x".repeat(200_000);
  const count = 2 * Math.ceil(insightLimits.gatheredBytesMax / name.length);
  // Not their answers: on a busy machine one may be late, and then says that its write goes on.
  await Promise.all(
    Array.from({ length: count }, () => opened.call("POST", "/jobs", { kind: "greet", payload: { name } })),
  );
  await vi.waitFor(() => expect(inserts.reduce((sum, rows) => sum + rows, 0)).toBe(count), patience);
  expect(Math.max(...inserts)).toBeLessThanOrEqual(insightLimits.gatheredBytesMax / name.length);
});

test("a caller's traceparent is kept with the job; a text that is none is left out", async () => {
  const { call } = await openApi();
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const traceOf = async (sent: string): Promise<unknown> => {
    const headers = { host: "127.0.0.1:4400", "content-type": "application/json", traceparent: sent };
    return (await call("POST", "/jobs", { kind: "ping" }, headers)).body;
  };
  expect(await traceOf(traceparent)).toMatchObject({ trace: traceparent });
  expect(await traceOf(`${traceparent}-more`)).toMatchObject({ trace: expect.stringMatching(/^trace-\d+$/) });
});

test("a call of a debounced kind joins the job that it answers, and one that cannot be merged fails alone", async () => {
  const reindex = defineJob({
    id: "reindex",
    payload: z.object({ ids: z.array(z.number()).max(2) }),
    debounce: { key: () => "all", for: "5s", keep: (kept, next) => ({ ids: [...kept.ids, ...next.ids] }) },
    run: () => {},
  });
  const { call } = await openApi([
    defineApp({ name: "search", jobs: [reindex, defineJob({ id: "ping", run: () => {} })] }),
  ]);
  const post = (ids: readonly number[]) => call("POST", "/jobs", { kind: "reindex", payload: { ids } });
  expect((await post([1])).status).toBe(201);
  expect(await post([2])).toMatchObject({ status: 200, body: { created: false, joined: 1, payload: { ids: [1, 2] } } });
  const together = await Promise.all([
    call("POST", "/jobs", { kind: "ping" }),
    post([3]),
    call("POST", "/jobs", { kind: "ping" }),
  ]);
  expect(together.map(({ status }) => status)).toEqual([201, 422, 201]);
});
