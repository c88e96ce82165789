import { expect, test } from "vitest";
import { noAftermath } from "../../../src/machine/outbox.ts";
import type { JobId } from "../../../src/machine/job.ts";
import type { Moved } from "../../../src/machine/transaction.ts";
import type { TestStore } from "../../support/looks.ts";
import { FenceLost } from "../../../src/machine/fence.ts";
import {
  claimIfPossible,
  claimOne,
  insertOne,
  messageFor,
  minute,
  moves,
  only,
  outboxIds,
  running,
  settleOne,
  show,
  contract,
  type At,
  insertAlike,
} from "./fixture.ts";

export const rescueContract = contract({
  rescue,
  "rescue: bounds": rescueBounds,
  "rescue of a job that ran alone": alone,
});
export const undeliveredContract = contract({ undelivered }, { dispatchWindowMs: 0 });

const options = { limit: 10, interruptionsMax: 20 } as const;

function rescue({ store, advance }: At): void {
  test("a RUNNING row within its lease is left alone", async () => {
    const held = await running(store);
    expect(await store.rescue(options)).toEqual({ rows: [], aftermath: noAftermath });
    expect((await show(store, held.jobId)).job.state).toBe("RUNNING");
  });

  test("a row of a batch that died is QUEUED again at once, charged an interruption, and must run alone next", async () => {
    const { jobId } = await running(store);
    await advance(minute);
    const { rows, aftermath } = await store.rescue(options);
    expect(only(rows)).toMatchObject({ jobId, kind: "send-mail", state: "QUEUED", attempt: 1 });
    expect(only(only(aftermath.outbox).messages)).toMatchObject({ jobId, generation: 2, delayMs: 0 });
    const { job, attempts } = await show(store, jobId);
    expect(job).toMatchObject({ state: "QUEUED", failures: 0, interruptions: 1, generation: 2, leaseUntil: null });
    expect(only(attempts)).toMatchObject({ attempt: 1, worker: "worker-1", outcome: "LOST" });
    expect((await moves(store, jobId)).at(-1)).toBe("RUNNING>QUEUED");
    expect(only(await store.peek([jobId])).alone).toBe(true);
    expect((await store.rescue(options)).rows).toEqual([]);
  });

  test("the interruption that reaches the cap fails the job as interrupted", async () => {
    const held = await running(store);
    await settleOne(store, held, { to: "QUEUED", interruptions: 1 });
    await claimOne(store, held.jobId);
    await advance(minute);
    const { rows, aftermath } = await store.rescue({ ...options, interruptionsMax: 2 });
    expect([only(rows).state, aftermath.outbox]).toEqual(["FAILED", []]);
    const { job, events } = await show(store, held.jobId);
    expect(job).toMatchObject({ state: "FAILED", interruptions: 2, failures: 0 });
    expect(events.at(-1)).toMatchObject({ from: "RUNNING", to: "FAILED", reason: "interrupted" });
  });
}

function rescueBounds({ store, advance }: At): void {
  test("takes no more than the limit, and only the lane that is named", async () => {
    const mail = await running(store, { lane: "mail" });
    await running(store);
    await running(store);
    await advance(minute);
    expect(only((await store.rescue({ ...options, lane: "mail" })).rows).jobId).toBe(mail.jobId);
    expect((await store.rescue({ ...options, limit: 1 })).rows).toHaveLength(1);
    expect((await store.rescue(options)).rows).toHaveLength(1);
  });

  test("of leases that ended at one instant takes the smaller ids first", async () => {
    const ids = await insertAlike(store, 6);
    const messages = await Promise.all(ids.map((id) => messageFor(store, id)));
    await store.claim(messages, { worker: "worker-1", alone: false });
    // Their rows are written again from the last to the first, so that the table does not lie in the order of ids.
    for (const jobId of ids.toReversed()) await store.heartbeat([{ jobId, attempt: 1 }], "worker-1");
    await store.heartbeat(ids.map((jobId) => ({ jobId, attempt: 1 })).toReversed(), "worker-1");
    await advance(minute);
    const rescued: (string | undefined)[] = [];
    for (const _ of ids) rescued.push((await store.rescue({ ...options, limit: 1 })).rows[0]?.jobId);
    expect(rescued).toEqual(ids);
  });

  test("the hook runs in the same transaction, and its error undoes the rescue", async () => {
    const { jobId } = await running(store);
    await advance(minute);
    const seen: Moved[] = [];
    const broken = store.rescue({
      ...options,
      inSameTransaction: async (_tx, rows) => {
        seen.push(...rows);
        throw new Error("hook");
      },
    });
    await expect(broken).rejects.toThrow("hook");
    expect(only(seen).jobId).toBe(jobId);
    expect((await show(store, jobId)).job).toMatchObject({ state: "RUNNING", interruptions: 0 });
  });

  test("under an older fence throws FenceLost and moves nothing", async () => {
    const { jobId } = await running(store);
    await advance(minute);
    await store.installFence({ name: "pass", token: 2 });
    const stale = { ...options, fence: { name: "pass", token: 1 } };
    await expect(store.rescue(stale)).rejects.toThrow(FenceLost);
    const seen: string[] = [];
    const inSameTransaction = async (): Promise<void> => void seen.push("hook");
    await expect(store.rescue({ ...stale, inSameTransaction })).rejects.toThrow(FenceLost);
    expect([seen, (await show(store, jobId)).job.state]).toEqual([[], "RUNNING"]);
  });
}

