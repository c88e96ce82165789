import { expect, test } from "vitest";
import { turnKey } from "../../../src/admission/turn.ts";
import type { JobId, NewJob } from "../../../src/machine/job.ts";
import { levels, type Priority, type LeftTurns } from "../../../src/machine/turn.ts";
import type { TestStore } from "../../support/looks.ts";
import { claimOne, insertMany, minute, only, settleOne, show, contract, type At, insertAlike } from "./fixture.ts";

const lane = "bulk";
const size = { lane, places: 2, ahead: 3, agingMs: 5 * minute };

const of = (key: string, { weight = 1, priority = "normal", ...over }: Partial<NewJob> & Asked = {}) => ({
  lane,
  turn: { heldOn: turnKey({ lane, level: levels[priority], key }), weight },
  ...over,
});
interface Asked {
  readonly weight?: number;
  readonly priority?: Priority;
}

/** The jobs that a dispatch sends, in order. */
async function sent(store: TestStore, asked: LeftTurns | "all" = "all", limit = 100): Promise<readonly JobId[]> {
  const batches = await store.takeTurns({ of: asked, limit });
  return batches.flatMap(({ messages }) => messages.map(({ jobId }) => jobId));
}

/** Sends and ends so many jobs, one by one. @returns the keys, in the order that they were sent. */
async function ended(store: TestStore, times: number, keyOf: ReadonlyMap<JobId, string>): Promise<readonly string[]> {
  const keys: string[] = [];
  for (let n = 0; n < times; n += 1) {
    for (const jobId of await sent(store, "all", 1)) {
      keys.push(keyOf.get(jobId) ?? "");
      await settleOne(store, await claimOne(store, jobId));
    }
  }
  return keys;
}

export const turnsContract = contract({
  turns: ({ store, advance }: At) => {
    test("a job waits until its lane has room, and no more are out than that", async () => {
      await store.installTurns([size]);
      const ids = await insertMany(store, [of("a"), of("a"), of("a"), of("a")]);
      expect((await show(store, only(ids.slice(0, 1)))).job).toMatchObject({
        state: "PENDING",
        heldOn: "turn:bulk#0#a",
      });
      expect(await store.relay({ limit: 100 })).toEqual([]);
      expect(await store.wake({ slotKeys: "all", limit: 100 })).toEqual([]);
      expect(await sent(store)).toEqual(ids.slice(0, 3));
      expect(await sent(store)).toEqual([]);
      const [first] = ids;
      if (first !== undefined) await settleOne(store, await claimOne(store, first));
      expect(await sent(store, { lanes: [lane], keys: [] })).toEqual(ids.slice(3));
    });

    test("a key that comes has its turn at once, however many of another wait, and saves none up", async () => {
      await store.installTurns([{ ...size, places: 100, ahead: 100 }]);
      await insertAlike(store, 40, of("flood"));
      await sent(store, "all", 20);
      const quiet = await insertMany(store, [of("quiet"), of("quiet"), of("quiet")]);
      const next = await sent(store, { lanes: [], keys: ["turn:bulk#0#quiet"] }, 6);
      expect(next.filter((id) => quiet.includes(id))).toHaveLength(3);
    });

    test("keys have turns by their weights", async () => {
      await store.installTurns([size]);
      const keys = ["a", "b", "c"].flatMap((key, n) => Array.from({ length: 20 }, () => ({ key, weight: 2 ** n })));
      const ids = await insertMany(
        store,
        keys.map(({ key, weight }) => of(key, { weight })),
      );
      const keyOf = new Map(ids.map((id, n) => [id, keys[n]?.key ?? ""]));
      const order = await ended(store, 21, keyOf);
      expect(["a", "b", "c"].map((key) => order.filter((each) => each === key).length)).toEqual([3, 6, 12]);
    });

    test("a low job goes before normal ones that are due more than the aging later, a high one before those due less than that earlier", async () => {
      const now = await store.now();
      await store.installTurns([{ ...size, ahead: 10 }]);
      const [low, early, late, high] = await insertMany(store, [
        of("", { priority: "low", dueAt: now - 6 * minute }),
        of("", { dueAt: now - 2 * minute }),
        of("", { dueAt: now - 0.5 * minute }),
        of("", { priority: "high", dueAt: now }),
      ]);
      expect(await sent(store)).toEqual([high, early, low, late]);
    });

    test("a retry waits for its turn too, when it is due", async () => {
      await store.installTurns([size]);
      const [id] = await insertMany(store, [of("a")]);
      expect(await sent(store)).toEqual([id]);
      const held = await claimOne(store, id);
      await settleOne(store, held, { to: "RETRY_WAIT", delayMs: 1_000, failures: 1, takesTurns: true });
      expect((await show(store, id)).job).toMatchObject({ state: "RETRY_WAIT", heldOn: "turn:bulk#0#a" });
      expect([await sent(store), await store.relay({ limit: 10 })]).toEqual([[], []]);
      await advance(1_000);
      expect(await sent(store)).toEqual([id]);
    });

    test("a job that is retried by hand, or whose message was lost, waits for its turn again", async () => {
      await store.installTurns([size]);
      const [lost, canceled] = await insertMany(store, [of("a"), of("a")]);
      await store.cancel([canceled]);
      expect((await store.retry([canceled])).ids).toEqual([canceled]);
      expect((await show(store, canceled)).job).toMatchObject({ state: "PENDING", heldOn: "turn:bulk#0#a" });
      expect(await sent(store, "all", 1)).toEqual([lost]);
      await store.confirm(
        (await store.reopen({ olderThanMs: 0, limit: 10, messagesMax: 10 })).map(({ id }) => ({ id, failed: [] })),
      );
      await advance(minute);
      expect(await store.requeueLost({ lane, evidence: "queue-empty", olderThanMs: 1_000, limit: 10 })).toBe(1);
      expect(await store.relay({ limit: 10 })).toEqual([]);
      expect((await sent(store)).toSorted()).toEqual([lost, canceled].toSorted());
    });

    test("a lane that is paused sends none, and what it held waits for its turn again", async () => {
      await store.installTurns([{ ...size, places: 1, ahead: 1 }]);
      const ids = await insertMany(store, [of("a"), of("a")]);
      const [first] = (await store.takeTurns({ of: "all", limit: 10 })).flatMap(({ messages }) => messages);
      await store.pauseLane(lane, { until: null, by: null, reason: null } as never);
      if (first !== undefined) await store.holdClosed([first]);
      expect(await sent(store)).toEqual([]);
      await store.pauseLane(lane, null);
      await store.unholdPaused(lane, 10);
      expect(await store.relay({ limit: 10 })).toEqual([]);
      expect(await sent(store)).toEqual(ids.slice(0, 1));
    });
  },
});
