import { expect, test } from "vitest";
import type { HistoryRow, JobId } from "../../../src/machine/job.ts";
import type { TestStore } from "../../support/looks.ts";
import { claimOne, failure, insertOne, minute, only, running, settleOne, show, contract, type At } from "./fixture.ts";

const historyOf = async (store: TestStore, id: JobId): Promise<readonly HistoryRow[]> =>
  (await show(store, id)).history;

/** Kept are ends of attempts that are not a success, and other moves with a reason; the job's row shows the rest. */
export const historyContract = contract({
  history: ({ store, advance }: At) => {
    test("of a job that succeeded at once is empty, and its row shows the attempt", async () => {
      const held = await running(store);
      await settleOne(store, held);
      const { job, history, attempts, events } = await show(store, held.jobId);
      expect(history).toEqual([]);
      expect(events.map(({ to }) => to)).toEqual(["PENDING", "RUNNING", "SUCCESS"]);
      expect(job).toMatchObject({ state: "SUCCESS", attempt: 1, worker: "worker-1" });
      expect(only(attempts)).toEqual({
        attempt: 1,
        worker: "worker-1",
        startedAt: job.startedAt,
        endedAt: job.finishedAt,
        outcome: "SUCCESS",
        errorCode: null,
        errorMessage: null,
      });
    });

    test("keeps a failed attempt with its worker, start and error, beside the success that followed", async () => {
      const held = await running(store);
      const { startedAt } = (await show(store, held.jobId)).job;
      await settleOne(store, held, { ...failure, reason: "retry" });
      const again = await claimOne(store, held.jobId);
      await settleOne(store, again);
      const { history, attempts } = await show(store, held.jobId);
      expect(only(history)).toEqual({
        id: expect.any(String) as string,
        at: expect.any(Number) as number,
        from: "RUNNING",
        to: "RETRY_WAIT",
        attempt: 1,
        generation: 1,
        worker: "worker-1",
        reason: "retry",
        caller: null,
        startedAt,
        errorCode: "SMTP_421",
        errorMessage: "try again later",
      });
      expect(attempts.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
        [1, "FAILED"],
        [2, "SUCCESS"],
      ]);
    });

    test("keeps a rescue and a cancel with the worker that lost the job", async () => {
      const lost = await running(store);
      await advance(minute);
      await store.rescue({ limit: 10, interruptionsMax: 20 });
      expect(await historyOf(store, lost.jobId)).toMatchObject([
        { from: "RUNNING", to: "QUEUED", reason: "lost", worker: "worker-1", errorCode: "WORKER_LOST" },
      ]);
      const canceled = await running(store);
      await store.cancel([canceled.jobId]);
      expect(await historyOf(store, canceled.jobId)).toMatchObject([
        { from: "RUNNING", to: "CANCELED", reason: "canceled", worker: "worker-1", errorCode: null },
      ]);
    });

    test("keeps what an operator or a schedule decided, which is no attempt", async () => {
      const id = await insertOne(store);
      await store.cancel([id], { caller: "ada" });
      await store.retry([id], { caller: "grace" });
      await store.cancel([id]);
      const { history, attempts } = await show(store, id);
      expect(history).toMatchObject([
        { from: "QUEUED", to: "CANCELED", reason: "canceled", caller: "ada", worker: null, startedAt: null },
        {
          from: "CANCELED",
          to: "QUEUED",
          reason: "retry",
          caller: "grace",
          generation: 2,
          worker: null,
          startedAt: null,
        },
        { from: "QUEUED", to: "CANCELED", reason: "canceled", caller: null },
      ]);
      expect(attempts).toEqual([]);
    });

    test("leaves dispatches, claims and successes to the events", async () => {
      const id = await insertOne(store, { delayMs: 20 * minute });
      await advance(20 * minute);
      await store.relay({ limit: 10 });
      await settleOne(store, await claimOne(store, id));
      expect(await historyOf(store, id)).toEqual([]);
    });
  },
});
