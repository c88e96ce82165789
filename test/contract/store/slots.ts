import { expect, test } from "vitest";
import { noAftermath } from "../../../src/machine/outbox.ts";
import type { TestStore } from "../../support/looks.ts";
import { FenceLost } from "../../../src/machine/fence.ts";
import {
  claimOne,
  outboxIds,
  insertMany,
  insertOne,
  minute,
  failure,
  moves,
  only,
  running,
  settleOne,
  show,
  contract,
  type At,
  insertAlike,
} from "./fixture.ts";
import { cap, capped, claimAll, lock, wakeNext } from "./slot-order.ts";

export const slotsContract = contract({
  "slots: taking and refusing": taking,
  "slots: several groups and sizes": several,
  "slots: freeing": freeing,
  wake: waking,
});

const queueOne = { key: "overlap:s", size: 1, onRefusal: "queue-one", reason: "overlap" } as const;

function taking({ store }: At): void {
  test("a row refused by a cap is PENDING, held for the slot, under a new generation, and says why", async () => {
    await store.installSlots([cap(1)]);
    await running(store, capped);
    const refused = await claimOne(store, await insertOne(store, capped));
    expect(refused).toMatchObject({ state: "PENDING", reason: "slot", generation: 2, attempt: 0 });
    const { job, events } = await show(store, refused.jobId);
    expect(job).toMatchObject({ state: "PENDING", hold: "slot", generation: 2, attempt: 0 });
    expect(events.at(-1)).toMatchObject({ from: "QUEUED", to: "PENDING", reason: "slot" });
  });

  test("a row refused by a lock is SKIPPED with the reason of the group", async () => {
    await store.installSlots([lock]);
    await running(store, { slotKeys: ["lock:l"] });
    const refused = await claimOne(store, await insertOne(store, { slotKeys: ["lock:l"] }));
    expect(refused).toMatchObject({ state: "SKIPPED", reason: "lock-held" });
    expect(await moves(store, refused.jobId)).toEqual([">PENDING", "QUEUED>SKIPPED"]);
  });

  test("queue-one holds the first that is refused and skips those after it", async () => {
    await store.installSlots([queueOne]);
    const late = { slotKeys: ["overlap:s"] };
    const [first, second, third] = await insertMany(store, [late, late, late]);
    expect((await claimOne(store, first)).state).toBe("RUNNING");
    expect(await claimOne(store, second)).toMatchObject({ state: "PENDING", reason: "slot" });
    expect(await claimOne(store, third)).toMatchObject({ state: "SKIPPED", reason: "overlap" });
  });
}

function several({ store }: At): void {
  test("a job that needs two slot groups takes both or none", async () => {
    await store.installSlots([cap(1), lock]);
    const both = { slotKeys: ["cap:x", "lock:l"] };
    const holder = await running(store, { slotKeys: ["lock:l"] });
    expect((await claimOne(store, await insertOne(store, both))).state).toBe("SKIPPED");
    expect((await running(store, capped)).state).toBe("RUNNING");
    await settleOne(store, holder);
    expect(await claimOne(store, await insertOne(store, both))).toMatchObject({ state: "PENDING", reason: "slot" });
    expect(await claimOne(store, await insertOne(store, { slotKeys: ["lock:l"] }))).toMatchObject({ state: "RUNNING" });
  });

  test("installing a bigger size adds slots, the same again none; a smaller one retires free slots and never a taken one", async () => {
    await store.installSlots([cap(1)]);
    const held = await running(store, capped);
    for (const same of [cap(2), cap(2)]) await store.installSlots([same]);
    const second = await running(store, capped);
    await store.installSlots([cap(1)]);
    const [third, fourth] = await insertMany(store, [capped, capped]);
    expect((await claimOne(store, third)).state).toBe("PENDING");
    await settleOne(store, second);
    expect((await claimOne(store, fourth)).state).toBe("PENDING");
    await settleOne(store, held);
    expect((await wakeNext(store)).state).toBe("RUNNING");
  });
}

