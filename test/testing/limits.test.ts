import { defineApp, defineJob, defineLimit } from "belfry";
import { createTestSystem, runJob } from "belfry/testing";
import { expect, inject, test } from "vitest";
import { z } from "zod";

const stripe = defineLimit("stripe", { rate: { limit: 2, per: "1m" } });
const charge = defineJob({ id: "charge", limits: [stripe], run: () => {} });
const refund = defineJob({ id: "refund", limits: [stripe], run: () => {} });
const report = defineJob({ id: "report", run: async (_, { limit }) => await limit("stripe") });
const app = defineApp({ name: "shop", jobs: [charge, refund, report] });

test("jobs of two kinds and the calls of a third share one limit", async () => {
  await using system = await createTestSystem({
    apps: [app],
    at: "2031-01-01T08:00:00Z",
    databaseUrl: inject("postgresUrl"),
  });
  const shown = (ran: Awaited<ReturnType<typeof system.drain>>) => ran.map(({ kind, state }) => `${kind} ${state}`);
  await charge.enqueueAll([{ payload: undefined }]);
  expect(shown(await system.drain())).toEqual(["charge SUCCESS"]);
  await report.enqueue(undefined);
  expect(shown(await system.drain())).toEqual(["report SUCCESS"]);
  const { id } = await report.enqueue(undefined);
  await charge.enqueue(undefined);
  await refund.enqueue(undefined);
  expect(shown(await system.drain())).toEqual(["report RETRY_WAIT"]);
  expect(await system.job(id)).toMatchObject({ errorCode: "RATE_LIMITED", failures: 0 });
  // The waiting jobs have the next two units, and the call the one behind them.
  expect(shown(await system.advance("59s"))).toEqual([]);
  const ran = shown(await system.advance("5s"));
  expect(ran.toSorted()).toEqual(["charge SUCCESS", "refund SUCCESS"]);
  expect(shown(await system.advance("1m")).at(-1)).toBe("report SUCCESS");
});

test("runJob lets a call go at once", async () => {
  expect(await runJob(report, undefined)).toMatchObject({ error: undefined });
});

test("many edits of a document are one start, some time after the last, with what the last one gave", async () => {
  const seen: number[] = [];
  const reindex = defineJob({
    id: "reindex",
    payload: z.object({ doc: z.string(), edit: z.number() }),
    debounce: { key: ({ doc }) => doc, for: "5s", max: "12s" },
    run: ({ edit }) => void seen.push(edit),
  });
  await using system = await createTestSystem({
    apps: [defineApp({ name: "shop", jobs: [reindex] })],
    at: "2031-01-01T08:00:00Z",
    databaseUrl: inject("postgresUrl"),
  });
  const edits = async (...numbers: readonly number[]): Promise<void> => {
    for (const edit of numbers) {
      await reindex.enqueue({ doc: "a", edit });
      await system.advance("3s");
    }
  };
  await edits(1, 2);
  expect(seen).toEqual([]);
  await system.advance("2s");
  expect(seen).toEqual([2]);
  // The next burst never pauses: it starts 12 s after its first call.
  await edits(3, 4, 5, 6, 7);
  expect(seen).toEqual([2, 6]);
  await system.advance("5s");
  expect(seen).toEqual([2, 6, 7]);
});

test("a child that cannot join fails its parent at once, and says why", async () => {
  const index = defineJob({
    id: "index",
    payload: z.object({ doc: z.string() }),
    debounce: {
      key: ({ doc }) => doc,
      for: "5s",
      keep() {
        throw new Error("not of one kind");
      },
    },
    run: () => {},
  });
  const parent = defineJob({
    id: "parent",
    async run(_, ctx) {
      for (let call = 1; call <= 2; call += 1) await ctx.enqueue(index, { doc: "a" });
    },
  });
  await using system = await createTestSystem({
    apps: [defineApp({ name: "shop", jobs: [index, parent] })],
    at: "2031-01-01T08:00:00Z",
    databaseUrl: inject("postgresUrl"),
  });
  const { id } = await parent.enqueue(undefined);
  await system.drain();
  expect(await system.job(id)).toMatchObject({ state: "FAILED", attempt: 1, errorCode: "INVALID_PAYLOAD" });
  expect((await system.job(id))?.errorMessage).toMatch(/debounce\.keep: threw: not of one kind/);
});

test("what is due in a blackout of its lane or kind starts after it", async () => {
  const mail = defineJob({ id: "mail", lane: "mail", run: () => {} });
  const other = defineJob({ id: "other", run: () => {} });
  const blackouts = [{ from: "22:00", to: "06:00", timezone: "Asia/Seoul" }];
  const post = defineJob({ id: "post", blackouts, run: () => {} });
  await using system = await createTestSystem({
    apps: [defineApp({ name: "shop", jobs: [mail, other, post], lanes: { mail: { blackouts } } })],
    // 22:30 in Seoul.
    at: "2031-01-01T13:30:00Z",
    databaseUrl: inject("postgresUrl"),
  });
  await mail.enqueueAll([{ payload: undefined }, { payload: undefined }]);
  await post.enqueue(undefined);
  await other.enqueue(undefined);
  expect((await system.advance("449m")).map(({ kind }) => kind)).toEqual(["other"]);
  expect((await system.advance("1m")).map(({ kind, state }) => `${kind} ${state}`).toSorted()).toEqual([
    "mail SUCCESS",
    "mail SUCCESS",
    "post SUCCESS",
  ]);
  // Ten days later the windows of that night are written too.
  expect(await system.advance({ to: "2031-01-11T14:00:00Z" })).toEqual([]);
  await mail.enqueue(undefined);
  expect(await system.advance("1h")).toEqual([]);
});
