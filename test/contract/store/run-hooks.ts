import { expect, test } from "vitest";
import { contractLimits } from "../../../src/machine/contract-limits.ts";
import type { InSameTransaction, Moved } from "../../../src/machine/transaction.ts";
import { minute, only, settlementOf, settleOptions, contract, type At } from "./fixture.ts";
import { aTask, workbench } from "./run-fixture.ts";

/** A task has no payload of its own, so its hook gets what its run was started with. */
export const runHooksContract = contract({
  "the hook of a task gets its run's input": ({ store, advance }: At) => {
    const input = { day: "2031-05-06", rows: [1, 2] };

    async function oneRunning() {
      const bench = await workbench(store, { input, tasks: [aTask("load"), aTask("close", [0])] });
      const job = await bench.claim("load");
      if (job === null) throw new Error("the first task was not handed off");
      const seen: Moved[] = [];
      const inSameTransaction: InSameTransaction = async (_tx, rows) => void seen.push(...rows);
      return { bench, job, seen, inSameTransaction };
    }

    test("by a settle", async () => {
      const { job, seen, inSameTransaction } = await oneRunning();
      await store.settle([settlementOf(job)], { ...settleOptions, inSameTransaction });
      expect(only(seen)).toMatchObject({ jobId: job.jobId, state: "SUCCESS", payload: input });
    });

    test("by a rescue", async () => {
      const { job, seen, inSameTransaction } = await oneRunning();
      await advance(minute);
      await store.rescue({ limit: 10, interruptionsMax: contractLimits.interruptionsMax, inSameTransaction });
      expect(only(seen)).toMatchObject({ jobId: job.jobId, payload: input });
    });

    test("by a cancel of the run, also for tasks that wait", async () => {
      const { bench, seen, inSameTransaction } = await oneRunning();
      await store.cancelRun(bench.runId);
      await store.cancelPage(bench.runId, { limit: 10, inSameTransaction });
      expect(seen.map((row) => [row.state, row.payload])).toEqual([
        ["CANCELED", input],
        ["CANCELED", input],
      ]);
    });
  },
});
