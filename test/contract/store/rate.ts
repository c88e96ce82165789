import { expect, test } from "vitest";
import type { JobId } from "../../../src/machine/job.ts";
import type { OutMessage } from "../../../src/machine/outbox.ts";
import type { TestStore } from "../../support/looks.ts";
import {
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
import { claimAll } from "./slot-order.ts";

const windowMs = 10 * minute;
const rate = (size: number, key = "rate:x") => ({ key, size, windowMs, onRefusal: "hold", reason: "slot" }) as const;
const rated = { slotKeys: ["rate:x"] };
const limit = 10;

export const rateContract = contract({ "a rate": [spending, giving, taking, keeping] });

/** The messages of one wake of the key. */
const woken = async (store: TestStore, key = "rate:x"): Promise<readonly OutMessage[]> =>
  (await store.wake({ slotKeys: [key], limit })).flatMap(({ messages }) => messages);

const stateNow = async (store: TestStore, id: JobId): Promise<string> => only(await claimAll(store, [id]));

function spending({ store, advance }: At): void {
  test("so many start in a window, and an end gives nothing back", async () => {
    await store.installSlots([rate(2)]);
    const ids = await insertMany(store, [rated, rated, rated, rated]);
    expect(await claimAll(store, ids.slice(0, 3))).toEqual(["RUNNING", "RUNNING", "PENDING"]);
    for (const jobId of ids.slice(0, 2)) await settleOne(store, { jobId, attempt: 1 });
    expect(await stateNow(store, ids[3])).toBe("PENDING");
    await advance(windowMs);
    expect((await woken(store)).map(({ jobId }) => jobId)).toEqual([ids[2], expect.anything()]);
  });

  test("a canceled attempt, a lost one and one that is tried again have used their unit; the next attempt takes another", async () => {
    await store.installSlots([rate(2)]);
    const [first, second] = [await running(store, rated), await running(store, rated)];
    await store.cancel([first.jobId]);
    await store.freeSlots([first]);
    await settleOne(store, second, { to: "QUEUED", failures: 1 });
    expect(await stateNow(store, second.jobId)).toBe("PENDING");
    expect(await woken(store)).toEqual([]);
    await advance(windowMs);
    await woken(store);
    expect(await stateNow(store, second.jobId)).toBe("RUNNING");
  });

  test("the claim that spends a unit says so, for the wake that can give its next one", async () => {
    await store.installSlots([rate(1), { ...rate(5, "cap:x"), windowMs: undefined }]);
    const id = await insertOne(store, { slotKeys: ["cap:x", "rate:x"] });
    const { aftermath } = await store.claim([await messageFor(store, id)], { worker: "worker-1", alone: false });
    expect(aftermath.freed).toEqual(["rate:x"]);
  });
}

function giving({ store, advance }: At): void {
  test("the earliest waiting job gets the next unit some time before it is back, and is due then", async () => {
    await store.installSlots([rate(2)]);
    await running(store, rated);
    await advance(30_000);
    await running(store, rated);
    const held = await insertMany(store, [rated, rated, rated]);
    expect(await claimAll(store, held)).toEqual(["PENDING", "PENDING", "PENDING"]);
    expect(await woken(store)).toEqual([]);
    await advance(windowMs - 90_000);
    const [next, after, none] = await woken(store);
    expect([next?.jobId, after?.jobId, none]).toEqual([held[0], held[1], undefined]);
    expect((after?.delayMs ?? 0) - (next?.delayMs ?? 0)).toBeGreaterThan(25_000);
    expect(await stateNow(store, held[0])).toBe("nothing");
    await advance(next?.delayMs ?? 0);
    expect(await claimAll(store, held.slice(0, 2))).toEqual(["RUNNING", "nothing"]);
  });

  test("a newcomer gets no unit that is kept for another job, also when that one is late", async () => {
    await store.installSlots([rate(1)]);
    await running(store, rated);
    const held = await claimOne(store, await insertOne(store, rated));
    await advance(windowMs - minute);
    expect(await woken(store)).toHaveLength(1);
    await advance(2 * minute);
    expect(await stateNow(store, await insertOne(store, rated))).toBe("PENDING");
    const { claimed } = await store.claim([await messageFor(store, held.jobId)], { worker: "worker-1", alone: false });
    expect(only(claimed)).toMatchObject({ jobId: held.jobId, state: "RUNNING" });
    expect(only(claimed).latenessMs).toBeLessThan(2 * minute);
  });

  test("a unit whose job is canceled before it is back passes on with its time", async () => {
    await store.installSlots([rate(1)]);
    await running(store, rated);
    const held = await insertMany(store, [rated, rated]);
    await claimAll(store, held);
    await advance(windowMs - minute);
    const first = only(await woken(store));
    await store.cancel([first.jobId]);
    const second = only(await woken(store));
    expect(second.jobId).toBe(held[1]);
    expect(second.delayMs).toBeGreaterThan(minute / 2);
    expect(await stateNow(store, second.jobId)).toBe("nothing");
  });

  test("a job that lacks a place of its cap takes no unit", async () => {
    await store.installSlots([rate(2), { ...rate(1, "cap:x"), windowMs: undefined }]);
    const both = { slotKeys: ["cap:x", "rate:x"] };
    const ids = await insertMany(store, [both, both, rated]);
    expect(await claimAll(store, ids)).toEqual(["RUNNING", "PENDING", "RUNNING"]);
  });
}

function taking({ store, advance }: At): void {
  test("a handler takes the next units one after the other, also those that are not back yet", async () => {
    await store.installSlots([rate(2)]);
    await running(store, rated);
    await advance(30_000);
    const take = async () => await store.takeUnit("rate:x", { withinMs: 2 * windowMs - 60_000 });
    const [now, next, afterNext] = [await take(), await take(), await take()];
    expect([now?.isTaken, next?.isTaken, afterNext?.isTaken]).toEqual([true, true, true]);
    expect(now?.waitMs).toBe(0);
    expect(Math.abs((next?.waitMs ?? 0) - (windowMs - 30_000))).toBeLessThan(5_000);
    expect(Math.abs((afterNext?.at ?? 0) - (now?.at ?? 0) - windowMs)).toBeLessThan(5_000);
    const late = await take();
    expect(late?.isTaken).toBe(false);
    expect(Math.abs((late?.at ?? 0) - (next?.at ?? 0) - windowMs)).toBeLessThan(5_000);
    expect(await stateNow(store, await insertOne(store, rated))).toBe("PENDING");
  });

  test("it takes none that is kept for a waiting job, and says so when one waits", async () => {
    await store.installSlots([rate(1)]);
    await running(store, rated);
    await claimAll(store, await insertMany(store, [rated, rated]));
    await advance(windowMs - minute);
    expect(await woken(store)).toHaveLength(1);
    const refused = await store.takeUnit("rate:x", { withinMs: 2 * minute });
    expect(refused).toMatchObject({ isTaken: false, aftermath: { freed: [] } });
    expect(refused?.waitMs).toBeGreaterThan(windowMs);
    await store.installSlots([rate(2)]);
    expect(await store.takeUnit("rate:x", { withinMs: 0 })).toMatchObject({
      isTaken: true,
      aftermath: { freed: ["rate:x"] },
    });
  });

  test("of a key whose slots nothing needed before; what is no rate has no units", async () => {
    await store.installSlots([rate(1, "rate:x#"), { ...rate(1, "cap:x"), windowMs: undefined }]);
    const take = async (key: string) => await store.takeUnit(key, { withinMs: 0 });
    expect([await take("rate:x#a"), await take("rate:x#b")]).toMatchObject([{ isTaken: true }, { isTaken: true }]);
    expect(await take("rate:x#a")).toMatchObject({ isTaken: false });
    expect([await take("cap:x"), await take("rate:y")]).toEqual([null, null]);
  });
}

function keeping({ store, advance }: At): void {
  test("a rate that is lowered and raised again gives no unit twice", async () => {
    await store.installSlots([rate(2)]);
    await claimAll(store, await insertMany(store, [rated, rated]));
    await store.installSlots([rate(1)]);
    await store.installSlots([rate(2)]);
    const held = await insertMany(store, [rated, rated]);
    expect(await claimAll(store, held)).toEqual(["PENDING", "PENDING"]);
    await store.installSlots([rate(1)]);
    await advance(windowMs);
    expect((await woken(store)).map(({ jobId }) => jobId)).toEqual([held[0]]);
  });

  test("by key: each has its own units, and a key is not forgotten before they are back", async () => {
    await store.installSlots([{ ...rate(1, "rate:x#"), windowMs: 3 * 60 * minute }]);
    const of = (key: string) => ({ slotKeys: [`rate:x#${key}`] });
    const ids = await insertMany(store, ["a", "a", "b"].map(of));
    expect(await claimAll(store, ids)).toEqual(["RUNNING", "PENDING", "RUNNING"]);
    expect((await show(store, ids[1] as JobId)).job.heldOn).toBe("rate:x#a");
    await advance(61 * minute);
    await store.prune({ limit: 100 });
    expect(await stateNow(store, await insertOne(store, of("b")))).toBe("PENDING");
    await advance(120 * minute);
    expect(await woken(store, "rate:x#b")).toHaveLength(1);
  });
}
