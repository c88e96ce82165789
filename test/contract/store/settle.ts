import { expect, test } from "vitest";
import { noAftermath } from "../../../src/machine/outbox.ts";
import type { Moved } from "../../../src/machine/transaction.ts";
import {
  aJob,
  claimOne,
  failure,
  outboxIds,
  dispatchWindowMs,
  minute,
  moves,
  only,
  running,
  settlementOf,
  settleOne,
  settleOptions,
  show,
  contract,
  type At,
} from "./fixture.ts";

export const settleContract = contract({
  "settle: outcomes": outcomes,
  "settle: release and groups": released,
  "settle: compare-and-set": compareAndSet,
});

function outcomes({ store, advance }: At): void {
  test("SUCCESS stores the result, ends the lease, writes the attempt and the event", async () => {
    const held = await running(store);
    const settled = await settleOne(store, held, { result: { sent: 3 } });
    expect(settled).toEqual({ settled: [held.jobId], conflicts: 0, aftermath: noAftermath });
    const { job, attempts, events } = await show(store, held.jobId);
    expect(job).toMatchObject({
      state: "SUCCESS",
      result: { sent: 3 },
      leaseUntil: null,
      failures: 0,
      errorCode: null,
    });
    expect(job.finishedAt).not.toBeNull();
    expect(only(attempts)).toMatchObject({ attempt: 1, worker: "worker-1", outcome: "SUCCESS", errorCode: null });
    expect(events.at(-1)).toMatchObject({ from: "RUNNING", to: "SUCCESS", attempt: 1, worker: "worker-1" });
  });

  test("FAILED stores the error and counts the failure", async () => {
    const held = await running(store);
    await settleOne(store, held, { ...failure, to: "FAILED", reason: "permanent" });
    const { job, attempts, events } = await show(store, held.jobId);
    expect(job).toMatchObject({ state: "FAILED", failures: 1, errorCode: "SMTP_421", errorMessage: "try again later" });
    expect(job.finishedAt).not.toBeNull();
    expect(only(attempts)).toMatchObject({ outcome: "FAILED", errorCode: "SMTP_421", errorMessage: "try again later" });
    expect(events.at(-1)).toMatchObject({ to: "FAILED", reason: "permanent" });
  });

  test("a retry within the dispatch window is QUEUED at once, and its history keeps the failed attempt", async () => {
    const held = await running(store);
    const { outbox } = (await settleOne(store, held, { ...failure, delayMs: minute })).aftermath;
    const message = only(only(outbox).messages);
    expect(message).toMatchObject({ jobId: held.jobId, generation: 2 });
    expect(message.delayMs).toBeGreaterThan(minute - 10_000);
    expect(message.delayMs).toBeLessThanOrEqual(minute);
    const { job, attempts } = await show(store, held.jobId);
    expect(job).toMatchObject({ state: "QUEUED", generation: 2, attempt: 1, failures: 1, leaseUntil: null });
    expect(await moves(store, held.jobId)).toEqual([">PENDING", "RUNNING>RETRY_WAIT"]);
    expect(only(attempts)).toMatchObject({ outcome: "FAILED", errorCode: "SMTP_421" });
    await advance(minute);
    expect(await claimOne(store, held.jobId)).toMatchObject({ state: "RUNNING", attempt: 2, failures: 1 });
  });

  test("a retry beyond the dispatch window waits in RETRY_WAIT without a message", async () => {
    const held = await running(store);
    const { outbox } = (await settleOne(store, held, { ...failure, delayMs: dispatchWindowMs + minute })).aftermath;
    expect(outbox).toEqual([]);
    const { job } = await show(store, held.jobId);
    expect(job).toMatchObject({ state: "RETRY_WAIT", generation: 1, failures: 1, leaseUntil: null, finishedAt: null });
    expect(job.dueAt).toBeGreaterThan((await store.now()) + dispatchWindowMs);
  });
}

