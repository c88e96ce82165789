import { expect, test } from "vitest";
import type { JobId } from "../../../src/machine/job.ts";
import {
  claimIfPossible,
  claimOne,
  insertMany,
  insertOne,
  messageFor,
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

export const claimContract = contract({ claim, "claim: what it refuses": refusals, "look and heartbeat": watching });

const worker = { worker: "worker-1", alone: false } as const;

function claim({ store, advance }: At): void {
  test("a due QUEUED row becomes RUNNING: attempt + 1, a lease from its row, the worker's name", async () => {
    const id = await insertOne(store, { leaseMs: 30_000, key: "k", payload: { n: 7 }, maxAttempts: 9 });
    const before = await store.now();
    const claimed = await claimOne(store, id, { worker: "worker-7" });
    expect(claimed).toMatchObject({
      jobId: id,
      state: "RUNNING",
      attempt: 1,
      generation: 1,
      failures: 0,
      interruptions: 0,
      maxAttempts: 9,
      leaseMs: 30_000,
      key: "k",
      payload: { n: 7 },
      trace: "trace-1",
      slotKeys: [],
      scheduleId: null,
      isCatchUp: false,
      missedCount: 0,
    });
    const { job } = await show(store, id);
    expect(job).toMatchObject({ state: "RUNNING", worker: "worker-7", attempt: 1 });
    expect(job.leaseUntil).toBeGreaterThanOrEqual(before + 30_000);
    expect(job.leaseUntil).toBeLessThan(before + 40_000);
    expect(job.startedAt).toBeGreaterThanOrEqual(before);
  });

  test("a whole batch is claimed in one call, with one event each", async () => {
    const ids = await insertMany(store, [{}, {}, {}]);
    const messages = await Promise.all(ids.map((id) => messageFor(store, id)));
    const { claimed } = await store.claim(messages.toReversed(), worker);
    expect(claimed.map((row) => row.jobId).toSorted()).toEqual([...ids].toSorted());
    for (const id of ids) expect(await moves(store, id)).toEqual([">PENDING", "QUEUED>RUNNING"]);
  });

  test("the same message twice in one batch claims once", async () => {
    const message = await messageFor(store, await insertOne(store));
    expect((await store.claim([message, message], worker)).claimed).toHaveLength(1);
  });

  test("the event of a claim carries the new attempt and the worker", async () => {
    const { jobId } = await running(store);
    expect((await show(store, jobId)).events.at(-1)).toMatchObject({ to: "RUNNING", attempt: 1, worker: "worker-1" });
  });

  test("a try begins without the progress of the one before", async () => {
    const held = await running(store);
    await store.heartbeat([{ jobId: held.jobId, attempt: 1, progress: 0.5 }], "worker-1");
    await settleOne(store, held, { to: "QUEUED", interruptions: 1 });
    await claimOne(store, held.jobId);
    expect((await show(store, held.jobId)).job.progress).toBeNull();
  });

  test("lateness is the time since it was due, never negative", async () => {
    const id = await insertOne(store);
    await advance(minute);
    const { latenessMs } = await claimOne(store, id);
    expect(latenessMs).toBeGreaterThanOrEqual(minute);
    expect(latenessMs).toBeLessThan(2 * minute);
  });
}

function refusals({ store, advance }: At): void {
  test("a claim with an old generation returns nothing", async () => {
    const held = await running(store);
    await settleOne(store, held, { to: "QUEUED", interruptions: 1 });
    expect((await store.claim([{ jobId: held.jobId, generation: 1, trace: "" }], worker)).claimed).toEqual([]);
    expect((await store.claim([{ jobId: held.jobId, generation: 3, trace: "" }], worker)).claimed).toEqual([]);
    expect((await show(store, held.jobId)).job.state).toBe("QUEUED");
  });

  test("a row that is not due yet is not claimed", async () => {
    const id = await insertOne(store, { delayMs: minute });
    expect(await claimIfPossible(store, id)).toBeNull();
    await advance(minute);
    expect(await claimIfPossible(store, id)).toMatchObject({ state: "RUNNING" });
  });

  test("no row is claimed a millisecond early, and none later than it could", async () => {
    const first = (await store.now()) + minute;
    // One each millisecond: whichever the instant of the claim is, a row is due just after it.
    const dueAts = Array.from({ length: 300 }, (_, n) => first + n);
    const ids = await insertMany(
      store,
      dueAts.map((dueAt) => ({ dueAt })),
    );
    await advance(first + 20 - (await store.now()));
    const messages = ids.map((jobId) => ({ jobId, generation: 1, trace: "" }));
    const { claimed } = await store.claim(messages, worker);
    const { startedAt } = (await show(store, only(ids.slice(0, 1)))).job;
    const due = dueAts.filter((dueAt) => dueAt <= (startedAt ?? 0));
    expect(claimed.map(({ dueAt }) => dueAt).toSorted((a, b) => a - b)).toEqual(due);
  });

  test("a RUNNING, PENDING or finished row is not claimed", async () => {
    const held = await running(store);
    expect(await claimIfPossible(store, held.jobId)).toBeNull();
    await settleOne(store, held);
    expect(await claimIfPossible(store, held.jobId)).toBeNull();
    expect(await claimIfPossible(store, await insertOne(store, { delayMs: dispatchWindowMs + minute }))).toBeNull();
  });

  test("an id that does not exist is not an error", async () => {
    const unknown = { jobId: "4242424242" as JobId, generation: 1, trace: "" };
    expect((await store.claim([unknown], worker)).claimed).toEqual([]);
    expect((await store.claim([], worker)).claimed).toEqual([]);
  });

  test("a row past its expiry is SKIPPED expired and says so", async () => {
    const id = await insertOne(store, { expiresAt: (await store.now()) + minute });
    await advance(2 * minute);
    expect(await claimOne(store, id)).toMatchObject({ state: "SKIPPED", reason: "expired", attempt: 0 });
    const { job, events } = await show(store, id);
    expect(job.state).toBe("SKIPPED");
    expect(job.finishedAt).not.toBeNull();
    expect(events.at(-1)).toMatchObject({ from: "QUEUED", to: "SKIPPED", reason: "expired" });
  });

  test("a row that has not expired yet runs", async () => {
    const id = await insertOne(store, { expiresAt: (await store.now()) + minute });
    expect(await claimOne(store, id)).toMatchObject({ state: "RUNNING" });
  });

  test("a row whose worker died in a batch is claimed only by a claim that runs it alone", async () => {
    const { jobId } = await running(store);
    await advance(minute);
    await store.rescue({ limit: 10, interruptionsMax: 20 });
    expect(await claimIfPossible(store, jobId)).toBeNull();
    expect(await claimIfPossible(store, jobId, { alone: true })).toMatchObject({ state: "RUNNING", attempt: 2 });
  });
}

function watching({ store, advance }: At): void {
  test("a look shows state, generation, time until due, and who must run alone", async () => {
    const [queued, lost] = await insertMany(store, [{ delayMs: 4 * minute }, {}]);
    await claimOne(store, lost);
    await advance(minute);
    await store.rescue({ limit: 10, interruptionsMax: 20 });
    const looked = new Map((await store.peek([queued, lost])).map((row) => [row.jobId, row]));
    expect(looked.get(queued)).toMatchObject({ state: "QUEUED", generation: 1, alone: false });
    expect(looked.get(queued)?.dueInMs).toBeGreaterThan(2 * minute);
    expect(looked.get(queued)?.dueInMs).toBeLessThanOrEqual(3 * minute);
    expect(looked.get(lost)).toMatchObject({ state: "QUEUED", generation: 2, alone: true });
    expect(looked.get(lost)?.dueInMs).toBeLessThanOrEqual(0);
  });

  test("look leaves out ids that do not exist", async () => {
    expect(await store.peek(["4242424242" as JobId])).toEqual([]);
  });

  test("a heartbeat extends the lease, stores progress and answers the tries still held", async () => {
    const held = await running(store);
    await advance(15_000);
    expect(await store.heartbeat([{ jobId: held.jobId, attempt: 1, progress: 0.25 }], "worker-1")).toEqual([
      { jobId: held.jobId, attempt: 1 },
    ]);
    await advance(15_000);
    expect((await store.rescue({ limit: 10, interruptionsMax: 20 })).rows).toEqual([]);
    expect((await show(store, held.jobId)).job.progress).toBeCloseTo(0.25);
  });

  test("a heartbeat without progress keeps the progress that was reported", async () => {
    const held = await running(store);
    await store.heartbeat([{ jobId: held.jobId, attempt: 1, progress: 0.5 }], "worker-1");
    await store.heartbeat([{ jobId: held.jobId, attempt: 1 }], "worker-1");
    expect((await show(store, held.jobId)).job.progress).toBeCloseTo(0.5);
  });

  test("a heartbeat of two attempts of one job, as a worker may have both, holds only the newest", async () => {
    const lost = await running(store);
    await advance(minute);
    await store.rescue({ limit: 10, interruptionsMax: 20 });
    const again = await claimOne(store, lost.jobId, { alone: true });
    expect(await store.heartbeat([lost, again], "worker-1")).toEqual([{ jobId: again.jobId, attempt: 2 }]);
  });

  test("a heartbeat of another attempt, or of a row that moved, is not held and extends nothing", async () => {
    const held = await running(store);
    const before = (await show(store, held.jobId)).job.leaseUntil;
    expect(await store.heartbeat([{ jobId: held.jobId, attempt: 2 }], "worker-1")).toEqual([]);
    expect((await show(store, held.jobId)).job.leaseUntil).toBe(before);
    await settleOne(store, held);
    expect(await store.heartbeat([{ jobId: held.jobId, attempt: 1 }], "worker-1")).toEqual([]);
    expect(only((await show(store, held.jobId)).attempts).outcome).toBe("SUCCESS");
  });
}
