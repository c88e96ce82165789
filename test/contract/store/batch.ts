import { expect, test } from "vitest";
import type { JobId, NewJob } from "../../../src/machine/job.ts";
import type { Store } from "../../../src/machine/store.ts";
import { aPause } from "../../support/pause.ts";
import {
  aJob,
  claimOne,
  dispatchWindowMs,
  insertMany,
  messageFor,
  minute,
  only,
  show,
  contract,
  type At,
} from "./fixture.ts";

const batch = { key: "a", max: 4, waitMs: 2_000 };
const { max, waitMs } = batch;

/** One of a kind that is run in batches, as `newJob` makes it. */
const one = ({ delayMs = 0, ...over }: Partial<NewJob> = {}): NewJob =>
  aJob({ kind: "index", batch, ...over, delayMs: delayMs + waitMs });

const started = async (store: Store, ...ids: readonly JobId[]) => {
  for (const id of ids) await claimOne(store, id);
  return await store.gather(ids.map((jobId) => ({ jobId, max, waitMs })));
};

export const batchContract = contract({
  batches: ({ store, advance }: At) => {
    test("a started job takes along those of its kind, key and lane that wait, the earliest first, up to the most of a call", async () => {
      await insertMany(store, [one({ kind: "other" }), one({ lane: "other" }), aJob({ kind: "index" })]);
      const ids = await insertMany(store, [one({ batch: { ...batch, key: "b" } }), one(), one(), one(), one(), one()]);
      await advance(waitMs);
      const { jobs, outbox } = await started(store, only(ids.slice(2, 3)));
      expect(jobs.map(({ jobId, isStarted }) => [jobId, isStarted])).toEqual([
        [ids[2], true],
        ...[1, 3, 4].map((n) => [ids[n], false]),
      ]);
      expect(outbox).toEqual([]);
      expect(new Set(jobs.map(({ of }) => of))).toEqual(new Set([ids[2]]));
      const others = jobs.slice(1).map((job) => job.jobId);
      const { claimed } = await store.claim(jobs.slice(1), { worker: "w", alone: false });
      expect(claimed.map(({ jobId, attempt }) => [jobId, attempt])).toEqual(others.map((id) => [id, 1]));
      for (const id of others) expect((await show(store, id)).job).toMatchObject({ batchKey: "a", batchOf: ids[2] });
    });

    test("what waits for others is due at once then, and what waits for its own time or is held is left", async () => {
      const [first, near, retried, later, far] = await insertMany(store, [
        one(),
        one({ delayMs: 1_000 }),
        one(),
        one({ delayMs: 2_001 }),
        one({ delayMs: 2 * dispatchWindowMs }),
      ]);
      const held = await insertMany(store, [one({ lane: "held" })]);
      await store.pauseLane("held", aPause);
      await store.holdClosed([await messageFor(store, only(held))]);
      await advance(waitMs);
      const { jobs } = await started(store, first);
      expect(jobs.map(({ jobId }) => jobId)).toEqual([first, near, retried]);
      expect((await show(store, near)).job).toMatchObject({ state: "QUEUED", generation: 1 });
      expect((await show(store, near)).job.dueAt).toBe(await store.now());
      expect((await show(store, far)).job).toMatchObject({ state: "PENDING", batchOf: null });
      expect((await show(store, later)).job.batchOf).toBeNull();
    });

    test("one that is not out yet is, by a message of its own", async () => {
      const [far, first] = await insertMany(store, [one({ delayMs: 2 * dispatchWindowMs }), one({ delayMs: minute })]);
      await advance(2 * dispatchWindowMs + waitMs);
      const { jobs, outbox } = await started(store, first);
      expect(only(only(outbox).messages)).toMatchObject({ jobId: far, generation: 1 });
      expect(jobs.at(-1)).toMatchObject({ jobId: far, generation: 1, isStarted: false });
      expect((await show(store, far)).job).toMatchObject({ state: "QUEUED", generation: 1 });
    });

    test("two that start in two lanes are two calls, and one without a batch key is in none", async () => {
      const ids = await insertMany(store, [
        one(),
        one({ lane: "other" }),
        one({ batch: undefined }),
        one({ lane: "other" }),
      ]);
      await advance(waitMs);
      const { jobs } = await started(store, ...ids.slice(0, 3));
      expect(jobs.map(({ jobId, of }) => [jobId, of])).toEqual([
        [ids[0], ids[0]],
        [ids[1], ids[1]],
        [ids[3], ids[1]],
      ]);
    });

    test("of a full batch the first is due now, once, and a batch that is not full waits", async () => {
      const of = { ...batch, kind: "index" };
      const first = await store.insert([one(), one(), one()]);
      expect(first.aftermath.batches[0]).toEqual(of);
      expect(await store.startFull([of])).toEqual([]);
      await store.insert([one()]);
      const id = first.results[0]?.id;
      const { messages } = only(await store.startFull([of, of]));
      expect(only(messages)).toMatchObject({ jobId: id, generation: 2, delayMs: 0 });
      expect(await store.startFull([of])).toEqual([]);
    });
  },
});
