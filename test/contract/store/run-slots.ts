import { expect, test } from "vitest";
import type { JobId } from "../../../src/machine/job.ts";
import type { TestStore } from "../../support/looks.ts";
import type { StoreTx } from "../../../src/machine/transaction.ts";
import { claimOne, minute, only, settlementOf, settleOptions, aJob, contract, type At } from "./fixture.ts";
import { aRun, aTask } from "./run-fixture.ts";

const overlap = { key: "overlap:s", size: 1, onRefusal: "skip", reason: "overlap" } as const;
const slotKeys = ["overlap:s"];

/** The slot of a schedule's job passes to the run that the job starts, and is free when the run closes. */
export const runSlotsContract = contract({
  "the slot of a job that starts a run": ({ store, advance }: At) => {
    async function claimed(store: TestStore) {
      const { results } = await store.insert([aJob({ slotKeys })]);
      const { id } = only(results);
      return { id, job: await claimOne(store, id) };
    }

    /** Claims a starter, and succeeds with `work` in the same transaction, as `ctx.tx` does. */
    async function started<T>(store: TestStore, work: (tx: StoreTx, starterId: JobId) => Promise<T>) {
      await store.installSlots([overlap]);
      const { id, job } = await claimed(store);
      if (job?.state !== "RUNNING") throw new Error("the starter did not get its slot");
      const value = await store.transaction(async (tx) => {
        const made = await work(tx, id);
        await store.settle([settlementOf(job)], { worker: settleOptions.worker, tx });
        return made;
      });
      return { starter: id, value };
    }

    /** A run of one task, which holds the slot of the job that started it. */
    async function openRun(store: TestStore) {
      const { starter, value } = await started(store, (tx, starterId) =>
        store.startRun(aRun({ tasks: [aTask("load")], starterId }), { tx }),
      );
      return { starter, runId: value.runId };
    }

    const next = async (store: TestStore) => (await claimed(store)).job?.reason ?? "runs";

    test("is the run's until the run closes, and the jobs that wait for it are released then", async () => {
      const { runId } = await openRun(store);
      expect(await next(store)).toBe("overlap");
      const load = only(await store.tasks(runId));
      const task = await claimOne(store, load.jobId);
      if (task === null) throw new Error("the task was not claimed");
      await store.settle([settlementOf(task)], settleOptions);
      expect(await next(store)).toBe("overlap");
      const resolved = await store.resolve({ runs: [runId], limit: 10 });
      expect(resolved).toMatchObject({ closed: [{ runId, state: "DONE" }], aftermath: { freed: slotKeys } });
      expect(await next(store)).toBe("runs");
    });

    test("is no matter of the run's tasks: each has the slots of its own, also of two of one kind", async () => {
      const ofSlots = (keys: readonly string[]) => ({ job: aJob({ kind: "settlement.task", slotKeys: keys }) });
      const tasks = [aTask("a", [], ofSlots([])), aTask("b", [], ofSlots(slotKeys)), aTask("c", [], ofSlots([]))];
      await store.installSlots([overlap]);
      const { runId } = await store.startRun(aRun({ tasks }));
      await claimed(store);
      const states = [];
      for (const { jobId } of await store.tasks(runId)) states.push((await claimOne(store, jobId)).state);
      expect(states).toEqual(["RUNNING", "SKIPPED", "RUNNING"]);
    });

    test("passes to a run of pages with its seal, and stays the job's before that", async () => {
      await store.installSlots([overlap]);
      const { id, job } = await claimed(store);
      if (job?.state !== "RUNNING") throw new Error("the starter did not get its slot");
      const { runId } = await store.startRun(aRun({ sealed: false, starterId: id }));
      await store.resolve({ runs: "all", limit: 10 });
      expect(await next(store)).toBe("overlap");
      await store.transaction(async (tx) => {
        await store.sealRun(runId, { tx });
        await store.settle([settlementOf(job)], { worker: settleOptions.worker, tx });
      });
      expect(await next(store)).toBe("overlap");
      await store.resolve({ runs: "all", limit: 10 });
      expect(await next(store)).toBe("runs");
    });

    test("is free with the job when the run had another starter, or when the try fails", async () => {
      await store.startRun(aRun({ tasks: [aTask("load")] }));
      await started(store, (tx, starterId) =>
        store.startRun(aRun({ tasks: [aTask("load")], starterId: starterId }), { tx }),
      );
      const { id, job } = await claimed(store);
      expect(job?.state).toBe("RUNNING");
      await store.startRun(aRun({ key: "unsealed", sealed: false, starterId: id }));
      if (job !== null) await store.settle([settlementOf(job, { to: "FAILED", failures: 1 })], settleOptions);
      expect(await next(store)).toBe("runs");
    });

    test("is still the job's when the run was canceled before the job had ended", async () => {
      await store.installSlots([overlap]);
      const { id, job } = await claimed(store);
      if (job?.state !== "RUNNING") throw new Error("the starter did not get its slot");
      const { runId } = await store.startRun(aRun({ sealed: false, starterId: id }));
      await store.cancelRun(runId);
      await store.resolve({ runs: "all", limit: 10 });
      expect(await next(store)).toBe("overlap");
      await store.transaction(async (tx) => {
        expect(await store.sealRun(runId, { tx })).toBe(false);
        await store.settle([settlementOf(job)], { worker: settleOptions.worker, tx });
      });
      await store.resolve({ runs: "all", limit: 10 });
      expect(await next(store)).toBe("runs");
    });

    test("is named by who was refused: the run, as long as it was open", async () => {
      const { starter, runId } = await openRun(store);
      await advance(minute);
      const { id } = await claimed(store);
      const held = await store.slotHolder(id, { at: await store.now(), prefix: "overlap:" });
      expect([held?.id, held?.runId]).toEqual([starter, runId]);
      await store.cancelRun(runId);
      await store.cancelPage(runId, { limit: 10 });
      for (let round = 0; round < 3; round += 1) await store.resolve({ runs: "all", limit: 10 });
      await advance(minute);
      expect(await store.slotHolder(id, { at: await store.now(), prefix: "overlap:" })).toBeNull();
    });
  },
});
