import { describe, expect, test } from "vitest";
import { defineJob } from "../../src/core/index.ts";
import { workerLimits } from "../../src/core/work/worker-limits.ts";
import { unknownKind } from "../../src/core/work/unknown-kind.ts";
import { claimRig, waitingRow } from "./claim-rig.ts";
import { aClaimed } from "./rows.ts";
import { acknowledge, jobOf, shop, type Shop, world } from "./world.ts";

const minute = 60_000;

/** A job of a release that this lane's worker does not have yet: the older worker and the newer one. */
async function releases() {
  const ran: number[] = [];
  const report = defineJob({ id: "report", retry: { maxAttempts: 1 }, run: (_, ctx) => void ran.push(ctx.attempt) });
  const newer = await shop([report]);
  const older = await shop([], newer.world);
  const id = await newer.enqueue(report, undefined);
  const { clock } = newer.world;
  return { newer, older, id, ran, clock, row: () => jobOf(newer.world, id) };
}

/** A minute of the lane's life with one kind of worker. */
async function live({ world: ports, worker, receive }: Shop, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5_000) {
    await ports.clock.advance(5_000);
    const records = receive();
    acknowledge(ports, records, (await worker.handle(records, { remainingMs: () => 600_000 })).failed);
  }
}

describe("a job whose kind a worker does not know", () => {
  test("waits for a worker that does, while a release may be on its way, and pays no try for it", async () => {
    const { newer, older, ran, row } = await releases();
    await live(older, minute);
    expect(await row()).toMatchObject({
      state: "QUEUED",
      failures: 0,
      interruptions: 0,
      errorCode: "UNKNOWN_KIND",
      errorMessage: expect.stringContaining('no definition "report" in this release'),
    });
    await live(newer, 2 * minute);
    expect(await row()).toMatchObject({ state: "SUCCESS", failures: 0 });
    expect(ran).toHaveLength(1);
  });

  test("is asked for seldom, and FAILED with what to do once no release can be on its way any more", async () => {
    const { older, row } = await releases();
    await live(older, workerLimits.unknownKindMs + 2 * minute);
    expect(await row()).toMatchObject({
      state: "FAILED",
      failures: 1,
      errorCode: "UNKNOWN_KIND",
      errorMessage: expect.stringContaining("deploy the code that defines it, then retry the job"),
    });
    expect((await row()).attempt).toBeLessThan(30);
  });

  test("is FAILED at once when it was made long ago: its kind was taken out of the code", async () => {
    const { older, clock, row } = await releases();
    await clock.advance(workerLimits.unknownKindMs + minute);
    await live(older, 5_000);
    expect(await row()).toMatchObject({ state: "FAILED", attempt: 1, errorCode: "UNKNOWN_KIND" });
  });

  test("waits also when nobody can say how old it is", async () => {
    const ports = world((base) => ({
      store: Object.assign({}, base.store, { job: () => Promise.reject(new Error("down")) }),
    }));
    const report = defineJob({ id: "report", run: () => {} });
    const newer = await shop([report], ports);
    const id = await newer.enqueue(report, undefined);
    const older = await shop([], ports);
    await live(older, 5_000);
    expect(await ports.store.peek([id])).toMatchObject([{ state: "QUEUED" }]);
  });
});

describe("how long a job of an unknown kind waits", () => {
  /** By its age; undefined: it has no row, null: its row cannot be read. */
  const outcome = (ageMs: number | null | undefined) => {
    const peek = () => {
      if (ageMs === null) throw new Error("down");
      return ageMs === undefined ? [] : [waitingRow("1", { ageMs })];
    };
    return unknownKind(claimRig({ peek }).scope, aClaimed("1", { kind: "gone" }));
  };

  test.each([
    [undefined, 5_000],
    [null, 5_000],
    [0, 5_000],
    [4_999, 5_000],
    [5_001, 5_001],
    [30_000, 30_000],
    [60_000, 60_000],
    [60_001, 60_000],
    [900_000, 60_000],
  ])("at an age of %s ms: %s ms", async (ageMs, afterMs) => {
    expect(await outcome(ageMs)).toMatchObject({ is: "postponed", code: "UNKNOWN_KIND", afterMs, counted: false });
  });

  test("and from a millisecond beyond a quarter of an hour it does not wait", async () => {
    expect(await outcome(900_001)).toMatchObject({ is: "permanent", code: "UNKNOWN_KIND" });
  });
});
