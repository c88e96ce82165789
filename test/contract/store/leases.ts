import { expect, test } from "vitest";
import type { JobId } from "../../../src/machine/job.ts";
import type { Claimed } from "../../../src/machine/store.ts";
import type { TestStore } from "../../support/looks.ts";
import { insertMany, messageFor, minute, settleOne, show, contract, type At } from "./fixture.ts";

const leaseMs = 30_000;
const rescueAll = { limit: 10, interruptionsMax: 20 };

async function claimTogether(store: TestStore, leases: readonly number[], lanes: readonly string[] = []) {
  const jobs = leases.map((ms, n) => ({ leaseMs: ms, lane: lanes[n] ?? "default" }));
  const ids = await insertMany(store, jobs);
  const messages = await Promise.all(ids.map((id) => messageFor(store, id)));
  return (await store.claim(messages, { worker: "worker-1", alone: false })).claimed;
}

const pair = async (store: TestStore): Promise<readonly [Claimed, Claimed]> => {
  const [first, second] = await claimTogether(store, [leaseMs, leaseMs]);
  if (first === undefined || second === undefined) throw new Error("two jobs were not claimed");
  return [first, second];
};

const rescued = async (store: TestStore): Promise<readonly JobId[]> =>
  (await store.rescue(rescueAll)).rows.map((row) => row.jobId);

/** The jobs of one claim with the same lane and lease length hold one lease. */
export const leasesContract = contract({
  leases: ({ store, advance }: At) => {
    test("a heartbeat of one job of a claim renews the lease for all of them", async () => {
      const [first, second] = await pair(store);
      await advance(20_000);
      expect(await store.heartbeat([first], "worker-1")).toEqual([{ jobId: first.jobId, attempt: 1 }]);
      const [one, other] = [await show(store, first.jobId), await show(store, second.jobId)];
      expect(other.job.leaseUntil).toBe(one.job.leaseUntil);
      await advance(20_000);
      expect(await rescued(store)).toEqual([]);
    });

    test("an expired lease loses all its jobs that still run, and no others", async () => {
      const [first, second] = await pair(store);
      const [third] = await claimTogether(store, [leaseMs]);
      await settleOne(store, first);
      await advance(20_000);
      if (third !== undefined) await store.heartbeat([third], "worker-1");
      await advance(20_000);
      expect(await rescued(store)).toEqual([second.jobId]);
    });

    test("the leases of a worker that is known to be dead end at once, no other's, and one that lives renews them", async () => {
      const [first] = await pair(store);
      const messages = await Promise.all((await insertMany(store, [{ leaseMs }])).map((id) => messageFor(store, id)));
      await store.claim(messages, { worker: "other-1", alone: false });
      await store.endLeases("worker-", "it was killed");
      expect(await store.lapsedLeases({ limit: 10 })).toEqual([{ id: expect.any(String), until: 0, ms: leaseMs }]);
      expect(await store.heartbeat([first], "worker-1")).toHaveLength(1);
      expect(await rescued(store)).toEqual([]);
      await store.endLeases("worker-1", "it was killed");
      expect(await rescued(store)).toHaveLength(2);
    });

    const blocked = "the handler blocked the event loop for 30 s";
    const killed = "its process was killed by SIGKILL";
    test.each<[string, (store: TestStore) => Promise<unknown>, string | null]>([
      ["of one that is dead", (store) => store.endLeases("worker-1", killed), killed],
      ["of one that stands still", (store) => store.noteCause("worker-1", blocked), blocked],
      [
        "that changed",
        (store) => store.noteCause("worker-1", blocked).then(() => store.noteCause("worker-1", killed)),
        killed,
      ],
      [
        "that was said first of its end",
        (store) => store.endLeases("worker-1", killed).then(() => store.endLeases("worker-1", blocked)),
        killed,
      ],
      [
        "of its end, after it stood still",
        (store) => store.noteCause("worker-1", blocked).then(() => store.endLeases("worker-1", killed)),
        killed,
      ],
      ["of no other worker", (store) => store.endLeases("worker-2", killed), null],
    ])("a lost attempt has the cause %s, and a lost batch does not tell whose", async (_, happens, cause) => {
      const [first, second] = await pair(store);
      const [alone] = await insertMany(store, [{ leaseMs }]);
      await store.claim([await messageFor(store, alone)], { worker: "worker-1", alone: true });
      await happens(store);
      await advance(40_000);
      await store.rescue(rescueAll);
      const errorOf = async (id: JobId) => (await store.history(id))[0];
      const batch = cause === null ? null : `it or another job of its batch: ${cause}`;
      const neutral = "its lease ended without an outcome";
      for (const { jobId } of [first, second])
        expect(await errorOf(jobId)).toMatchObject({ errorCode: "WORKER_LOST", errorMessage: batch ?? neutral });
      expect(await errorOf(alone)).toMatchObject({ to: "RETRY_WAIT", errorMessage: cause ?? neutral });
    });

    test("a heartbeat forgets why its worker stood still", async () => {
      const [first] = await pair(store);
      await store.noteCause("worker-1", blocked);
      await store.heartbeat([first], "worker-1");
      await advance(40_000);
      await store.rescue(rescueAll);
      const [move] = (await store.history(first.jobId)) ?? [];
      expect(move?.errorMessage).toBe("its lease ended without an outcome");
    });

    test("the leases of a worker that a debugger stopped begin again, and those of others end", async () => {
      const [kept] = await pair(store);
      const [other] = await insertMany(store, [{ leaseMs }]);
      await store.claim([await messageFor(store, other)], { worker: "worker-2", alone: true });
      await advance(40_000);
      await store.keepLeases("worker-1");
      expect(await rescued(store)).toEqual([other]);
      await advance(10_000);
      expect(await store.heartbeat([kept], "worker-1")).toHaveLength(1);
    });

    test("jobs of one claim with other lease lengths or lanes hold leases of their own", async () => {
      const [short, long, elsewhere] = await claimTogether(store, [leaseMs, minute, leaseMs], ["a", "a", "b"]);
      await advance(20_000);
      if (elsewhere !== undefined) await store.heartbeat([elsewhere], "worker-1");
      await advance(20_000);
      expect(await rescued(store)).toEqual([short?.jobId]);
      await advance(minute);
      expect(new Set(await rescued(store))).toEqual(new Set([long?.jobId, elsewhere?.jobId]));
    });

    test("a job that gets a lease of its own leaves that of its claim to the others", async () => {
      const [first, second] = await pair(store);
      expect(await store.extendLease(first, { worker: "worker-1", leaseMs: 3 * minute })).toBe(true);
      await advance(minute);
      expect(await rescued(store)).toEqual([second.jobId]);
      expect(await store.heartbeat([first], "worker-1")).toEqual([{ jobId: first.jobId, attempt: 1 }]);
    });

    test("a refused settle of an old attempt ends no lease", async () => {
      const [first] = await pair(store);
      await advance(minute);
      await store.rescue(rescueAll);
      const message = await messageFor(store, first.jobId);
      const [again] = (await store.claim([message], { worker: "worker-2", alone: true })).claimed;
      expect(again).toMatchObject({ state: "RUNNING", attempt: 2 });
      expect((await settleOne(store, first)).settled).toEqual([]);
      expect((await show(store, first.jobId)).job.leaseUntil).not.toBeNull();
      await advance(minute);
      expect(await rescued(store)).toEqual([first.jobId]);
    });
  },
});
