import { describe, expect, test } from "vitest";
import { deliveryLimits } from "../../src/core/ports/delivery-limits.ts";
import { claimEarly, type ClaimedBatch } from "../../src/core/work/claim.ts";
import { arrived, type ClaimRig, claimRig, waitingRow } from "./claim-rig.ts";
import { aClaimed } from "./rows.ts";

const plenty = (): number => 600_000;

/** Runs `claimEarly` for jobs that are due at these times, from 100 ms on, and lets ten seconds pass. */
async function claimedEarly(
  rig: ClaimRig,
  dueAt: readonly number[],
  { remainingMs = plenty, startMs = 100 }: { remainingMs?: () => number; startMs?: number } = {},
) {
  await rig.ports.clock.advance(startMs);
  const batches: ClaimedBatch[] = [];
  const early = dueAt.map((dueAtMs, n) => ({ item: arrived(String(n + 1)), dueAtMs }));
  const all = (async () => {
    for await (const batch of claimEarly(rig.scope, early, { alone: true, remainingMs })) batches.push(batch);
  })();
  await rig.ports.clock.advance(10_000);
  await all;
  return batches;
}

const taking = () => claimRig({ claim: ({ ids }) => ids.map((id) => aClaimed(id)) });
/** No claim ever takes a job, and each look says that it is due in this time. */
const refusing = (dueInMs: number, answers: Parameters<typeof claimRig>[0] = {}) =>
  claimRig({ peek: (ids) => ids.map((id) => waitingRow(id, { dueInMs })), ...answers });
const asksOf = (rig: ClaimRig) => rig.claims.map(({ ids, atMs }) => [atMs, ...ids]);
const unclaimed = "due jobs could not be claimed; their messages are sent again";

describe("early jobs", () => {
  test.each<[string, readonly number[], number, readonly (readonly (string | number)[])[]]>([
    [
      "each at its own time, those of one time together",
      [700, 300, 500, 300],
      100,
      [
        [300, "2", "4"],
        [500, "3"],
        [700, "1"],
      ],
    ],
    ["at once, and together, when all are due by now", [300, 200], 400, [[400, "1", "2"]]],
    [
      "those due by now together, and the others later",
      [300, 200, 900],
      400,
      [
        [400, "1", "2"],
        [900, "3"],
      ],
    ],
    ["at its exact time", [100], 100, [[100, "1"]]],
  ])("are claimed %s", async (_, dueAt, startMs, asks) => {
    const rig = taking();
    const batches = await claimedEarly(rig, dueAt, { startMs });
    expect(asksOf(rig)).toEqual(asks);
    expect(rig.claims.every(({ alone }) => alone)).toBe(true);
    expect(batches.flatMap(({ running }) => running.map(({ jobId }) => jobId)).toSorted()).toEqual(
      dueAt.map((__, n) => String(n + 1)),
    );
    // No word of a failed claim, and no call of the queue, while all goes well.
    expect([rig.ports.lines, rig.sends]).toEqual([[], []]);
  });

  test("are all tried once, at once, when the worker has no time left", async () => {
    const rig = refusing(1_500);
    const batches = await claimedEarly(rig, [500, 900], { remainingMs: () => 0 });
    expect(asksOf(rig)).toEqual([[100, "1", "2"]]);
    expect(rig.sends).toEqual([
      [
        { id: "1", delayMs: 1_500 },
        { id: "2", delayMs: 1_500 },
      ],
    ]);
    expect(batches).toEqual([{ running: [], alone: [], giveBack: [], isStoreAway: false, early: [] }]);
  });

  test("are all tried once, at once, when the worker stops", async () => {
    const rig = refusing(1_500);
    rig.stop.abort();
    await claimedEarly(rig, [500, 900]);
    expect(asksOf(rig)).toEqual([[100, "1", "2"]]);
    expect(rig.sends).toHaveLength(1);
  });

  test("with one millisecond of time left are waited for that long, and only the first is tried", async () => {
    const rig = taking();
    await claimedEarly(rig, [500, 900], { remainingMs: () => 1 });
    expect(asksOf(rig)).toEqual([
      [101, "1"],
      [102, "2"],
    ]);
  });

  test("wait no longer than the worker's time", async () => {
    const rig = refusing(300);
    await claimedEarly(rig, [900], { remainingMs: () => 350 - rig.ports.clock.elapsedMs() });
    expect(asksOf(rig)).toEqual([[350, "1"]]);
  });

  test("that no claim takes are claimed for some rounds, and then sent again with a delay and a warning", async () => {
    const rig = refusing(0.5);
    await claimedEarly(rig, [200]);
    expect(asksOf(rig)).toEqual([
      [200, "1"],
      [200.5, "1"],
      [201, "1"],
    ]);
    expect(rig.claims).toHaveLength(deliveryLimits.earlyClaimRoundsMax);
    expect(rig.sends).toEqual([[{ id: "1", delayMs: deliveryLimits.stuckMessageDelayMs }]]);
    const warned = rig.ports.lines.filter(({ message }) => message === unclaimed);
    expect(warned).toMatchObject([{ level: "warn", fields: { jobs: ["1"] } }]);
  });

  test("have rounds of their own", async () => {
    const rig = refusing(0.5, { claim: ({ ids }) => ids.filter((id) => id === "2").map((id) => aClaimed(id)) });
    await claimedEarly(rig, [200, 201.5]);
    expect(asksOf(rig)).toEqual([
      [200, "1"],
      [200.5, "1"],
      [201, "1"],
      [201.5, "2"],
    ]);
  });

  test("that neither a claim nor the queue takes are given back", async () => {
    const rig = refusing(0.5, { refused: () => [0] });
    const batches = await claimedEarly(rig, [200]);
    expect(batches.map(({ giveBack }) => giveBack)).toEqual([[], [], ["m1"]]);
  });

  test("whose claim fails are given back", async () => {
    const rig = claimRig({
      claim: () => {
        throw new Error("down");
      },
    });
    const batches = await claimedEarly(rig, [200, 300]);
    expect(batches.map(({ giveBack, isStoreAway }) => [giveBack, isStoreAway])).toEqual([
      [["m1"], true],
      [["m2"], true],
    ]);
  });
});

describe("messages that are sent again", () => {
  const later = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

  test.each([
    [1, [1]],
    [9, [9]],
    [10, [10]],
    [11, [10, 1]],
    [20, [10, 10]],
  ])("go in calls of ten: %s", async (count, sizes) => {
    const rig = refusing(1_200);
    await claimedEarly(
      rig,
      later(count).map(() => 500),
      { remainingMs: () => 0 },
    );
    expect(rig.sends.map((page) => page.length)).toEqual(sizes);
  });

  test("are given back by the positions that the queue names; one outside of the call is no message", async () => {
    const rig = refusing(1_200, { refused: (messages) => [1, messages.length] });
    const [batch] = await claimedEarly(
      rig,
      later(12).map(() => 500),
      { remainingMs: () => 0 },
    );
    expect(batch?.giveBack).toEqual(["m2", "m12"]);
  });

  test("are given back by the call that failed, and the others are not", async () => {
    const rig = refusing(1_200, {
      refused: (messages) => {
        if (messages.length === 10) throw new Error("throttled");
        return [];
      },
    });
    const [batch] = await claimedEarly(
      rig,
      later(12).map(() => 500),
      { remainingMs: () => 0 },
    );
    expect(batch?.giveBack).toEqual(later(10).map((n) => `m${n}`));
  });
});
