import * as fc from "fast-check";
import { expect, test } from "vitest";
import { freshDatabase } from "../support/database.ts";
import { histories, type History, live, seen } from "./history.ts";

test("the ledger is the expected set exactly on Postgres too: 20 random histories", async () => {
  const check = fc.asyncProperty(histories, liveOnPostgres);
  // Some seeds draw sparse expressions only; those prove little, so more are drawn.
  for (let round = 0; round < 4 && seen.rows <= 20; round += 1) {
    await fc.assert(check, { numRuns: 20, endOnFailure: true });
  }
  expect(seen.rows).toBeGreaterThan(20);
}, 240_000);

/** The database's clock stands still and is moved by the history alone. */
async function liveOnPostgres(history: History): Promise<void> {
  const { store, clock, close } = await freshDatabase();
  const start = history.stretch[1];
  try {
    await clock.set(0);
    await clock.advance(start - (await store.now()));
    await live(
      { ...history, steps: history.steps.slice(0, 6), beatMinutes: 20 },
      {
        store,
        start,
        advance: (ms) => clock.advance(ms),
      },
    );
  } finally {
    await close();
  }
}
