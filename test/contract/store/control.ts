import { describe, expect, test } from "vitest";
import { noAftermath } from "../../../src/core/ports/aftermath.ts";
import type { JobId } from "../../../src/core/job/job.ts";
import { contractLimits } from "../../../src/core/job/contract-limits.ts";
import { operationsLimits } from "../../../src/core/ports/operations-limits.ts";
import type { Moved, Store } from "../../../src/core/ports/ports.ts";
import type { PlannedOccurrence } from "../../../src/core/ports/schedule.ts";
import { claimIfPossible, claimOne, eachTest, failure, outboxIds, insertMany, insertOne } from "./fixture.ts";
import { dispatchWindowMs, minute, moves, only, running, settleOne, show } from "./fixture.ts";
import type { OpenStore } from "./fixture.ts";
import { aSpec, occurrenceAt, planned } from "./schedule-fixture.ts";

export function controlContract(open: OpenStore): void {
  describe("cancel", () => {
    cancel(open);
  });
  describe("retry", () => {
    retry(open);
  });
  describe("prune", () => {
    prune(open);
    pruneOccurrences(open);
  });
  describe("reading", () => {
    reading(open);
  });
}

function cancel(open: OpenStore): void {
  const at = eachTest(open);

  test("every state that is not final becomes CANCELED, with one event", async () => {
    const { store } = at();
    const pending = await insertOne(store, { delayMs: dispatchWindowMs + minute });
    const queued = await insertOne(store);
    const retrying = await running(store);
    await settleOne(store, retrying, { ...failure, delayMs: dispatchWindowMs + minute });
    const ids = [pending, queued, retrying.jobId, (await running(store)).jobId];
    const {
      rows,
      aftermath: { outbox },
    } = await store.cancel(ids);
    expect(new Map(rows.map((row) => [row.jobId, row.state]))).toEqual(new Map(ids.map((id) => [id, "CANCELED"])));
    expect(outbox).toEqual([]);
    const last = await Promise.all(ids.map(async (id) => (await moves(store, id)).at(-1)));
    expect(last).toEqual(["PENDING>CANCELED", "QUEUED>CANCELED", "RETRY_WAIT>CANCELED", "RUNNING>CANCELED"]);
  });

  test("a RUNNING job that is canceled writes its attempt and is no longer held by its worker", async () => {
    const { store } = at();
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
    const { store } = at();
    const ids = await insertMany(store, [{}, {}, {}, {}]);
    const asked = [ids[2], ids[0], ids[3], ids[1]].flatMap((id) => id ?? []);
    expect((await store.cancel(asked)).rows.map((row) => row.jobId)).toEqual(ids);
    expect((await store.retry(asked)).ids).toEqual(ids);
  });

  test("a message of a canceled job claims nothing", async () => {
    const { store } = at();
    const id = await insertOne(store);
    await store.cancel([id]);
    expect(await claimIfPossible(store, id)).toBeNull();
  });

  test("a held job that is canceled is held no longer and is never woken", async () => {
    const { store } = at();
    await store.installSlots([{ key: "cap:x", size: 1, onRefusal: "hold", reason: "slot" }]);
    const holder = await running(store, { slotKeys: ["cap:x"] });
    const held = await claimOne(store, await insertOne(store, { slotKeys: ["cap:x"] }));
    await store.cancel([held.jobId]);
    await settleOne(store, holder);
    expect(await store.wake({ slotKeys: "all", limit: 10 })).toEqual([]);
    expect((await show(store, held.jobId)).job.hold).toBe("none");
  });

  test("finished and unknown jobs are left alone", async () => {
    const { store } = at();
    const held = await running(store);
    await settleOne(store, held);
    const { rows } = await store.cancel([held.jobId, "4242424242" as JobId]);
    expect(rows).toEqual([]);
    expect((await show(store, held.jobId)).job.state).toBe("SUCCESS");
  });

  test("the hook runs in the same transaction, and its error undoes the cancel", async () => {
    const { store } = at();
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

function retry(open: OpenStore): void {
  const at = eachTest(open);

  test("a FAILED job is QUEUED and due now with a message of its own, its counters 0 and its attempts kept", async () => {
    const { store } = at();
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
    const { store, advance } = at();
    const canceled = await insertOne(store);
    await store.cancel([canceled]);
    const expired = await insertOne(store, { expiresAt: (await store.now()) + minute });
    await advance(2 * minute);
    await claimOne(store, expired);
    expect((await store.retry([canceled, expired])).ids.toSorted()).toEqual([canceled, expired].toSorted());
  });

  test("an old message does not claim a retried job", async () => {
    const { store } = at();
    const id = await insertOne(store);
    await store.cancel([id]);
    await store.retry([id]);
    const old = { jobId: id, generation: 1, trace: "" };
    expect((await store.claim([old], { worker: "worker-1", alone: false })).claimed).toEqual([]);
  });

  test("a job that has not failed, or succeeded, is left alone", async () => {
    const { store } = at();
    const queued = await insertOne(store);
    const done = await running(store);
    await settleOne(store, done);
    const asked = [queued, done.jobId, "4242424242" as JobId];
    expect(await store.retry(asked)).toEqual({ ids: [], aftermath: noAftermath });
    expect((await show(store, done.jobId)).job.state).toBe("SUCCESS");
  });
}

function prune(open: OpenStore): void {
  const at = eachTest(open);
  const day = 86_400_000;

  test("removes jobs that finished longer ago than their retention, and frees their keys", async () => {
    const { store, advance } = at();
    const old = await running(store, { retentionMs: 7 * day, key: "k" });
    const kept = await running(store, { retentionMs: 30 * day });
    await settleOne(store, old);
    await settleOne(store, kept);
    expect((await store.prune({ limit: 10 })).jobs).toBe(0);
    await advance(8 * day);
    expect((await store.prune({ limit: 10 })).jobs).toBe(1);
    expect(await store.job(old.jobId)).toBeNull();
    expect(await store.job(kept.jobId)).not.toBeNull();
    expect(await insertOne(store, { key: "k" })).not.toBe(old.jobId);
  });

  test("never removes a job that is not finished, and no more than the limit", async () => {
    const { store, advance } = at();
    const waiting = await insertOne(store, { retentionMs: 7 * day });
    for (let i = 0; i < 3; i += 1) await settleOne(store, await running(store, { retentionMs: 7 * day }));
    await advance(60 * day);
    expect((await store.prune({ limit: 2 })).jobs).toBe(2);
    expect((await store.prune({ limit: 2 })).jobs).toBe(1);
    expect(await store.job(waiting)).not.toBeNull();
  });
}

function pruneOccurrences(open: OpenStore): void {
  const at = eachTest(open);
  const day = 86_400_000;
  const history = contractLimits.historyMs;
  const plan = async (store: Store, times: readonly (Partial<PlannedOccurrence> & { in: number })[]) => {
    const now = Math.ceil(await store.now());
    const occurrences = times.map(({ in: ms, ...over }) => occurrenceAt(now + ms, over));
    await planned(store, occurrences, { decidedUntil: now + minute });
  };
  const skipped = { outcome: "SKIPPED", reason: "misfire", job: null } as const;

  test("removes what was decided and due before the history's window, page by page, and the ledger begins after it", async () => {
    const { store, advance } = at();
    await store.installSchedules([aSpec()]);
    await plan(store, [
      { in: -2 * minute, ...skipped },
      { in: -minute, ...skipped },
      { in: 0, ...skipped },
    ]);
    await advance(history - day);
    expect((await store.prune({ limit: 10 })).occurrences).toBe(0);
    await advance(2 * day);
    const last = (await store.occurrences("every-minute", 1))[0]?.nominalAt ?? 0;
    expect((await store.prune({ limit: 2 })).occurrences).toBe(2);
    expect((await store.prune({ limit: 2 })).occurrences).toBe(1);
    expect(await store.occurrences("every-minute", 10)).toEqual([]);
    expect((await store.scheduleFacts("every-minute"))?.ledgerFrom).toBe(last + 1);
  });

  test("keeps what is PLANNED, whose job is not finished, or that was decided only lately", async () => {
    const { store, advance } = at();
    await store.installSchedules([aSpec()]);
    await plan(store, [{ in: -2 * minute }, { in: -minute }]);
    const [, waiting] = (await store.occurrences("every-minute", 10)).toReversed();
    await claimOne(store, waiting?.jobId ?? ("" as JobId));
    await advance(history + 2 * day);
    await plan(store, [{ in: -history - day, ...skipped }]);
    expect((await store.prune({ limit: 10 })).occurrences).toBe(0);
    const outcomes = (await store.occurrences("every-minute", 10)).map((row) => row.outcome);
    expect(outcomes.toSorted()).toEqual(["FIRED", "PLANNED", "SKIPPED"]);
  });

  test("removes the ledger of a schedule that was deleted too", async () => {
    const { store, advance } = at();
    await store.installSchedules([aSpec()]);
    await plan(store, [{ in: 0, ...skipped }]);
    await store.installSchedules([], { apps: [aSpec().app] });
    await advance(history + 2 * day);
    expect((await store.prune({ limit: 10 })).occurrences).toBe(1);
  });
}

function reading(open: OpenStore): void {
  const at = eachTest(open);

  test("counts tell what is due only later from what is due, and no more of a state than the limit", async () => {
    const { store, advance } = at();
    await store.installSlots([{ key: "cap:x", size: 1, onRefusal: "hold", reason: "slot" }]);
    await running(store, { slotKeys: ["cap:x"] });
    await claimOne(store, await insertOne(store, { slotKeys: ["cap:x"] }));
    await settleOne(store, await running(store));
    await insertMany(store, [{ delayMs: minute }, { delayMs: dispatchWindowMs + minute }, {}]);
    const counts = { PENDING: 2, QUEUED: 2, RUNNING: 1, RETRY_WAIT: 0, SUCCESS: 1, FAILED: 0, CANCELED: 0, SKIPPED: 0 };
    expect(await store.counts()).toEqual({ ...counts, notYetDue: 2 });
    await advance(2 * minute);
    expect(await store.counts()).toMatchObject({ notYetDue: 1 });
    const many = operationsLimits.countedRowsMax / 2;
    for (let n = 0; n < 3; n += 1) {
      await insertMany(
        store,
        Array.from({ length: many }, () => ({ delayMs: dispatchWindowMs + minute })),
      );
    }
    const most = operationsLimits.countedRowsMax;
    expect(await store.counts()).toMatchObject({ PENDING: most, notYetDue: most, SUCCESS: 0 });
  });

  test("lists the newest first, filtered, in pages by id", async () => {
    const { store } = at();
    const ids = await insertMany(store, [{}, { kind: "other", key: "k" }, { lane: "mail" }]);
    const listed = async (filter: Partial<Parameters<typeof store.jobs>[0]>) =>
      (await store.jobs({ limit: 10, ...filter })).map((job) => ids.indexOf(job.id));
    expect(await listed({})).toEqual([2, 1, 0]);
    expect(await listed({ limit: 2 })).toEqual([2, 1]);
    const [, second] = ids;
    if (second === undefined) throw new Error("three jobs were inserted");
    expect(await listed({ before: second })).toEqual([0]);
    expect(await listed({ kind: "other" })).toEqual([1]);
    expect(await listed({ key: "k" })).toEqual([1]);
    expect(await listed({ lane: "mail" })).toEqual([2]);
    expect(await listed({ states: ["SUCCESS", "FAILED"] })).toEqual([]);
    expect(await listed({ states: ["QUEUED"] })).toEqual([2, 1, 0]);
  });

  test("an unknown job is null", async () => {
    expect(await at().store.job("4242424242" as JobId)).toBeNull();
  });

  test("counts every state, also those with no jobs", async () => {
    const { store } = at();
    await insertMany(store, [{}, {}, { delayMs: dispatchWindowMs + minute }]);
    const empty = { RUNNING: 0, RETRY_WAIT: 0, SUCCESS: 0, FAILED: 0, CANCELED: 0, SKIPPED: 0 };
    expect(await store.counts()).toEqual({ ...empty, PENDING: 1, QUEUED: 2, notYetDue: 1 });
  });
}
