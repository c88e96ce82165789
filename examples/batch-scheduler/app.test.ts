import { createTestSystem } from "belfry/testing";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type FakeProcess, startFake } from "../fake/start.ts";
import app from "./app.ts";
import { fileContent, filePath } from "./input.ts";

let partners: FakeProcess;
beforeAll(async () => {
  partners = await startFake(new URL("./fakes/files.ts", import.meta.url));
  const unused = { ORDERS_QUEUE_URL: "http://127.0.0.1:9/orders", ORDERS_QUEUE_ENDPOINT: "http://127.0.0.1:9" };
  Object.assign(process.env, unused, partners.env);
});
afterAll(() => partners.stop());

test("one file that is gone, and one that fails for a while, stop no other", async () => {
  await using system = await createTestSystem({
    apps: [app],
    stage: "demo",
    at: "2031-05-01T10:00:00Z",
    databaseUrl: inject("postgresUrl"),
  });
  // As `input.ts` says: 1 and 2 are served, 7 is gone, 10 is refused once.
  const insert = "insert into batch_scheduler.external_file (path, next_attempt_at) values ($1, now())";
  for (const n of [1, 2, 7, 10]) await system.database.query(insert, [filePath(n)]);
  const files = async () => {
    const text = "select state, attempts, content from batch_scheduler.external_file order by path";
    return (await system.database.query<{ state: string; attempts: number; content: string | null }>(text)).rows;
  };
  await system.advance("46s");
  expect(await files()).toEqual([
    { state: "DOWNLOADED", attempts: 1, content: fileContent(1) },
    { state: "DOWNLOADED", attempts: 1, content: fileContent(2) },
    { state: "FAILED", attempts: 1, content: null },
    { state: "PENDING", attempts: 1, content: null },
  ]);
  // Waits are counted by the server's own clock, which no test moves.
  await system.database.query(
    "update batch_scheduler.external_file set next_attempt_at = now() where state = 'PENDING'",
  );
  await system.advance("46s");
  expect((await files()).at(-1)).toEqual({ state: "DOWNLOADED", attempts: 2, content: fileContent(10) });
});
