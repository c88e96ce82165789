import * as fc from "fast-check";
import { expect, test } from "vitest";
import { histories, live, seen } from "./history.ts";
import { referenceGround } from "./world.ts";

test("the ledger is the expected set exactly, decided, and ran as decided: 1,000 random histories", async () => {
  const check = fc.asyncProperty(histories, (history) => live(history, referenceGround(history.stretch[1])));
  await fc.assert(check, { numRuns: 1_000 });
  // About 50,000 with any seed: far fewer would mean that the histories had become empty.
  expect(seen.rows).toBeGreaterThan(30_000);
}, 240_000);