function freeing({ store, advance }: At): void {
  test("every settlement frees the slots of its job and names them", async () => {
    for (const over of [{}, failure, { to: "FAILED", failures: 1 }, { to: "QUEUED", interruptions: 1 }] as const) {
      await store.installSlots([cap(1)]);
      const held = await running(store, capped);
      expect((await settleOne(store, held, { ...over, delayMs: 60 * minute })).aftermath.freed).toEqual(["cap:x"]);
      const next = await running(store, capped);
      await settleOne(store, next);
    }
  });

  test("a settlement that came too late frees nothing", async () => {
    await store.installSlots([cap(1)]);
    const held = await running(store, capped);
    expect((await settleOne(store, { ...held, attempt: 2 })).aftermath.freed).toEqual([]);
    expect((await claimOne(store, await insertOne(store, capped))).state).toBe("PENDING");
  });

  test("rescue frees the slots of a job that it gives up", async () => {
    await store.installSlots([cap(1)]);
    await running(store, capped);
    await advance(minute);
    expect((await store.rescue({ limit: 10, interruptionsMax: 1 })).aftermath.freed).toEqual(["cap:x"]);
    expect((await running(store, capped)).state).toBe("RUNNING");
  });

  test("a canceled job keeps its slot until its worker frees it", async () => {
    await store.installSlots([cap(1)]);
    const held = await running(store, capped);
    expect((await store.cancel([held.jobId])).aftermath.freed).toEqual([]);
    expect((await claimOne(store, await insertOne(store, capped))).state).toBe("PENDING");
    const other = { jobId: held.jobId, attempt: held.attempt + 1 };
    expect(await store.freeSlots([other])).toEqual(noAftermath);
    expect(await store.freeSlots([held])).toEqual({ ...noAftermath, freed: ["cap:x"] });
    expect(await store.freeSlots([held])).toEqual(noAftermath);
    expect((await wakeNext(store)).state).toBe("RUNNING");
  });

  test("a canceled job's slot is free only after every lease that a late heartbeat could have renewed", async () => {
    await store.installSlots([cap(1)]);
    const held = await running(store, { ...capped, leaseMs: 30_000 });
    await advance(20_000);
    await store.cancel([held.jobId]);
    await advance(25_000);
    expect((await claimOne(store, await insertOne(store, capped))).state).toBe("PENDING");
    await advance(10_000);
    expect((await wakeNext(store)).state).toBe("RUNNING");
    expect(await store.freeSlots([held])).toEqual(noAftermath);
  });

  test("freeSlots does not free the slot of a job that runs", async () => {
    await store.installSlots([cap(1)]);
    const held = await running(store, capped);
    expect(await store.freeSlots([held])).toEqual(noAftermath);
    expect((await claimOne(store, await insertOne(store, capped))).state).toBe("PENDING");
  });
}

/** A full cap of one and this many rows that were refused by it. */
async function fullWithHeld(store: TestStore, held: number) {
  await store.installSlots([cap(1)]);
  const holder = await running(store, capped);
  const ids = await insertAlike(store, held, capped);
  await claimAll(store, ids);
  return { holder, ids };
}

function waking({ store, advance }: At): void {
  test("hands off as many held rows as there are free slots, the earliest first", async () => {
    const { holder, ids } = await fullWithHeld(store, 3);
    expect(await store.wake({ slotKeys: ["cap:x"], limit: 10 })).toEqual([]);
    const { freed } = (await settleOne(store, holder)).aftermath;
    const message = only(only(await store.wake({ slotKeys: freed, limit: 10 })).messages);
    expect(message).toMatchObject({ jobId: ids[0], generation: 3, delayMs: 0 });
    const { job } = await show(store, message.jobId);
    expect(job).toMatchObject({ state: "QUEUED", hold: "none", generation: 3 });
  });

  test("looks only at the named keys, or at all of them when asked", async () => {
    const { holder, ids } = await fullWithHeld(store, 1);
    await settleOne(store, holder);
    expect(await store.wake({ slotKeys: ["cap:other"], limit: 10 })).toEqual([]);
    expect(await store.wake({ slotKeys: [], limit: 10 })).toEqual([]);
    expect(outboxIds(await store.wake({ slotKeys: "all", limit: 10 }))).toEqual(ids);
  });

  test("hands off no more than the limit", async () => {
    const { holder } = await fullWithHeld(store, 3);
    await settleOne(store, holder);
    await store.installSlots([cap(3)]);
    expect(outboxIds(await store.wake({ slotKeys: "all", limit: 2 }))).toHaveLength(2);
  });

  test("a claim that SKIPs the row a slot was kept for names that slot as freed, so that the next one is woken", async () => {
    await store.installSlots([cap(1)]);
    const holder = await running(store, capped);
    const expiring = { ...capped, expiresAt: (await store.now()) + minute };
    const ids = await insertMany(store, [expiring, capped]);
    await claimAll(store, ids);
    await settleOne(store, holder);
    const message = only(only(await store.wake({ slotKeys: ["cap:x"], limit: 10 })).messages);
    await advance(2 * minute);
    const { claimed, aftermath } = await store.claim([message], { worker: "worker-1", alone: false });
    expect(only(claimed)).toMatchObject({ jobId: ids[0], state: "SKIPPED", reason: "expired" });
    expect(outboxIds(await store.wake({ slotKeys: aftermath.freed, limit: 10 }))).toEqual([ids[1]]);
  });

  test("a slot that a canceled job left behind is free for wake once its lease would have ended", async () => {
    const { holder, ids } = await fullWithHeld(store, 1);
    await store.cancel([holder.jobId]);
    expect(await store.wake({ slotKeys: "all", limit: 10 })).toEqual([]);
    await advance(minute);
    expect(outboxIds(await store.wake({ slotKeys: "all", limit: 10 }))).toEqual(ids);
  });

  test("under an older fence throws FenceLost and wakes nothing", async () => {
    const { holder, ids } = await fullWithHeld(store, 1);
    await settleOne(store, holder);
    await store.installFence({ name: "pass", token: 2 });
    const stale = store.wake({ slotKeys: "all", limit: 10, fence: { name: "pass", token: 1 } });
    await expect(stale).rejects.toThrow(FenceLost);
    const [id] = ids;
    if (id === undefined) throw new Error("one job was held");
    expect((await show(store, id)).job.hold).toBe("slot");
  });
}