/** A job that was claimed alone and whose worker died again. */
async function lostAlone(
  store: TestStore,
  advance: (ms: number) => Promise<void>,
  maxAttempts: number,
): Promise<JobId> {
  const { jobId } = await running(store, { maxAttempts }, { alone: true });
  await advance(minute);
  return jobId;
}

function alone({ store, advance }: At): void {
  test("is charged a failure WORKER_LOST and is due now: RETRY_WAIT and QUEUED at once, with both events", async () => {
    const jobId = await lostAlone(store, advance, 4);
    const { rows, aftermath } = await store.rescue(options);
    expect(only(rows)).toMatchObject({ jobId, state: "QUEUED", errorCode: "WORKER_LOST" });
    expect(only(only(aftermath.outbox).messages)).toMatchObject({ jobId, generation: 2, delayMs: 0 });
    const { job, attempts } = await show(store, jobId);
    expect(job).toMatchObject({ state: "QUEUED", failures: 1, interruptions: 0, errorCode: "WORKER_LOST" });
    expect(only(attempts)).toMatchObject({ outcome: "LOST", errorCode: "WORKER_LOST" });
    expect((await moves(store, jobId)).slice(1)).toEqual(["RUNNING>RETRY_WAIT"]);
  });

  test("runs alone again when its worker gives it back before it has an outcome", async () => {
    const { jobId } = await running(store);
    await advance(minute);
    await store.rescue(options);
    await settleOne(store, await claimOne(store, jobId, { alone: true }), { to: "QUEUED", interruptions: 1 });
    expect(only(await store.peek([jobId]))).toMatchObject({ state: "QUEUED", alone: true });
    expect(await claimIfPossible(store, jobId, { alone: false })).toBeNull();
  });

  test("fails when that was its last try", async () => {
    const jobId = await lostAlone(store, advance, 1);
    const { rows, aftermath } = await store.rescue(options);
    expect([only(rows).state, aftermath.outbox]).toEqual(["FAILED", []]);
    const { job, attempts } = await show(store, jobId);
    expect(job).toMatchObject({ state: "FAILED", failures: 1, errorCode: "WORKER_LOST" });
    expect(only(attempts)).toMatchObject({ outcome: "LOST", errorCode: "WORKER_LOST" });
  });
}

function undelivered({ store, advance }: At): void {
  const backoff = { undeliveredMax: 3, backoffMs: minute };

  test("a QUEUED row under that generation waits for its backoff under a new generation", async () => {
    const id = await insertOne(store);
    const { rows } = await store.returnUndelivered([await messageFor(store, id)], backoff);
    expect(only(rows)).toMatchObject({ jobId: id, state: "PENDING" });
    const { job } = await show(store, id);
    expect(job).toMatchObject({ state: "PENDING", generation: 2, failures: 0 });
    expect((await moves(store, id)).at(-1)).toBe("QUEUED>PENDING");
    const now = await store.now();
    expect(job.dueAt).toBeGreaterThan(now + minute - 10_000);
    expect(job.dueAt).toBeLessThanOrEqual(now + minute);
    expect(outboxIds(await store.relay({ limit: 10 }))).toEqual([]);
    await advance(minute);
    expect(outboxIds(await store.relay({ limit: 10 }))).toEqual([id]);
    expect(await claimIfPossible(store, id)).toMatchObject({ state: "RUNNING", generation: 3 });
  });

  test("the third message that dies unclaimed fails the job as undeliverable", async () => {
    const id = await insertOne(store);
    for (const expected of ["PENDING", "PENDING", "FAILED"]) {
      const { rows } = await store.returnUndelivered([await messageFor(store, id)], { ...backoff, backoffMs: 0 });
      expect(only(rows).state).toBe(expected);
      await store.relay({ limit: 10 });
    }
    expect((await show(store, id)).events.at(-1)).toMatchObject({ to: "FAILED", reason: "undeliverable" });
  });

  test("a message that the row has left behind changes nothing", async () => {
    const held = await running(store);
    const message = { jobId: held.jobId, generation: 1, trace: "" };
    expect((await store.returnUndelivered([message], backoff)).rows).toEqual([]);
    await settleOne(store, held, { to: "QUEUED", interruptions: 1 });
    expect((await store.returnUndelivered([message], backoff)).rows).toEqual([]);
    expect((await show(store, held.jobId)).job).toMatchObject({ state: "QUEUED", generation: 2 });
  });

  test("bodies that no worker could read are accepted and kept", async () => {
    expect(await store.quarantine("default", ["not json", "", "\u0000"])).toBeUndefined();
    expect(await store.quarantine("default", [])).toBeUndefined();
  });
}
