import { createTestSystem, type TestSystem } from "belfry/testing";
import { afterAll, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { type FakeProcess, startFake } from "../fake/start.ts";
import app, { policy } from "./app.ts";
import { arrive } from "./arrivals.ts";
import { fileContent, filePath } from "./input.ts";
import { retryUseCase } from "./use-case.ts";
import { outbox } from "./wiring.ts";

const at = "2031-05-01T10:00:00Z";
let partners: FakeProcess;
let system: TestSystem;
beforeAll(async () => {
  partners = await startFake(new URL("./fakes/files.ts", import.meta.url));
  Object.assign(process.env, partners.env);
  system = await createTestSystem({ apps: [app], stage: "demo", at, databaseUrl: inject("postgresUrl") });
});
afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await partners.stop();
});
beforeEach(() => system.database.query("truncate batch_scheduler.outbox restart identity"));

const all = async (expression: string, table = "outbox") => {
  const text = `select ${expression} as it from batch_scheduler.${table} order by id`;
  return (await system.database.query<{ it: unknown }>(text)).rows.map(({ it }) => it);
};

/** A turn some seconds after the messages were written, before a queue that answers so. */
const turn = (seconds: number, answer: (id: number) => boolean, signal = new AbortController().signal) => {
  const publish = async ({ row }: { row: { id: string } }) => answer(Number(row.id)) && "m-1";
  const startedAt = new Date(Date.parse(at) + seconds * 1_000);
  return retryUseCase({ ...outbox, publish }, { startedAt, policy, signal });
};

test("one item's failure, answered or thrown, is its own; a batch says what it did and whether more is left", async () => {
  await arrive(system.database, { messages: 4, files: 0 });
  const { execute } = turn(1, (id) => {
    if (id === 1) throw new Error("broken pipe");
    return id !== 2;
  });
  expect(await execute(3)).toEqual({ processed: 3, succeeded: 1, failed: 2, hasMore: true });
  expect(await execute(3)).toEqual({ processed: 1, succeeded: 1, failed: 0, hasMore: false });
  expect(await all("coalesce(last_error, state)")).toEqual(["broken pipe", "refused", "PUBLISHED", "PUBLISHED"]);
});

test("a turn meets no item twice, and the oldest that never succeed do not starve the rest", async () => {
  await arrive(system.database, { messages: 12, files: 0 });
  const tried: number[] = [];
  const { execute } = turn(1, (id) => tried.push(id) < 0);
  for (let batch = 0; batch < 3; batch++) await execute(3);
  expect(tried).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await turn(2, (id) => id > 9).execute(3);
  expect((await all("state")).slice(9)).toEqual(["PUBLISHED", "PUBLISHED", "PUBLISHED"]);
});

test("an item that always fails is given up after its attempts, with the waits doubling between", async () => {
  await arrive(system.database, { messages: 1, files: 0 });
  const nexts: unknown[] = [];
  for (const seconds of [1, 6, 16]) {
    await turn(seconds, () => false).execute(1);
    nexts.push(...(await all("state || to_char(next_attempt_at, ' SS.MS')")));
  }
  expect(nexts).toEqual(["PENDING 06.000", "PENDING 16.000", "FAILED 16.000"]);
});

test("a worker's stop charges nothing to the item that it cut off, and tries no other", async () => {
  await arrive(system.database, { messages: 3, files: 0 });
  const stop = new AbortController();
  const cutOff = (id: number): boolean => {
    if (id === 2) stop.abort();
    stop.signal.throwIfAborted();
    return true;
  };
  const { execute } = turn(1, cutOff, stop.signal);
  expect(await execute(10)).toEqual({ processed: 1, succeeded: 1, failed: 0, hasMore: true });
  expect(await all("attempts")).toEqual([1, 0, 0]);
});

test("one file that is gone, and one that fails for a while, stop no other", async () => {
  // As `input.ts` says: 1 is served, 7 is gone, 10 is refused once.
  const insert = "insert into batch_scheduler.external_file (path) select unnest($1::text[])";
  await system.database.query(insert, [[1, 7, 10].map(filePath)]);
  await system.advance("50s");
  expect(await all("coalesce(answer, state)", "external_file")).toEqual([fileContent(1), "FAILED", "PENDING"]);
  await system.advance("46s");
  expect(await all("coalesce(answer, state)", "external_file")).toEqual([fileContent(1), "FAILED", fileContent(10)]);
});
