import { type BatchContext, defineApp, defineJob, type JobId, PermanentError } from "belfry";
import { createTestSystem, runJob } from "belfry/testing";
import { expect, inject, test } from "vitest";
import { z } from "zod";

const id0 = "0" as JobId;
type Jobs = readonly { readonly id: string; readonly payload: { readonly n: number }; readonly attempt: number }[];

/** A kind whose calls are kept, and its system. */
async function indexing(
  runBatch: (jobs: Jobs, ctx: BatchContext) => Promise<PromiseSettledResult<string | void>[] | void>,
) {
  const calls: (readonly number[])[] = [];
  const index = defineJob({
    id: "index",
    payload: z.object({ tenant: z.string(), n: z.number() }),
    batch: { max: 3, wait: "2s", key: ({ tenant }) => tenant },
    retry: { maxAttempts: 2, backoff: "fixed", base: "10s", jitter: false },
    runBatch: async (jobs, ctx) => {
      calls.push(jobs.map(({ payload }) => payload.n));
      return await runBatch(jobs, ctx);
    },
  });
  const system = await createTestSystem({
    apps: [defineApp({ name: "shop", jobs: [index] })],
    at: "2031-01-01T08:00:00Z",
    databaseUrl: inject("postgresUrl"),
  });
  const enqueue = async (tenant: string, ...numbers: readonly number[]) =>
    (await index.enqueueAll(numbers.map((n) => ({ payload: { tenant, n } })))).map(({ id }) => id);
  return { index, system, calls, enqueue };
}

test("jobs of one key that wait are one call, some time after the first, and at once when they are enough", async () => {
  const { system, calls, enqueue } = await indexing(async () => {});
  await using _ = system;
  await enqueue("a", 1);
  await system.advance("1s");
  const [two = id0] = await enqueue("a", 2);
  await enqueue("b", 10);
  expect(calls).toEqual([]);
  await system.advance("1s");
  expect(calls).toEqual([[1, 2]]);
  expect(await system.job(two)).toMatchObject({ state: "SUCCESS", attempt: 1 });
  await system.advance("1s");
  expect(calls).toEqual([[1, 2], [10]]);
  await enqueue("a", 3, 4, 5, 6);
  await system.drain();
  expect(calls.slice(2)).toEqual([[3, 4, 5]]);
  await system.advance("2s");
  expect(calls.slice(3)).toEqual([[6]]);
});

test("each job has its own outcome: a rejected one is judged as a thrown error, and its retry joins a later call", async () => {
  const { system, calls, enqueue } = await indexing((jobs) =>
    Promise.allSettled(
      jobs.map(async ({ payload: { n }, attempt }) => {
        if (n === 2) throw new PermanentError("no such document");
        if (n === 3 && attempt === 1) throw new Error("away");
        return `done ${n}`;
      }),
    ),
  );
  await using _ = system;
  const [one = id0, two = id0, three = id0] = await enqueue("a", 1, 2, 3);
  await system.drain();
  expect(await system.job(one)).toMatchObject({ state: "SUCCESS", result: "done 1" });
  expect(await system.job(two)).toMatchObject({ state: "FAILED", errorMessage: "no such document" });
  expect(await system.job(three)).toMatchObject({ failures: 1, errorMessage: "away" });
  await system.advance("9s");
  await enqueue("a", 4);
  await system.advance("1s");
  expect(calls).toEqual([[1, 2, 3]]);
  await system.advance("1s");
  expect(calls.slice(1)).toEqual([[3, 4]]);
  expect(await system.job(three)).toMatchObject({ state: "SUCCESS", attempt: 2 });
});

test.each<[string, (ctx: BatchContext) => unknown, string]>([
  ["throws", () => Promise.reject(new Error("index is down")), "index is down"],
  ["answers too few", () => [{ status: "fulfilled" }], 'runBatch of "index" returned 1 values for 2 jobs: return one'],
  [
    "answers something else",
    () => [1, 2],
    'runBatch of "index" returned 2 values for 2 jobs, and number 1 is no such result: return one',
  ],
  ["uses ctx.tx", (ctx) => (ctx as unknown as { tx(): unknown }).tx(), "ctx.tx is not for runBatch"],
])("a call that %s fails all of its jobs", async (_what, handler, message) => {
  const { system, enqueue } = await indexing(async (_jobs, ctx) => (await handler(ctx)) as never);
  await using _ = system;
  const ids = await enqueue("a", 1, 2);
  await system.advance("2s");
  for (const id of ids) expect((await system.job(id))?.errorMessage).toContain(message);
});

test("runJob runs a batch of one", async () => {
  const { index, system } = await indexing((jobs) =>
    Promise.allSettled(jobs.map(async ({ payload }) => `done ${payload.n}`)),
  );
  await using _ = system;
  expect(await runJob(index, { tenant: "a", n: 1 })).toMatchObject({ result: "done 1" });
});
