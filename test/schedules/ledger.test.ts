import * as fc from "fast-check";
import { expect, test } from "vitest";
import { histories, live, seen } from "./history.ts";
import { referenceGround } from "./world.ts";

test("the ledger is the expected set exactly, decided, and ran as decided: 1,000 random histories", async () => {
  const check = fc.asyncProperty(histories, (history) => live(history, referenceGround(history.stretch[1])));
  await fc.assert(check, { numRuns: 1_000 });
  expect(seen.rows).toBeGreaterThan(50_000);
}, 240_000);
