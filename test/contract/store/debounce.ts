import { expect, test } from "vitest";
import type { Debounced, JobId, Json, NewJob } from "../../../src/machine/job.ts";
import type { Store } from "../../../src/machine/store.ts";
import { aJob, claimIfPossible, claimOne, minute, only, settleOne, show, contract, type At } from "./fixture.ts";

const forMs = 5_000;
const rule: Debounced = { key: "doc", forMs, maxMs: 12_000, keep: "last" };

/** One call of a debounced kind. */
const call = (payload: Json, over: Partial<Debounced> = {}, job: Partial<NewJob> = {}): NewJob =>
  aJob({ kind: "reindex", payload, delayMs: over.forMs ?? forMs, debounce: { ...rule, ...over }, ...job });

/** Which job each call has, and whether it made it. */
async function calls(store: Store, ...given: readonly NewJob[]): Promise<readonly (readonly [JobId, boolean])[]> {
  return (await store.insert(given)).results.map(({ id, created }) => [id, created]);
}

const one = async (store: Store, given: NewJob): Promise<JobId> => only((await store.insert([given])).results).id;

export const debounceContract = contract({
  debounce: ({ store, advance }: At) => {
    test("calls of a key join one job, which is due some time after the last and has its payload", async () => {
      const [[id, created] = ["", false]] = await calls(store, call({ n: 1 }));
      expect(created).toBe(true);
      const first = await show(store, id as JobId);
      expect(first.job).toMatchObject({ joined: 0, state: "QUEUED", generation: 1 });
      await advance(4_000);
      expect(await calls(store, call({ n: 2 }), call({ n: 3 }))).toEqual([
        [id, false],
        [id, false],
      ]);
      const { job } = await show(store, id as JobId);
      expect(job).toMatchObject({ payload: { n: 3 }, joined: 2, state: "QUEUED", generation: 1, key: null });
      expect(job.dueAt - first.job.dueAt).toBeGreaterThanOrEqual(4_000);
      expect((await show(store, id as JobId)).events).toHaveLength(first.events.length);
      expect(await claimIfPossible(store, id as JobId)).toBeNull();
      await advance(forMs);
      expect(await claimOne(store, id as JobId)).toMatchObject({ state: "RUNNING", payload: { n: 3 } });
    });

    test("it is due at the latest some time after the first call", async () => {
      const id = await one(store, call(1));
      for (const n of [2, 3, 4]) {
        await advance(3_500);
        expect(await one(store, call(n))).toBe(id);
      }
      const { job } = await show(store, id);
      expect([job.dueAt, job.dueAtMost]).toEqual([job.createdAt + rule.maxMs, job.createdAt + rule.maxMs]);
    });

    test("one that is due and waits for a worker takes the payload and is not put off", async () => {
      const id = await one(store, call(1));
      const { dueAt } = (await show(store, id)).job;
      await advance(6_000);
      expect(await one(store, call(2))).toBe(id);
      expect((await show(store, id)).job).toMatchObject({ dueAt, payload: 2 });
    });

    test("a job that was started is not changed: the next call begins another, also after a failure or a cancel", async () => {
      const first = await one(store, call(1, { forMs: 0 }));
      const held = await claimOne(store, first);
      const second = await one(store, call(2));
      expect(second).not.toBe(first);
      await settleOne(store, held, { to: "RETRY_WAIT", delayMs: minute, failures: 1 });
      expect(await one(store, call(3))).toBe(second);
      expect((await show(store, first)).job).toMatchObject({ payload: 1, joined: 0 });
      await store.cancel([second]);
      const third = await one(store, call(4));
      expect([first, second]).not.toContain(third);
      await advance(forMs + 1_000);
      expect(await claimOne(store, third)).toMatchObject({ payload: 4 });
    });

    test("first keeps the payload of the first call, a function merges, also within one call", async () => {
      const keep = (kept: Json, next: Json): Json => [...(kept as Json[]), ...(next as Json[])];
      const first = await calls(
        store,
        call(1, { keep: "first" }),
        call(2, { keep: "first" }),
        call(3, { keep: "first" }),
      );
      expect(first.map(([, created]) => created)).toEqual([true, false, false]);
      expect((await show(store, only(first.slice(0, 1))[0])).job).toMatchObject({ payload: 1, joined: 2 });
      const merged = { key: "merged", keep };
      const id = await one(store, call([1], merged));
      await calls(store, call([2], merged), call([3], merged));
      expect((await show(store, id)).job).toMatchObject({ payload: [1, 2, 3], joined: 2 });
    });

    test("each key and each kind has a burst of its own, beside jobs that have none", async () => {
      const found = await calls(store, call(1), call(2, { key: "b" }), call(3, {}, { kind: "other" }), aJob(), call(4));
      expect(new Set(found.map(([id]) => id)).size).toBe(4);
      expect(found.at(-1)).toEqual([found[0]?.[0], false]);
      expect(only((await store.insert([aJob()])).aftermath.outbox).messages).toHaveLength(1);
    });

    test("one beyond the dispatch window waits, and joins all the same", async () => {
      const long = { forMs: 10 * minute, maxMs: 60 * minute };
      const id = await one(store, call(1, long));
      expect((await show(store, id)).job).toMatchObject({ state: "PENDING", generation: 0 });
      await advance(6 * minute);
      expect(await one(store, call(2, long))).toBe(id);
      expect(await store.relay({ limit: 10 })).toEqual([]);
      await advance(6 * minute);
      expect(only(await store.relay({ limit: 10 })).messages).toMatchObject([{ jobId: id }]);
    });

    test("a call whose transaction rolls back leaves the burst as it was", async () => {
      const id = await one(store, call(1));
      const before = await show(store, id);
      const gone = store.transaction(async (tx) => {
        await store.insert([call(2), call(3, { key: "new" })], { tx });
        throw new Error("no");
      });
      await expect(gone).rejects.toThrow("no");
      expect(await show(store, id)).toEqual(before);
      expect((await calls(store, call(4, { key: "new" })))[0]?.[1]).toBe(true);
    });
  },
});
