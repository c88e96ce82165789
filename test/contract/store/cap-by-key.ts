import { expect, test } from "vitest";
import type { TestStore } from "../../support/looks.ts";
import {
  claimOne,
  insertMany,
  insertOne,
  messageFor,
  only,
  outboxIds,
  running,
  settleOne,
  show,
  contract,
  type At,
  insertAlike,
} from "./fixture.ts";
import { claimAll } from "./slot-order.ts";

const group = (key: string, size: number) => ({ key, size, onRefusal: "hold", reason: "slot" }) as const;
/** One of each customer, three in all. */
const install = (store: TestStore, perKey = 1, total = 3): Promise<void> =>
  store.installSlots([group("cap:mail#", perKey), group("cap:mail", total)]);
const of = (customer: string) => ({ slotKeys: [`cap:mail#${customer}`, "cap:mail"] });
const minute = 60_000;

export const capByKeyContract = contract({ "a cap by key": [taking, waking] });

function taking({ store }: At): void {
  test("one batch of several keys: each key has its places and all together theirs, of which a job that lacks its key's takes none", async () => {
    await install(store);
    const ids = await insertMany(store, ["a", "a", "b", "c", "d"].map(of));
    expect(await claimAll(store, ids)).toEqual(["RUNNING", "PENDING", "RUNNING", "RUNNING", "PENDING"]);
    expect(await heldOn(store, ids)).toEqual([null, "cap:mail#a", null, null, "cap:mail"]);
  });

  test("in one batch the earlier due goes first, whichever was made first", async () => {
    await install(store);
    const now = await store.now();
    const ids = await insertMany(store, [
      { ...of("a"), dueAt: now },
      { ...of("a"), dueAt: now - minute },
    ]);
    expect(await claimAll(store, ids)).toEqual(["PENDING", "RUNNING"]);
  });

  test("keys that hold the separator, and keys that are the beginning of another, are apart", async () => {
    await install(store);
    const ids = await insertMany(store, ["a", "a#b", "a#", "a#b"].map(of));
    expect(await claimAll(store, ids)).toEqual(["RUNNING", "RUNNING", "RUNNING", "PENDING"]);
  });

  test("a larger size holds for keys that have their slots already; a smaller one as jobs end", async () => {
    await install(store);
    const first = await running(store, of("a"));
    await install(store, 2);
    const second = await running(store, of("a"));
    expect(second.state).toBe("RUNNING");
    await install(store, 1);
    const third = await claimOne(store, await insertOne(store, of("a")));
    await settleOne(store, second);
    expect(await store.wake({ slotKeys: ["cap:mail#a"], limit: 10 })).toEqual([]);
    await settleOne(store, first);
    expect(only(only(await store.wake({ slotKeys: ["cap:mail#a"], limit: 10 })).messages).jobId).toBe(third.jobId);
  });
}

function waking({ store, advance }: At): void {
  test("a wake of the total passes a flood of a full key, and its jobs wait for their key from then on", async () => {
    await install(store, 1, 1);
    const first = await running(store, of("x"));
    const flood = await insertAlike(store, 5, of("a"));
    const newer = await insertOne(store, of("b"));
    await claimAll(store, flood.slice(0, 3));
    expect(await heldOn(store, flood.slice(0, 3))).toEqual(["cap:mail", "cap:mail", "cap:mail"]);
    await install(store, 1, 2);
    const quiet = await claimOne(store, newer);
    await settleOne(store, first);
    const woken = await store.wake({ slotKeys: ["cap:mail"], limit: 10 });
    expect(outboxIds(woken)).toEqual([flood[0], quiet.jobId]);
    expect(await heldOn(store, flood.slice(1, 3))).toEqual(["cap:mail#a", "cap:mail#a"]);
  });

  test("of one key the earliest held goes first, also beside a newcomer of another key", async () => {
    await install(store, 1, 10);
    const runs = await running(store, of("a"));
    const held = await insertMany(store, ["a", "a"].map(of));
    const newer = await insertMany(store, ["a", "b"].map(of));
    await claimAll(store, held);
    await settleOne(store, runs);
    expect(await claimAll(store, newer)).toEqual(["PENDING", "RUNNING"]);
    const message = only(only(await store.wake({ slotKeys: ["cap:mail#a"], limit: 10 })).messages);
    expect(message.jobId).toBe(held[0]);
    const { claimed } = await store.claim([message], { worker: "worker-1", alone: false });
    expect(only(claimed).state).toBe("RUNNING");
    await settleOne(store, only(claimed));
    expect(only(only(await store.wake({ slotKeys: ["cap:mail#a"], limit: 10 })).messages).jobId).toBe(held[1]);
  });

  test("a key that nothing uses is forgotten, one that runs or is waited for is not, and each works again", async () => {
    await install(store, 1, 10);
    const [idle, runs] = [await running(store, of("a")), await running(store, of("b"))];
    await settleOne(store, idle);
    await running(store, of("c"));
    const waits = await claimOne(store, await insertOne(store, of("c")));
    await advance(61 * minute);
    await store.prune({ limit: 100 });
    expect((await running(store, of("a"))).state).toBe("RUNNING");
    expect((await claimOne(store, await insertOne(store, of("b")))).state).toBe("PENDING");
    expect((await show(store, waits.jobId)).job.heldOn).toBe("cap:mail#c");
    await settleOne(store, runs);
    expect(await store.wake({ slotKeys: ["cap:mail#b"], limit: 10 })).toHaveLength(1);
  });

  test("an old message of a job of a new key makes nothing start", async () => {
    await install(store);
    const id = await insertOne(store, of("a"));
    const message = await messageFor(store, id);
    const { claimed } = await store.claim([{ ...message, generation: 0 }], { worker: "worker-1", alone: false });
    expect(claimed).toEqual([]);
    expect((await claimOne(store, id)).state).toBe("RUNNING");
  });
}

const heldOn = (store: TestStore, ids: readonly Parameters<typeof show>[1][]): Promise<readonly (string | null)[]> =>
  Promise.all(ids.map(async (id) => (await show(store, id)).job.heldOn));
