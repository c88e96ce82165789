import { expect, test } from "vitest";
import { contractLimits } from "../../../src/machine/contract-limits.ts";
import type { JobId } from "../../../src/machine/job.ts";
import {
  claimOne,
  failure,
  insertMany,
  insertOne,
  minute,
  only,
  running,
  settleOne,
  settlementOf,
  settleOptions,
  show,
  contract,
  type At,
  insertAlike,
} from "./fixture.ts";
import { aRun, aTask } from "./run-fixture.ts";
import { claimAll, wakeNext } from "./slot-order.ts";

const queueAll = { key: "overlap:s", size: 1, onRefusal: "hold", reason: "overlap" } as const;
const ofSchedule = { slotKeys: ["overlap:s"] };

const cancelRunning = { ...queueAll, reason: "replaced" } as const;

export const overlapContract = contract({
  "overlap: cancel-running": [replacing, replacingRuns],
  "overlap: queue-all": queueing,
});

function queueing({ store }: At): void {
  test("queue-all holds each that is refused, and they run in the order in which they were due", async () => {
    await store.installSlots([queueAll]);
    let runs = await running(store, ofSchedule);
    const [first, second, third] = await insertMany(store, [ofSchedule, ofSchedule, ofSchedule]);
    expect(await claimAll(store, [third, first, second])).toEqual(["PENDING", "PENDING", "PENDING"]);
    for (const id of [first, second, third]) {
      await settleOne(store, runs);
      runs = await wakeNext(store);
      expect(runs.jobId).toBe(id);
    }
  });

  test("of so many that wait under queue-all the next is SKIPPED, within a batch too", async () => {
    await store.installSlots([queueAll]);
    await running(store, ofSchedule);
    const { overlapWaitingMax: most } = contractLimits;
    const ids = await insertAlike(store, most + 2, ofSchedule);
    await claimAll(store, ids.slice(0, most - 1));
    expect(await claimAll(store, ids.slice(most - 1, most + 1))).toEqual(["PENDING", "SKIPPED"]);
    expect(await claimOne(store, ids[most + 1] ?? ("" as JobId))).toMatchObject({
      state: "SKIPPED",
      reason: "overlap",
    });
  });
}

function replacing({ store, advance }: At): void {
  /** Triggered in this order, a second apart. */
  const two = async (): Promise<readonly [old: JobId, newer: JobId]> => {
    await store.installSlots([cancelRunning]);
    const old = await insertOne(store, ofSchedule);
    await advance(1_000);
    return [old, await insertOne(store, ofSchedule)];
  };

  test("a time that is refused replaces the one that runs, and starts once its handler is gone", async () => {
    const [old, newer] = await two();
    const runs = await claimOne(store, old);
    expect(await store.replaced([queueAll.key], [old])).toEqual([]);
    const waits = await claimOne(store, newer);
    expect([runs.replaces, waits.replaces, waits.state]).toEqual([true, true, "PENDING"]);
    const [found, ...others] = await store.replaced("all");
    expect([found, others]).toMatchObject([{ schedule: "s", jobs: [old], runs: [] }, []]);
    await store.cancel([old], { caller: "schedule s", reason: "replaced" });
    const { history } = await show(store, old);
    expect(history.at(-1)).toMatchObject({ to: "CANCELED", reason: "replaced", caller: "schedule s" });
    const canceledAt = await store.now();
    await advance(1_000);
    const holder = await store.slotHolder(newer, { at: await store.now(), prefix: "" });
    expect(holder).toMatchObject({ id: old, canceledAt });
    expect(await store.wake({ slotKeys: "all", limit: 1 })).toEqual([]);
    await store.freeSlots([runs]);
    expect(await wakeNext(store)).toMatchObject({ jobId: newer, state: "RUNNING" });
    expect(await store.replaced("all")).toEqual([]);
  });

  test("one whose worker is dead is replaced too: the later time starts when its lease would have ended", async () => {
    const [old, newer] = await two();
    await claimOne(store, old);
    await claimOne(store, newer);
    await store.cancel([old], { reason: "replaced" });
    await advance(minute);
    expect((await store.rescue({ limit: 10, interruptionsMax: 20 })).rows).toEqual([]);
    expect(await wakeNext(store)).toMatchObject({ jobId: newer, state: "RUNNING" });
  });

  test("of several that wait only the latest is left, and an earlier one does not replace a later", async () => {
    const [old, newer] = await two();
    await claimOne(store, newer);
    await claimOne(store, old);
    expect(await store.replaced("all")).toMatchObject([{ jobs: [old] }]);
    const newest = await insertOne(store, ofSchedule);
    await claimOne(store, newest);
    expect(await store.replaced("all")).toMatchObject([{ jobs: [old, newer] }]);
  });

  test("a time that begins replaces the one that waits for its next attempt", async () => {
    const [old, newer] = await two();
    await settleOne(store, await claimOne(store, old), { ...failure, delayMs: minute });
    expect(await claimOne(store, newer)).toMatchObject({ state: "RUNNING", replaces: true });
    expect(await store.replaced([queueAll.key], [old, newer])).toMatchObject([{ jobs: [old] }]);
  });

  test("a backfilled time neither replaces nor is replaced", async () => {
    const [old, newer] = await two();
    await store.installSlots([{ key: "backfill:s", size: 1, onRefusal: "hold", reason: "slot" }]);
    const backfilled = await insertOne(store, { slotKeys: ["overlap:s", "backfill:s"] });
    await claimOne(store, backfilled);
    await claimOne(store, old);
    expect(await store.replaced("all", [backfilled])).toEqual([]);
    await claimOne(store, newer);
    expect(await store.replaced("all", [backfilled])).toMatchObject([{ jobs: [old] }]);
  });

  test("a schedule that lets times wait replaces none", async () => {
    const [old, newer] = await two();
    await store.installSlots([queueAll]);
    await claimOne(store, old);
    expect((await claimOne(store, newer)).replaces).toBeUndefined();
    expect(await store.replaced("all")).toEqual([]);
  });
}

