/** What another process may do to a change of many jobs while one works on it. */
import { beforeEach, expect, test } from "vitest";
import {
  type Bulk,
  type BulkAction,
  advanceBackfill,
  advanceBulk,
  beginBulk,
  nextBulk,
  readBulks,
  sendStep,
  stopBulk,
} from "../../src/insight/bulk.ts";
import { insightLimits } from "../../src/insight/insight-limits.ts";
import type { Database } from "../../src/insight/sql-query.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";

let db: TestDatabase;
let insight: Database;
beforeEach(async () => {
  db = await testDatabase();
  await db.clock.set(0);
  insight = db.insight;
});

const asked = (action: BulkAction, more: { paceMs?: number; steps?: readonly number[] } = {}): Promise<Bulk> => {
  const matched = { count: 2, isMore: false };
  return beginBulk(insight, {
    action,
    search: { kind: "a" },
    caller: "ada",
    matched,
    paceMs: 0,
    steps: [],
    ...more,
  });
};

/** Everything that its owner writes, with amounts that would show. */
const writes = async ({ id }: Bulk, owner: string): Promise<readonly boolean[]> => [
  (await insight.run(advanceBulk, { id, owner, next: "7", changed: 3, takenAlong: 1, refused: 1 })).length > 0,
  (await insight.run(advanceBackfill, { id, owner, changed: 3, refused: 1, isLast: true })).length > 0,
  (await insight.run(sendStep, { id, owner, changed: 3, takenAlong: 1, refused: 0 })).length > 0,
];

const found = async ({ id }: Bulk): Promise<Bulk | undefined> => (await insight.run(readBulks, { id, limit: 1 }))[0];

test("one that was stopped takes no page of its owner, and stays as it was stopped", async () => {
  for (const action of ["retry", "backfill"] as const) {
    const bulk = await asked(action);
    expect(await nextBulk(insight, "a")).toMatchObject({ id: bulk.id });
    expect(await insight.run(stopBulk, bulk.id)).toHaveLength(1);
    const stopped = await found(bulk);
    expect(stopped).toMatchObject({ state: "STOPPED", changed: 0 });
    expect(await writes(bulk, "a")).toEqual([false, false, false]);
    expect(await found(bulk)).toEqual(stopped);
    expect(await insight.run(stopBulk, bulk.id)).toHaveLength(0);
    expect(await nextBulk(insight, "a")).toBe(null);
  }
});

test("one whose owner is silent for a lease goes to another, whose pages alone count", async () => {
  const bulk = await asked("retry");
  await nextBulk(insight, "a");
  await db.clock.advance(insightLimits.bulkLeaseMs);
  expect(await nextBulk(insight, "b")).toBe(null);
  expect(await nextBulk(insight, "a")).toMatchObject({ id: bulk.id });
  await db.clock.advance(insightLimits.bulkLeaseMs + 1);
  expect(await nextBulk(insight, "b")).toMatchObject({ id: bulk.id });
  expect(await writes(bulk, "a")).toEqual([false, false, false]);
  expect(await found(bulk)).toMatchObject({ state: "RUNNING", changed: 0, takenAlong: 0, refused: 0 });
  const page = { next: null, changed: 2, takenAlong: 1, refused: 1 };
  expect(await insight.run(advanceBulk, { id: bulk.id, owner: "b", ...page })).toHaveLength(1);
  expect(await found(bulk)).toMatchObject({ state: "DONE", changed: 2, takenAlong: 1, refused: 1 });
});

test("a page counts as a sign of its owner, and a paced one waits as long as its jobs take", async () => {
  const paceMs = insightLimits.bulkAheadMs;
  const bulk = await asked("retry", { paceMs });
  await nextBulk(insight, "a");
  await db.clock.advance(insightLimits.bulkLeaseMs);
  await insight.run(advanceBulk, { id: bulk.id, owner: "a", next: "7", changed: 2, takenAlong: 0, refused: 0 });
  await db.clock.advance(paceMs - 1);
  expect(await nextBulk(insight, "a")).toBe(null);
  await db.clock.advance(1);
  expect(await nextBulk(insight, "a")).toMatchObject({ id: bulk.id });
  await db.clock.advance(insightLimits.bulkLeaseMs);
  expect(await nextBulk(insight, "b")).toBe(null);
});

test("one whose first jobs are out has no owner until they have ended", async () => {
  const bulk = await asked("retry", { steps: [1] });
  await nextBulk(insight, "a");
  expect(await insight.run(sendStep, { id: bulk.id, owner: "a", changed: 0, takenAlong: 1, refused: 0 })).toHaveLength(
    1,
  );
  expect(await found(bulk)).toMatchObject({ steps: { state: "out" }, takenAlong: 1 });
  expect(
    await insight.run(advanceBulk, { id: bulk.id, owner: "a", next: "7", changed: 1, takenAlong: 0, refused: 0 }),
  ).toHaveLength(0);
});
