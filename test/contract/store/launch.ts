import { expect, test } from "vitest";
import type { JobId } from "../../../src/machine/job.ts";
import { claimIfPossible, minute, only, running, settleOne, show, contract, type At } from "./fixture.ts";

/** A try that passes from the worker which claimed it to the task it launched. */
export const launchContract = contract({
  "extending and taking over a lease": ({ store, advance }: At) => {
    const loan = { worker: "worker-1", leaseMs: 3 * minute };
    const task = { from: "worker-1", worker: "task-1" };

    test("a lent lease lasts as long as it was lent for, and then the job is rescued like others", async () => {
      const held = await running(store);
      expect(await store.extendLease(held, loan)).toBe(true);
      await advance(2 * minute);
      expect((await store.rescue({ limit: 10, interruptionsMax: 20 })).rows).toEqual([]);
      await advance(minute + 1_000);
      expect(only((await store.rescue({ limit: 10, interruptionsMax: 20 })).rows).jobId).toBe(held.jobId);
    });

    test("a lent job that ran alone is still to blame for its worker's death", async () => {
      const held = await running(store, {}, { alone: true });
      await store.extendLease(held, loan);
      await advance(4 * minute);
      await store.rescue({ limit: 10, interruptionsMax: 20 });
      expect((await show(store, held.jobId)).job).toMatchObject({ failures: 1, interruptions: 0 });
    });

    test("the task gets the job as a claim would give it, and its own lease begins", async () => {
      const held = await running(store, { key: "k", payload: { n: 7 }, leaseMs: 30_000 });
      await store.extendLease(held, loan);
      await advance(minute);
      const adopted = await store.takeOver(held, task);
      expect(adopted).toMatchObject({ ...held, latenessMs: expect.any(Number) as number });
      expect(adopted?.latenessMs).toBeGreaterThanOrEqual(minute);
      const { job } = await show(store, held.jobId);
      expect(job).toMatchObject({ state: "RUNNING", attempt: 1, worker: "task-1" });
      expect(await store.heartbeat([held], "worker-1")).toEqual([]);
      expect(await store.heartbeat([held], "task-1")).toEqual([{ jobId: held.jobId, attempt: 1 }]);
      await advance(31_000);
      expect(only((await store.rescue({ limit: 10, interruptionsMax: 20 })).rows).jobId).toBe(held.jobId);
    });

    test("a task that dies ran alone: it costs a failure, not an interruption", async () => {
      const held = await running(store);
      await store.takeOver(held, task);
      await advance(minute);
      await store.rescue({ limit: 10, interruptionsMax: 20 });
      expect((await show(store, held.jobId)).job).toMatchObject({ failures: 1, interruptions: 0 });
    });

    test("of two tasks of one try the second is refused", async () => {
      const held = await running(store);
      expect(await store.takeOver(held, task)).not.toBeNull();
      expect(await store.takeOver(held, { ...task, worker: "task-2" })).toBeNull();
      expect(await store.extendLease(held, loan)).toBe(false);
    });

    test("nobody lends or adopts a try that is over, another one's, or of no job", async () => {
      const held = await running(store);
      expect(await store.takeOver({ ...held, attempt: 2 }, task)).toBeNull();
      expect(await store.extendLease({ ...held, attempt: 2 }, loan)).toBe(false);
      expect(await store.takeOver({ jobId: "4242424242" as JobId, attempt: 1 }, task)).toBeNull();
      await advance(minute);
      await store.rescue({ limit: 10, interruptionsMax: 20 });
      expect(await store.takeOver(held, task)).toBeNull();
      const again = await claimIfPossible(store, held.jobId, { alone: true });
      expect(await store.takeOver(held, task)).toBeNull();
      if (again === null) throw new Error("a rescued job can be claimed");
      await settleOne(store, again);
      expect(await store.takeOver(again, task)).toBeNull();
    });
  },
});
