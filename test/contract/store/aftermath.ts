import { expect, test } from "vitest";
import { noAftermath } from "../../../src/machine/outbox.ts";
import {
  claimIfPossible,
  insertOne,
  messageFor,
  minute,
  only,
  running,
  settlementOf,
  settleOptions,
  contract,
  type At,
} from "./fixture.ts";
import { aTask, failed, workbench } from "./run-fixture.ts";

const chain = [aTask("a"), aTask("b", [0])];

/** What each change leaves to do besides its messages. */
export const aftermathContract = contract({
  aftermath: ({ store, advance }: At) => {
    test("a claim that holds a job names its slots, since one may have been freed after it was refused", async () => {
      await store.installSlots([{ key: "cap:x", size: 1, onRefusal: "hold", reason: "slot" }]);
      await running(store, { slotKeys: ["cap:x"] });
      const message = await messageFor(store, await insertOne(store, { slotKeys: ["cap:x"] }));
      const { claimed, aftermath } = await store.claim([message], { worker: "worker-1", alone: false });
      expect(only(claimed).state).toBe("PENDING");
      expect(aftermath).toEqual({ ...noAftermath, freed: ["cap:x"] });
    });

    test("a claim that runs a job leaves nothing", async () => {
      const message = await messageFor(store, await insertOne(store));
      const { aftermath } = await store.claim([message], { worker: "worker-1", alone: false });
      expect(aftermath).toEqual(noAftermath);
    });

    test("a claim that refuses a job of a canceled run names the run", async () => {
      const bench = await workbench(store, { tasks: chain });
      const task = only((await store.tasks(bench.runId)).slice(0, 1));
      const message = await messageFor(store, task.jobId);
      await store.cancelRun(bench.runId);
      const { aftermath } = await store.claim([message], { worker: "worker-1", alone: false });
      expect(aftermath.runs).toEqual([bench.runId]);
    });

    test("a cancel, a settle, a rescue, a dead letter and a condition that end a task name its run", async () => {
      const started = async () => {
        const bench = await workbench(store, { key: `k${await store.now()}`, tasks: chain });
        await advance(1_000);
        const [task] = await store.tasks(bench.runId);
        if (task === undefined) throw new Error("a run without tasks");
        return { runId: bench.runId, jobId: task.jobId };
      };
      const canceled = await started();
      expect((await store.cancel([canceled.jobId])).aftermath.runs).toEqual([canceled.runId]);

      const settled = await started();
      const held = await claimIfPossible(store, settled.jobId);
      const outcome = settlementOf(held ?? { jobId: settled.jobId, attempt: 0 }, failed);
      expect((await store.settle([outcome], settleOptions)).aftermath.runs).toEqual([settled.runId]);

      const lost = await started();
      await claimIfPossible(store, lost.jobId);
      await advance(minute);
      expect((await store.rescue({ limit: 10, interruptionsMax: 1 })).aftermath.runs).toEqual([lost.runId]);

      const dead = await started();
      const options = { undeliveredMax: 1, backoffMs: 0 };
      const returned = await store.returnUndelivered([await messageFor(store, dead.jobId)], options);
      expect(returned.aftermath.runs).toEqual([dead.runId]);

      const branch = await started();
      const skipped = await store.skip([await messageFor(store, branch.jobId)], { reason: "no" });
      expect(skipped).toEqual({ ids: [branch.jobId], aftermath: { ...noAftermath, runs: [branch.runId] } });
    });

    test("a page of a cancel names its run", async () => {
      const { runId } = await workbench(store, { tasks: chain });
      await store.cancelRun(runId);
      const page = await store.cancelPage(runId, { limit: 10 });
      expect([page.canceled, page.aftermath.runs]).toEqual([2, [runId]]);
    });
  },
});
