import { describe, expect, test } from "vitest";
import type { JobId } from "../../src/core/job/job.ts";
import { reasons } from "../../src/core/job/reasons.ts";
import type { JobPeek } from "../../src/core/ports/ports.ts";
import { claimBatch } from "../../src/core/work/claim.ts";
import { arrived, claimRig, waitingRow } from "./claim-rig.ts";
import { aClaimed } from "./rows.ts";
import { sum } from "./world.ts";

const ids = (items: readonly { message: { jobId: JobId } }[]): readonly string[] =>
  items.map(({ message }) => message.jobId);

/** Where a message goes whose row no claim took. `asked`: its condition is evaluated and it is claimed again. */
type Place = "dropped" | "later" | "early" | "asked" | "alone";

/** By due time: where a row goes that is neither to run alone nor has an open condition. */
const byDue: readonly (readonly [dueInMs: number, plain: Place, isDue: boolean])[] = [
  [-5, "early", true],
  [0, "early", true],
  [0.5, "early", false],
  [1, "early", false],
  [1_999, "early", false],
  [2_000, "early", false],
  [2_000.5, "later", false],
  [2_001, "later", false],
];
const conditions: readonly (boolean | undefined)[] = [undefined, false, true];

interface Case {
  readonly id: string;
  readonly row: JobPeek;
  readonly isAsked: boolean;
  readonly place: Place;
}

/** Every combination, each with its place worked out from the columns. */
function cases(): readonly Case[] {
  const made: Case[] = [];
  for (const [dueInMs, plain, isDue] of byDue)
    for (const hasCondition of conditions)
      for (const alone of [false, true])
        for (const isAsked of [false, true])
          for (const [state, generation] of [
            ["QUEUED", 1],
            ["QUEUED", 2],
            ["QUEUED", 0],
            ["RUNNING", 1],
            ["PENDING", 1],
            ["SUCCESS", 1],
          ] as const) {
            const id = String(made.length + 1);
            const over = hasCondition === undefined ? {} : { hasCondition };
            const row = waitingRow(id, { dueInMs, alone, state, generation, ...over });
            let place = plain;
            if (isDue && alone) place = "alone";
            if (isDue && hasCondition === true && !isAsked) place = "asked";
            if (state !== "QUEUED" || generation !== 1) place = "dropped";
            made.push({ id, row, isAsked, place });
          }
  return made;
}

describe("a message whose row the claim did not take", () => {
  test("goes where its row's state, due time, condition and loneliness say", async () => {
    const table = cases();
    const rows = new Map(table.map(({ id, row }) => [id, row]));
    const rig = claimRig({
      claim: ({ ids: messages }, call) => (call === 1 ? [] : messages.map((id) => aClaimed(id))),
      peek: (looked) => looked.flatMap((id) => rows.get(id) ?? []),
    });
    await rig.ports.clock.advance(100);
    const askedBefore = table.filter(({ isAsked }) => isAsked).map(({ id }) => id as JobId);
    const batch = await claimBatch(
      rig.scope,
      [...table.map(({ id }) => arrived(id)), arrived("404")],
      false,
      askedBefore,
    );
    const of = (place: Place): readonly string[] => table.filter((each) => each.place === place).map(({ id }) => id);
    expect(ids(batch.alone)).toEqual(of("alone"));
    expect(batch.running.map(({ jobId }) => jobId)).toEqual(of("asked"));
    expect(rig.claims[1]).toMatchObject({ ids: of("asked"), asked: of("asked") });
    expect(batch.early.map(({ item, dueAtMs }) => [item.message.jobId, dueAtMs])).toEqual(
      of("early").map((id) => [id, 100 + Math.max(0, rows.get(id)?.dueInMs ?? 0)]),
    );
    expect(rig.sends.flat()).toEqual(of("later").map((id) => ({ id, delayMs: rows.get(id)?.dueInMs })));
    expect([batch.giveBack, batch.isStoreAway]).toEqual([[], false]);
    expect(new Set(table.map(({ place }) => place)).size).toBe(5);
  });

  test("is claimed a second time with its condition's answer, and what both claims leave is added up", async () => {
    const condition = { hasCondition: true };
    const first = [
      waitingRow("2", { alone: true }),
      waitingRow("3", { dueInMs: 9_000 }),
      waitingRow("4", { dueInMs: 40 }),
      ...["5", "6", "7", "8"].map((id) => waitingRow(id, condition)),
    ];
    const second = [
      waitingRow("6", { ...condition, alone: true }),
      waitingRow("7", condition),
      waitingRow("8", { dueInMs: 5_000 }),
    ];
    const rig = claimRig({
      claim: (_, call) => [aClaimed(call === 1 ? "1" : "5")],
      peek: (_, call) => (call === 1 ? first : second),
      refused: () => [0],
    });
    const all = ["1", "2", "3", "4", "5", "6", "7", "8"].map(arrived);
    const batch = await claimBatch(rig.scope, all, true);
    expect(batch.running.map(({ jobId }) => jobId)).toEqual(["1", "5"]);
    expect(ids(batch.alone)).toEqual(["2", "6"]);
    expect(batch.giveBack).toEqual(["m3", "m8"]);
    expect(batch.early.map(({ item }) => item.messageId)).toEqual(["m4", "m7"]);
    expect(batch.isStoreAway).toBe(false);
    expect(rig.claims.map(({ alone }) => alone)).toEqual([true, true]);
    expect(rig.ports.lines).toEqual([]);
  });

  test("and whose second claim fails is given back beside what the first one left, and the store counts as away", async () => {
    const rig = claimRig({
      claim: (_, call) => {
        if (call === 2) throw new Error("down");
        return [];
      },
      peek: () => [waitingRow("1", { hasCondition: true }), waitingRow("2", { dueInMs: 9_000 })],
      refused: () => [0],
    });
    const batch = await claimBatch(rig.scope, [arrived("1"), arrived("2")], false);
    expect(batch).toEqual({ running: [], alone: [], giveBack: ["m2", "m1"], isStoreAway: true, early: [] });
  });

  test("asks no run and claims nothing again when no row has a condition", async () => {
    const inRuns = (): Promise<never> => Promise.reject(new Error("asked for runs"));
    const rig = claimRig({ peek: () => [waitingRow("1")], store: { inRuns } });
    const batch = await claimBatch(rig.scope, [arrived("1")], false);
    expect([batch.early.length, batch.isStoreAway, rig.claims.length]).toEqual([1, false, 1]);
  });
});

