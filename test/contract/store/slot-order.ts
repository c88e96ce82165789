import { expect, test } from "vitest";
import type { JobId } from "../../../src/machine/job.ts";
import type { Claimed } from "../../../src/machine/store.ts";
import type { TestStore } from "../../support/looks.ts";
import {
  aJob,
  claimOne,
  insertMany,
  insertOne,
  messageFor,
  minute,
  only,
  running,
  settleOne,
  show,
  contract,
  type At,
} from "./fixture.ts";

export const capped = { slotKeys: ["cap:x"] };
export const lock = { key: "lock:l", size: 1, onRefusal: "skip", reason: "lock-held" } as const;
export const cap = (size: number) => ({ key: "cap:x", size, onRefusal: "hold", reason: "slot" }) as const;
/** The states of these jobs after one claim of them all in one batch. */
export async function claimAll(store: TestStore, ids: readonly JobId[]): Promise<readonly string[]> {
  const messages = await Promise.all(ids.map((id) => messageFor(store, id)));
  const { claimed } = await store.claim(messages, { worker: "worker-1", alone: false });
  const states = new Map(claimed.map((row) => [row.jobId, row.state]));
  return ids.map((id) => states.get(id) ?? "nothing");
}

/** The earliest held job, claimed by the message that its wake decided to send. */
export async function wakeNext(store: TestStore): Promise<Claimed> {
  const message = only(only(await store.wake({ slotKeys: "all", limit: 1 })).messages);
  return only((await store.claim([message], { worker: "worker-1", alone: false })).claimed);
}

export const slotOrderContract = contract({ "slots: order": keeping });

