import { expect, test } from "vitest";
import { compressTime } from "../../src/local/setup/compressed-time.ts";
import { testDatabase } from "../support/database.ts";

test("a clock that ran faster goes on where it is, and says by how much it is ahead", async () => {
  const db = await testDatabase({ own: true });
  expect(await compressTime(db.url, { scale: 1, startsAt: null })).toBe(0);
  // Each millisecond of the next call is a minute and more.
  await compressTime(db.url, { scale: 100_000, startsAt: null });
  const aheadMs = await compressTime(db.url, { scale: 1, startsAt: null });
  expect(aheadMs).toBeGreaterThan(60_000);
  expect(await compressTime(db.url, { scale: 1, startsAt: null })).toBeGreaterThanOrEqual(aheadMs);
});