describe("a claim", () => {
  test("of no message asks the store nothing", async () => {
    const rig = claimRig({});
    expect(await claimBatch(rig.scope, [], false)).toEqual({
      running: [],
      alone: [],
      giveBack: [],
      isStoreAway: false,
      early: [],
    });
    expect(rig.claims).toEqual([]);
  });

  test("that takes every message looks at no row", async () => {
    const rig = claimRig({
      claim: ({ ids: messages }) => messages.map((id) => aClaimed(id)),
      peek: () => {
        throw new Error("looked");
      },
    });
    const batch = await claimBatch(rig.scope, [arrived("1")], false);
    expect([batch.running.length, batch.isStoreAway]).toEqual([1, false]);
  });

  test("whose look fails keeps what it took, gives the rest back, and the store counts as away", async () => {
    const rig = claimRig({
      claim: () => [aClaimed("1")],
      peek: () => {
        throw new Error("down");
      },
    });
    const batch = await claimBatch(rig.scope, [arrived("1"), arrived("2"), arrived("3")], false);
    expect(batch).toMatchObject({ running: [{ jobId: "1" }], giveBack: ["m2", "m3"], isStoreAway: true });
  });

  test("names each job and generation once, the newest delivery of it", async () => {
    const rig = claimRig({});
    const again = { messageId: "again", message: { ...arrived("1").message, generation: 2 } };
    await claimBatch(rig.scope, [arrived("1"), arrived("1"), again, arrived("2")], false);
    expect(rig.claims.map((claim) => claim.ids)).toEqual([["1", "1", "2"]]);
  });

  test("counts what it refused, and as a held lock only what a lock refused", async () => {
    const rig = claimRig({
      claim: () => [
        aClaimed("1"),
        aClaimed("2", { state: "PENDING", reason: null }),
        aClaimed("3", { state: "SKIPPED", reason: reasons.lockHeld }),
        aClaimed("4", { state: "CANCELED", reason: "expired" }),
      ],
    });
    const batch = await claimBatch(rig.scope, ["1", "2", "3", "4"].map(arrived), false);
    expect(batch.running.map(({ jobId }) => jobId)).toEqual(["1"]);
    expect(sum(rig.ports.measured, "job.refused", "k")).toBe(3);
    expect(sum(rig.ports.measured, "scheduler.lock.failed", "k")).toBe(1);
    expect(rig.ports.measured).toHaveLength(4);
  });
});
