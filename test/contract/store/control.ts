import { expect, test } from "vitest";
import { noAftermath } from "../../../src/machine/outbox.ts";
import type { JobId } from "../../../src/machine/job.ts";
import type { Moved } from "../../../src/machine/transaction.ts";
import {
  aJob,
  claimIfPossible,
  claimOne,
  failure,
  outboxIds,
  insertMany,
  insertOne,
  dispatchWindowMs,
  minute,
  moves,
  only,
  running,
  settleOne,
  show,
  contract,
  type At,
} from "./fixture.ts";

export const controlContract = contract({ cancel, retry, reading });

function cancel({ store }: At): void {
  test("every state that is not final becomes CANCELED, with one event", async () => {
    const pending = await insertOne(store, { delayMs: dispatchWindowMs + minute });
    const queued = await insertOne(store);
    const retrying = await running(store);
    await settleOne(store, retrying, { ...failure, delayMs: dispatchWindowMs + minute });
    const ids = [pending, queued, retrying.jobId, (await running(store)).jobId];
    const { rows, aftermath } = await store.cancel(ids);
    expect(new Map(rows.map((row) => [row.jobId, row.state]))).toEqual(new Map(ids.map((id) => [id, "CANCELED"])));
    expect(aftermath.outbox).toEqual([]);
    const last = await Promise.all(ids.map(async (id) => (await moves(store, id)).at(-1)));
    expect(last).toEqual(["PENDING>CANCELED", "QUEUED>CANCELED", "RETRY_WAIT>CANCELED", "RUNNING>CANCELED"]);
  });

  test("a RUNNING job that is canceled writes its attempt and is no longer held by its worker", async () => {
    const held = await running(store);
    await store.cancel([held.jobId]);
    expect(await store.heartbeat([held], "worker-1")).toEqual([]);
    expect((await settleOne(store, held)).settled).toEqual([]);
    const { job, attempts } = await show(store, held.jobId);
    expect(job).toMatchObject({ state: "CANCELED", leaseUntil: null });
    expect(job.finishedAt).not.toBeNull();
    expect(only(attempts)).toMatchObject({ attempt: 1, worker: "worker-1", outcome: "CANCELED" });
  });

  test("rows come in the order of ids, whatever order they were asked in", async () => {
    const ids = await insertMany(store, [{}, {}, {}, {}]);
    const asked = [ids[2], ids[0], ids[3], ids[1]];
    expect((await store.cancel(asked)).rows.map((row) => row.jobId)).toEqual(ids);
    expect((await store.retry(asked)).ids).toEqual(ids);
  });

  test("a message of a canceled job claims nothing", async () => {
    const id = await insertOne(store);
    await store.cancel([id]);
    expect(await claimIfPossible(store, id)).toBeNull();
  });

  test("a held job that is canceled is held no longer and is never woken", async () => {
    await store.installSlots([{ key: "cap:x", size: 1, onRefusal: "hold", reason: "slot" }]);
    const holder = await running(store, { slotKeys: ["cap:x"] });
    const held = await claimOne(store, await insertOne(store, { slotKeys: ["cap:x"] }));
    await store.cancel([held.jobId]);
    await settleOne(store, holder);
    expect(await store.wake({ slotKeys: "all", limit: 10 })).toEqual([]);
    expect((await show(store, held.jobId)).job.hold).toBe("none");
  });

  test("finished and unknown jobs are left alone", async () => {
    const held = await running(store);
    await settleOne(store, held);
    const { rows } = await store.cancel([held.jobId, "4242424242" as JobId]);
    expect(rows).toEqual([]);
    expect((await show(store, held.jobId)).job.state).toBe("SUCCESS");
  });

  test("the hook runs in the same transaction, and its error undoes the cancel", async () => {
    const id = await insertOne(store);
    const seen: Moved[] = [];
    const broken = store.cancel([id], {
      async inSameTransaction(_tx, rows) {
        seen.push(...rows);
        throw new Error("hook");
      },
    });
    await expect(broken).rejects.toThrow("hook");
    expect(only(seen)).toMatchObject({ jobId: id, state: "CANCELED", payload: { to: "ada" } });
    expect((await show(store, id)).job.state).toBe("QUEUED");
  });
}

function retry({ store, advance }: At): void {
  test("a FAILED job is QUEUED and due now with a message of its own, its counters 0 and its attempts kept", async () => {
    const held = await running(store, { key: "k" });
    await settleOne(store, held, { ...failure, to: "FAILED" });
    const retried = await store.retry([held.jobId]);
    expect(retried.ids).toEqual([held.jobId]);
    expect(outboxIds(retried.aftermath.outbox)).toEqual([held.jobId]);
    const { job, attempts } = await show(store, held.jobId);
    expect(job).toMatchObject({ state: "QUEUED", failures: 0, interruptions: 0, attempt: 1, finishedAt: null });
    expect(job.dueAt).toBeLessThanOrEqual(await store.now());
    expect(attempts).toHaveLength(1);
    expect(await moves(store, held.jobId)).toContain("FAILED>QUEUED");
    expect(await store.relay({ limit: 10 })).toEqual([]);
    expect(await claimOne(store, held.jobId)).toMatchObject({ state: "RUNNING", attempt: 2, failures: 0 });
  });

  test("a CANCELED and a SKIPPED job can be retried", async () => {
    const canceled = await insertOne(store);
    await store.cancel([canceled]);
    const expired = await insertOne(store, { expiresAt: (await store.now()) + minute });
    await advance(2 * minute);
    await claimOne(store, expired);
    expect((await store.retry([canceled, expired])).ids.toSorted()).toEqual([canceled, expired].toSorted());
  });

  test("an old message does not claim a retried job", async () => {
    const id = await insertOne(store);
    await store.cancel([id]);
    await store.retry([id]);
    const old = { jobId: id, generation: 1, trace: "" };
    expect((await store.claim([old], { worker: "worker-1", alone: false })).claimed).toEqual([]);
  });

  test("a job that has not failed, or succeeded, is left alone", async () => {
    const queued = await insertOne(store);
    const done = await running(store);
    await settleOne(store, done);
    const asked = [queued, done.jobId, "4242424242" as JobId];
    expect(await store.retry(asked)).toEqual({ ids: [], aftermath: noAftermath });
    expect((await show(store, done.jobId)).job.state).toBe("SUCCESS");
  });
}

function reading({ store }: At): void {
  test("an unknown job is null", async () => {
    expect(await store.job("4242424242" as JobId))?.toBeNull();
  });

  test("a job is found by its key among those of its kind", async () => {
    const { results } = await store.insert([aJob({ key: "one" }), aJob({ key: "two" }), aJob()]);
    expect(await store.job({ kind: "send-mail", key: "two" })).toMatchObject({ id: results[1]?.id, key: "two" });
    expect(await store.job({ kind: "send-mail", key: "three" })).toBeNull();
    expect(await store.job({ kind: "send-letter", key: "two" })).toBeNull();
  });
}