function keeping({ store, advance }: At): void {
  test("installing only what is new keeps the numbers of a group that exists", async () => {
    await store.installSlots([cap(2)]);
    await store.installSlots([cap(1), { ...cap(1), key: "cap:y" }], { onlyNew: true });
    const ids = await insertMany(store, [capped, capped, { slotKeys: ["cap:y"] }, { slotKeys: ["cap:y"] }]);
    expect(await claimAll(store, ids)).toEqual(["RUNNING", "RUNNING", "RUNNING", "PENDING"]);
  });

  test("of many newcomers none overtakes a job that is held: neither beside the free slot, nor once it is woken", async () => {
    await store.installSlots([cap(1)]);
    const runs = await running(store, capped);
    const [first, ...newer] = await insertMany(store, [capped, capped, capped, capped, capped]);
    const held = await claimOne(store, first);
    expect(held.state).toBe("PENDING");
    await settleOne(store, runs);
    expect(await claimAll(store, newer.slice(0, 3))).toEqual(["PENDING", "PENDING", "PENDING"]);
    const message = only(only(await store.wake({ slotKeys: ["cap:x"], limit: 10 })).messages);
    expect(message.jobId).toBe(held.jobId);
    expect(await claimAll(store, newer.slice(3))).toEqual(["PENDING"]);
    expect(await store.wake({ slotKeys: ["cap:x"], limit: 10 })).toEqual([]);
    const { claimed } = await store.claim([message], { worker: "worker-1", alone: false });
    expect(only(claimed)).toMatchObject({ jobId: held.jobId, state: "RUNNING", generation: 3 });
    await settleOne(store, only(claimed));
    expect((await wakeNext(store)).jobId).toBe(newer[0]);
  });

  test("a new job behind one that is held for its key begins held: no message, and the wake after its commit looks at it", async () => {
    await store.installSlots([cap(3), lock]);
    const now = await store.now();
    const runs = await running(store, { slotKeys: ["cap:x", "lock:l"] });
    for (const each of [capped, capped]) await running(store, each);
    const held = await claimOne(store, await insertOne(store, capped));
    const { results, aftermath } = await store.insert([
      aJob({ slotKeys: ["lock:l", "cap:x"] }),
      aJob({ ...capped, dueAt: now - 1 }),
      aJob({ ...capped, dueAt: now + 1 }),
      aJob({ slotKeys: ["lock:l"] }),
      aJob(),
    ]);
    expect(aftermath.freed).toEqual(["cap:x"]);
    const [behind, ...others] = results.map(({ id }) => id);
    expect(only(aftermath.outbox).messages.map(({ jobId }) => jobId)).toEqual(others);
    const waits = { state: "PENDING", hold: "slot", heldOn: "cap:x", generation: 0 };
    expect((await show(store, behind as JobId)).job).toMatchObject(waits);
    await settleOne(store, runs);
    expect((await wakeNext(store)).jobId).toBe(held.jobId);
    await settleOne(store, { ...held, attempt: 1 });
    expect(await wakeNext(store)).toMatchObject({ jobId: behind, state: "RUNNING", generation: 1 });
  });

  test("where one call needs more slots than there are, its jobs begin held, and the wake sends the earliest due", async () => {
    await store.installSlots([cap(1)]);
    const jobs = [{ key: "a" }, { delayMs: minute }, { dueAt: (await store.now()) - 1 }].map((over) =>
      aJob({ ...capped, ...over }),
    );
    const { results, aftermath } = await store.insert(jobs);
    expect(only(aftermath.outbox).messages.map(({ jobId }) => jobId)).toEqual([results[1]?.id]);
    expect(aftermath.freed).toEqual(["cap:x"]);
    expect((await store.insert(jobs.slice(0, 1))).aftermath.freed).toEqual([]);
    expect(await wakeNext(store)).toMatchObject({ jobId: results[2]?.id, state: "RUNNING" });
    expect(await store.wake({ slotKeys: ["cap:x"], limit: 10 })).toEqual([]);
  });

  test("a slot is kept for a woken job only while its message may claim it", async () => {
    await store.installSlots([cap(1)]);
    const runs = await running(store, capped);
    const held = await claimOne(store, await insertOne(store, capped));
    await settleOne(store, runs);
    await store.wake({ slotKeys: ["cap:x"], limit: 10 });
    await store.cancel([held.jobId]);
    expect((await running(store, capped)).state).toBe("RUNNING");
  });

  test("a woken job that lacks another slot waits for that one from then on: no message, and it keeps nothing", async () => {
    await store.installSlots([cap(1), { ...cap(1), key: "cap:y" }]);
    const x = await running(store, capped);
    const both = await claimOne(store, await insertOne(store, { slotKeys: ["cap:x", "cap:y"] }));
    const y = await running(store, { slotKeys: ["cap:y"] });
    await settleOne(store, x);
    expect(await store.wake({ slotKeys: ["cap:x"], limit: 10 })).toEqual([]);
    expect((await show(store, both.jobId)).job).toMatchObject({ state: "PENDING", heldOn: "cap:y", generation: 2 });
    expect((await running(store, capped)).state).toBe("RUNNING");
    await settleOne(store, y);
    expect(await store.wake({ slotKeys: ["cap:y"], limit: 10 })).toEqual([]);
    expect((await show(store, both.jobId)).job).toMatchObject({ heldOn: "cap:x" });
  });

  test("a woken job keeps all its slots: a newcomer to any of them waits", async () => {
    await store.installSlots([cap(1), { ...cap(1), key: "cap:y" }]);
    const runs = await running(store, { slotKeys: ["cap:x", "cap:y"] });
    await claimOne(store, await insertOne(store, { slotKeys: ["cap:x", "cap:y"] }));
    await settleOne(store, runs);
    const message = only(only(await store.wake({ slotKeys: ["cap:x"], limit: 10 })).messages);
    const newer = await insertMany(store, [capped, { slotKeys: ["cap:y"] }]);
    expect(await claimAll(store, newer)).toEqual(["PENDING", "PENDING"]);
    const { claimed } = await store.claim([message], { worker: "worker-1", alone: false });
    expect(only(claimed).state).toBe("RUNNING");
  });

  test("a job that its dead worker left keeps its slot: a later one is held, or skipped", async () => {
    await store.installSlots([cap(1), lock]);
    const job = { slotKeys: ["cap:x", "lock:l"] };
    const lost = await running(store, job);
    await advance(minute);
    const { rows, aftermath } = await store.rescue({ limit: 10, interruptionsMax: 20 });
    expect([rows.map(({ jobId }) => jobId), aftermath.freed]).toEqual([[lost.jobId], []]);
    expect(await claimAll(store, [await insertOne(store, capped)])).toEqual(["PENDING"]);
    expect(await claimAll(store, [await insertOne(store, { slotKeys: ["lock:l"] })])).toEqual(["SKIPPED"]);
    expect(await store.wake({ slotKeys: "all", limit: 10 })).toEqual([]);
    const [again] = (await store.claim([await messageFor(store, lost.jobId)], { worker: "worker-2", alone: true }))
      .claimed;
    expect(again).toMatchObject({ state: "RUNNING", attempt: 2 });
  });
}