function replacingRuns({ store, advance }: At): void {
  test("the run that an earlier time started is replaced as a whole, and waited for until no job of it can go on", async () => {
    await store.installSlots([cancelRunning]);
    const starter = await claimOne(store, await insertOne(store, ofSchedule));
    const { runId } = await store.transaction(async (tx) => {
      const made = await store.startRun(aRun({ tasks: [aTask("load")], starterId: starter.jobId }), { tx });
      await store.settle([settlementOf(starter)], { worker: settleOptions.worker, tx });
      return made;
    });
    await claimOne(store, only(await store.tasks(runId)).jobId);
    await advance(1_000);
    const newer = await claimOne(store, await insertOne(store, ofSchedule));
    expect(await store.replaced("all")).toMatchObject([{ jobs: [], runs: [runId] }]);
    await store.cancelRun(runId, { caller: "schedule s" });
    expect(await store.cancelPage(runId, { limit: 10 })).toMatchObject({ canceled: 1 });
    expect(await store.replaced("all")).toEqual([]);
    await store.resolve({ runs: [runId], limit: 10 });
    const closed = await store.resolve({ runs: [runId], limit: 10 });
    expect(closed).toMatchObject({ closed: [{ runId, state: "CANCELED" }], aftermath: { freed: [] } });
    expect(await store.wake({ slotKeys: "all", limit: 1 })).toEqual([]);
    await advance(minute);
    await store.rescue({ limit: 10, interruptionsMax: 20 });
    expect(await store.resolve({ runs: "all", limit: 10 })).toMatchObject({ aftermath: { freed: [queueAll.key] } });
    expect((await wakeNext(store)).jobId).toBe(newer.jobId);
  });

  test("a job that still writes its run is replaced with it, and waited for as long", async () => {
    await store.installSlots([cancelRunning]);
    const starter = await claimOne(store, await insertOne(store, ofSchedule));
    const { runId } = await store.startRun(aRun({ sealed: false, starterId: starter.jobId }));
    await advance(1_000);
    await claimOne(store, await insertOne(store, ofSchedule));
    expect(await store.replaced("all")).toMatchObject([{ jobs: [starter.jobId], runs: [runId] }]);
    await store.cancelRun(runId);
    await store.cancel([starter.jobId], { reason: "replaced" });
    expect((await store.freeSlots([starter])).freed).toEqual([]);
    expect(await store.wake({ slotKeys: "all", limit: 1 })).toEqual([]);
    await advance(minute);
    expect((await wakeNext(store)).state).toBe("RUNNING");
  });
}
