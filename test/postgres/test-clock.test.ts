import { describe, expect, test } from "vitest";
import { installTestClock } from "../../src/postgres/test-clock.ts";
import { testDatabase } from "../support/database.ts";
import { eachTest } from "../support/each-test.ts";

describe("the test clock", () => {
  const db = eachTest(() => testDatabase());

  test("is refused unless the caller says that this is a test database", async () => {
    await expect(installTestClock(db.pool, { thisIsATestDatabase: false })).rejects.toThrow(
      "the test clock is refused",
    );
  });

  test("stands still at rate 0, goes on at another rate, and never jumps back", async () => {
    const before = await db.store.now();
    await db.clock.set(0);
    const still = await db.store.now();
    expect(still).toBeGreaterThanOrEqual(before);
    expect(await db.store.now()).toBe(still);
    await db.clock.advance(5);
    expect(await db.store.now()).toBe(still + 5);
    await db.clock.set(1_000_000);
    expect(await db.store.now()).toBeGreaterThan(still + 5);
  });
});

test("a time between two milliseconds is shown as the earlier one, so that it never lies in the future", async () => {
  const db = await testDatabase();
  await db.pool.query(
    "update belfry.test_clock set origin = date_trunc('second', origin) + interval '900 microseconds', rate = 0",
  );
  expect((await db.store.now()) % 1_000).toBe(0);
});
