import * as fc from "fast-check";
import { expect, test } from "vitest";
import { histories, type History, live, seen } from "./history.ts";
import { referenceGround } from "./world.ts";

/** More by hand, and one again: `HISTORIES=60000 SEED=-123 npx vitest run test/schedules/ledger.test.ts`. */
const count = Number(process.env["HISTORIES"] ?? 1_000);
const seed = process.env["SEED"];
const perHistoryMs = 720;

/** Found by seed 1346689392: an edit within the hour after a gap brings readings of the gap round again. */
const editAfterGap: History = {
  stretch: ["America/New_York", Date.UTC(2026, 2, 6, 17)],
  cron: "* 1,2 * * SUN",
  policy: {
    dst: { gap: "first-valid", overlap: "first" },
    misfire: { rule: "latest", maxAgeMs: null, maxCount: null, paceMs: 1 },
    overlap: "allow",
    enabled: true,
    startDeadlineMs: null,
    offsetMs: null,
    calendars: null,
  },
  madeBy: "code",
  steps: [
    { do: "run", minutes: 1_200 },
    { do: "no workers", minutes: 600 },
    { do: "run", minutes: 400 },
    { do: "run", minutes: 60 },
    { do: "no scheduler", minutes: 38 },
    {
      do: "edit",
      cron: "40 * * * SUN",
      policy: {
        dst: { gap: "skip", overlap: "second" },
        misfire: { rule: "skip", maxAgeMs: null, maxCount: null, paceMs: 1 },
        overlap: "allow",
        enabled: true,
        startDeadlineMs: null,
        offsetMs: null,
        calendars: null,
      },
    },
    { do: "run", minutes: 60 },
  ],
  beatMinutes: 3,
};

test(
  `the ledger is the expected set exactly, decided, and ran as decided: ${count} random histories`,
  { timeout: count * perHistoryMs },
  async () => {
    const check = fc.asyncProperty(histories, (history) => live(history, referenceGround(history.stretch[1])));
    // To look for a smaller history may take longer than the test has, and its seed would be lost with it.
    await fc.assert(check, {
      numRuns: count,
      endOnFailure: true,
      examples: [[editAfterGap]],
      ...(seed === undefined ? {} : { seed: Number(seed) }),
    });
    // Of a thousand histories (20 seeds, fewest to most): 372 to 466 have rows, 22 to 41 end in a deletion with undecided times, in 74 to 124 a time expires, in 33 to 58 one moves, in 148 to 176 (3 seeds) a spread one fires.
    // Of 250, 35 % would be two times the spread below their mean.
    expect(seen.filled).toBeGreaterThan((count < 1_000 ? 0.25 : 0.35) * count);
    const thousands = Math.floor(count / 1_000);
    expect(seen.deleted).toBeGreaterThanOrEqual(10 * thousands);
    expect(seen.expired).toBeGreaterThanOrEqual(50 * thousands);
    expect(seen.excluded).toBeGreaterThanOrEqual(10 * thousands);
    expect(seen.moved).toBeGreaterThanOrEqual(20 * thousands);
    expect(seen.spread).toBeGreaterThanOrEqual(80 * thousands);
  },
);
