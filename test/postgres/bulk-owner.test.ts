/** What another process may do to a change of many jobs while one works on it. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createOperations } from "../../src/adapters/postgres/operations.ts";
import type { Bulk, BulkAction } from "../../src/core/ports/bulk.ts";
import { operationsLimits } from "../../src/core/ports/operations-limits.ts";
import type { Operations } from "../../src/core/ports/operations.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";

let db: TestDatabase;
let operations: Operations;
beforeEach(async () => {
  db = await freshDatabase();
  await db.clock.set(0);
  operations = createOperations(db.connections);
});
afterEach(() => db.close());

const asked = (action: BulkAction, more: { paceMs?: number; canary?: boolean } = {}): Promise<Bulk> => {
  const matched = { count: 2, isMore: false };
  return operations.createBulk({
    action,
    search: { kind: "a" },
    caller: "ada",
    matched,
    paceMs: 0,
    canary: false,
    ...more,
  });
};

/** Everything that its owner writes, with amounts that would show. */
const writes = async ({ id }: Bulk, owner: string): Promise<readonly boolean[]> => [
  await operations.advanceBulk(id, owner, { next: "7", changed: 3, takenAlong: 1, refused: 1 }),
  await operations.advanceBackfill(id, owner, { changed: 3, refused: 1, isLast: true }),
  await operations.sendCanaries(id, owner, { jobs: [], takenAlong: 1 }),
];

const found = async ({ id }: Bulk): Promise<Bulk | undefined> => (await operations.bulks({ id, limit: 1 }))[0];

test("one that was stopped takes no page of its owner, and stays as it was stopped", async () => {
  for (const action of ["retry", "backfill"] as const) {
    const bulk = await asked(action);
    expect(await operations.takeBulk("a")).toMatchObject({ id: bulk.id });
    expect(await operations.stopBulk(bulk.id)).toBe(true);
    const stopped = await found(bulk);
    expect(stopped).toMatchObject({ state: "STOPPED", changed: 0 });
    expect(await writes(bulk, "a")).toEqual([false, false, false]);
    expect(await found(bulk)).toEqual(stopped);
    expect(await operations.stopBulk(bulk.id)).toBe(false);
    expect(await operations.takeBulk("a")).toBe(null);
  }
});

test("one whose owner is silent for a lease goes to another, whose pages alone count", async () => {
  const bulk = await asked("retry");
  await operations.takeBulk("a");
  await db.clock.advance(operationsLimits.bulkLeaseMs);
  expect(await operations.takeBulk("b")).toBe(null);
  expect(await operations.takeBulk("a")).toMatchObject({ id: bulk.id });
  await db.clock.advance(operationsLimits.bulkLeaseMs + 1);
  expect(await operations.takeBulk("b")).toMatchObject({ id: bulk.id });
  expect(await writes(bulk, "a")).toEqual([false, false, false]);
  expect(await found(bulk)).toMatchObject({ state: "RUNNING", changed: 0, takenAlong: 0, refused: 0 });
  const page = { next: null, changed: 2, takenAlong: 1, refused: 1 };
  expect(await operations.advanceBulk(bulk.id, "b", page)).toBe(true);
  expect(await found(bulk)).toMatchObject({ state: "DONE", changed: 2, takenAlong: 1, refused: 1 });
});

test("a page counts as a sign of its owner, and a paced one waits as long as its jobs take", async () => {
  const paceMs = operationsLimits.bulkAheadMs;
  const bulk = await asked("retry", { paceMs });
  await operations.takeBulk("a");
  await db.clock.advance(operationsLimits.bulkLeaseMs);
  await operations.advanceBulk(bulk.id, "a", { next: "7", changed: 2, takenAlong: 0, refused: 0 });
  await db.clock.advance(paceMs - 1);
  expect(await operations.takeBulk("a")).toBe(null);
  await db.clock.advance(1);
  expect(await operations.takeBulk("a")).toMatchObject({ id: bulk.id });
  await db.clock.advance(operationsLimits.bulkLeaseMs);
  expect(await operations.takeBulk("b")).toBe(null);
});

test("one whose first jobs are out has no owner until they have ended", async () => {
  const bulk = await asked("retry", { canary: true });
  await operations.takeBulk("a");
  expect(await operations.sendCanaries(bulk.id, "a", { jobs: [], takenAlong: 1 })).toBe(true);
  expect(await found(bulk)).toMatchObject({ canary: { state: "out" }, takenAlong: 1 });
  expect(await operations.advanceBulk(bulk.id, "a", { next: "7", changed: 1, takenAlong: 0, refused: 0 })).toBe(false);
});