function released({ store }: At): void {
  test("a release is QUEUED under a new generation, costs no failure and is dispatched at once", async () => {
    const held = await running(store);
    const { outbox } = (await settleOne(store, held, { to: "QUEUED", interruptions: 1, reason: "released" })).aftermath;
    expect(only(only(outbox).messages)).toMatchObject({ jobId: held.jobId, generation: 2, delayMs: 0 });
    const { job, attempts, events } = await show(store, held.jobId);
    expect(job).toMatchObject({ state: "QUEUED", failures: 0, interruptions: 1, generation: 2, attempt: 1 });
    expect(only(attempts).outcome).toBe("RELEASED");
    expect(events.at(-1)).toMatchObject({ from: "RUNNING", to: "QUEUED", reason: "released" });
    expect(await claimOne(store, held.jobId)).toMatchObject({ state: "RUNNING", attempt: 2, interruptions: 1 });
  });

  test("a batch of different outcomes is settled in one call, with one outbox batch for each lane", async () => {
    const [a, b, c, d] = [await running(store), await running(store), await running(store), await running(store)];
    const { settled, aftermath } = await store.settle(
      [
        settlementOf(d, { to: "QUEUED", interruptions: 1 }),
        settlementOf(a),
        settlementOf(b, failure),
        settlementOf(c, { to: "FAILED", failures: 1, errorCode: "permanent" }),
      ],
      settleOptions,
    );
    expect(settled.toSorted()).toEqual([a, b, c, d].map((held) => held.jobId).toSorted());
    expect(outboxIds([only(aftermath.outbox)]).toSorted()).toEqual([b.jobId, d.jobId].toSorted());
    const states = (await store.jobs()).map(({ state }) => state);
    expect(states.toSorted()).toEqual(["FAILED", "QUEUED", "QUEUED", "SUCCESS"]);
  });
}

function compareAndSet({ store, advance }: At): void {
  test("a worker whose lease expired and whose job was rescued cannot finish it", async () => {
    const zombie = await running(store, {}, { worker: "zombie" });
    await advance(minute);
    await store.rescue({ limit: 10, interruptionsMax: 20 });
    const next = await claimOne(store, zombie.jobId, { worker: "worker-2", alone: true });
    expect(next.attempt).toBe(2);
    const late = await settleOne(store, zombie, { children: [aJob({ kind: "child" })] });
    expect(late).toEqual({ settled: [], conflicts: 0, aftermath: noAftermath });
    const { job, attempts } = await show(store, zombie.jobId);
    expect(job).toMatchObject({ state: "RUNNING", attempt: 2, worker: "worker-2" });
    expect(attempts).toHaveLength(1);
    expect(await store.jobs({ kind: "child" })).toEqual([]);
  });

  test("a launcher's late settle does not undo the attempt that its task has taken over", async () => {
    const held = await running(store, {}, { worker: "worker-1" });
    await store.takeOver(held, { from: "worker-1", worker: "task-1" });
    const late = await settleOne(store, held, { to: "QUEUED", interruptions: 1, reason: "stopped" });
    expect(late).toEqual({ settled: [], conflicts: 0, aftermath: noAftermath });
    expect((await show(store, held.jobId)).job).toMatchObject({ state: "RUNNING", attempt: 1, worker: "task-1" });
    const own = await store.settle([settlementOf(held)], { ...settleOptions, worker: "task-1" });
    expect(own.settled).toEqual([held.jobId]);
    expect((await show(store, held.jobId)).job).toMatchObject({ state: "SUCCESS", worker: "task-1" });
  });

  test("a lease that passed without a rescue still lets its own attempt finish", async () => {
    const held = await running(store);
    await advance(10 * minute);
    expect((await settleOne(store, held)).settled).toEqual([held.jobId]);
  });

  test("the second settlement of an attempt writes nothing", async () => {
    const held = await running(store);
    await settleOne(store, held);
    expect((await settleOne(store, held, { to: "FAILED", failures: 1 })).settled).toEqual([]);
    expect((await show(store, held.jobId)).job.state).toBe("SUCCESS");
  });

  test("in a group the rows that are still ours are written and the others are left alone", async () => {
    const [mine, lost] = [await running(store), await running(store)];
    await store.cancel([lost.jobId]);
    const { settled } = await store.settle([settlementOf(mine), settlementOf(lost)], settleOptions);
    expect(settled).toEqual([mine.jobId]);
    expect((await show(store, lost.jobId)).job.state).toBe("CANCELED");
  });

  test("the hook runs in the same transaction with the rows that were written, and its error undoes them", async () => {
    const [mine, lost] = [await running(store, { payload: { n: 1 } }), await running(store)];
    await store.cancel([lost.jobId]);
    const seen: Moved[] = [];
    const settle = store.settle([settlementOf(mine, { ...failure, to: "FAILED" }), settlementOf(lost)], {
      ...settleOptions,
      inSameTransaction: async (_tx, rows) => {
        seen.push(...rows);
        throw new Error("the log table is full");
      },
    });
    await expect(settle).rejects.toThrow("log table is full");
    const moved = { jobId: mine.jobId, kind: "send-mail", payload: { n: 1 }, state: "FAILED", errorCode: "SMTP_421" };
    expect(only(seen)).toMatchObject({ ...moved, attempt: 1 });
    expect((await show(store, mine.jobId)).job.state).toBe("RUNNING");
  });

  test("nothing to settle is not an error", async () => {
    expect(await store.settle([], settleOptions)).toEqual({ settled: [], conflicts: 0, aftermath: noAftermath });
  });
}
