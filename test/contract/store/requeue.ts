import { expect, test } from "vitest";
import type { JobId, NewJob } from "../../../src/machine/job.ts";
import { FenceLost } from "../../../src/machine/fence.ts";
import type { TestStore } from "../../support/looks.ts";
import {
  aJob,
  outboxIds,
  insertMany,
  insertOne,
  dispatchWindowMs,
  minute,
  only,
  running,
  settleOne,
  show,
  contract,
  type At,
} from "./fixture.ts";

export const requeueContract = contract({ requeueLost: requeue });

const later = dispatchWindowMs + minute;

function requeue({ store, advance }: At): void {
  const empty = { lane: "default", evidence: "queue-empty", olderThanMs: 5_000, limit: 10 } as const;
  /** Jobs whose message the queue accepted. */
  const sent = async (store: TestStore, jobs: readonly Partial<NewJob>[]): Promise<readonly JobId[]> => {
    const { results, aftermath } = await store.insert(jobs.map((job) => aJob(job)));
    await store.confirm(aftermath.outbox.map(({ id }) => ({ id, failed: [] })));
    return results.map(({ id }) => id);
  };
  const sentOne = async (store: TestStore, job: Partial<NewJob> = {}): Promise<JobId> => only(await sent(store, [job]));

  test("a message that an empty queue does not have is lost: its row waits again under a new generation", async () => {
    const id = await sentOne(store);
    expect(await store.requeueLost({ ...empty, olderThanMs: minute })).toBe(0);
    await advance(2 * minute);
    expect(await store.requeueLost({ ...empty, olderThanMs: minute })).toBe(1);
    const { job, events } = await show(store, id);
    expect(job).toMatchObject({ state: "PENDING", generation: 2, hold: "none" });
    expect(events.at(-1)).toMatchObject({ from: "QUEUED", to: "PENDING", reason: "message-lost" });
    expect(outboxIds(await store.relay({ limit: 10 }))).toEqual([id]);
  });

  test("a message that was sent ahead is not lost before it was due for that long", async () => {
    await sentOne(store, { delayMs: 4 * minute });
    await advance(4 * minute);
    expect(await store.requeueLost({ ...empty, olderThanMs: minute })).toBe(0);
    await advance(2 * minute);
    expect(await store.requeueLost({ ...empty, olderThanMs: minute })).toBe(1);
  });

  test("other lanes and rows that are not QUEUED are left alone, and the limit is kept", async () => {
    await running(store);
    await sent(store, [{ lane: "mail" }, {}, {}, { delayMs: later }]);
    await advance(minute);
    expect(await store.requeueLost({ ...empty, limit: 1 })).toBe(1);
    expect(await store.requeueLost(empty)).toBe(1);
    expect(await store.requeueLost(empty)).toBe(0);
    expect(await store.requeueLost({ ...empty, lane: "mail" })).toBe(1);
  });

  test("what a scheduler task saw of the queues is there for the next, unless that comes late", async () => {
    expect(await store.queueObservations({ maxAgeMs: 15_000 })).toEqual([]);
    await store.saveQueueObservations([]);
    await store.saveQueueObservations([{ lane: "default", emptyMs: 20_000 }]);
    await store.saveQueueObservations([
      { lane: "mail", emptyMs: 0 },
      { lane: "default", emptyMs: 30_000 },
    ]);
    await advance(5_000);
    const seen = (await store.queueObservations({ maxAgeMs: 15_000 })).toSorted((a, b) => a.lane.localeCompare(b.lane));
    expect(seen.map(({ lane, emptyMs }) => [lane, Math.round(emptyMs / 1_000)])).toEqual([
      ["default", 35],
      ["mail", 5],
    ]);
    await advance(10_000);
    expect(await store.queueObservations({ maxAgeMs: 15_000 })).toEqual([]);
  });

  test("what is ahead is counted by lane, with what became due a moment ago, up to a limit", async () => {
    await insertMany(store, [{}, { delayMs: minute }, { delayMs: minute }, { lane: "mail", delayMs: minute }]);
    await running(store);
    const ahead = { lane: "default", sinceMs: 2_000, limit: 10 };
    await advance(2_001);
    expect(await store.countNotYetDue(ahead)).toBe(2);
    await advance(minute - 1_000);
    expect(await store.countNotYetDue(ahead)).toBe(2);
    expect(await store.countNotYetDue({ ...ahead, sinceMs: 0 })).toBe(0);
    expect(await store.countNotYetDue({ ...ahead, limit: 1 })).toBe(1);
  });

  test("age alone is no evidence: a row is overtaken only when its lane runs what was dispatched long after it", async () => {
    const overtaken = { ...empty, evidence: "overtaken" } as const;
    const lost = await sentOne(store);
    await advance(60 * minute);
    expect(await store.requeueLost(overtaken)).toBe(0);
    await running(store, { lane: "mail" });
    expect(await store.requeueLost(overtaken)).toBe(0);
    const waiting = await sentOne(store);
    await running(store);
    expect(await store.requeueLost(overtaken)).toBe(1);
    expect((await show(store, lost)).job.state).toBe("PENDING");
    expect((await show(store, waiting)).job.state).toBe("QUEUED");
  });

  test("a row is overtaken by what its lane has claimed, also when that has ended again", async () => {
    const overtaken = { ...empty, evidence: "overtaken" } as const;
    const lost = await sentOne(store);
    await advance(60 * minute);
    await settleOne(store, await running(store, { lane: "mail" }));
    expect(await store.requeueLost(overtaken)).toBe(0);
    await settleOne(store, await running(store));
    expect(await store.requeueLost(overtaken)).toBe(1);
    expect((await show(store, lost)).job.state).toBe("PENDING");
  });

  test("a message that was never sent is not lost: what lies in an open batch under its generation is left alone", async () => {
    const overtaken = { ...empty, evidence: "overtaken" } as const;
    const open = await insertOne(store);
    const mail = await insertOne(store, { lane: "mail" });
    const moved = await insertOne(store);
    await store.returnUndelivered([{ jobId: moved, generation: 1, trace: "" }], { undeliveredMax: 3, backoffMs: 0 });
    await store.confirm((await store.relay({ limit: 10 })).map(({ id }) => ({ id, failed: [] })));
    await advance(60 * minute);
    expect(await store.requeueLost(empty)).toBe(1);
    expect((await show(store, moved)).job.state).toBe("PENDING");
    await running(store);
    expect(await store.requeueLost(overtaken)).toBe(0);
    const batches = await store.reopen({ olderThanMs: minute, limit: 10, messagesMax: 10 });
    expect(outboxIds(batches)).toEqual([open, mail]);
    await store.confirm(batches.map(({ id }) => ({ id, failed: [] })));
    expect(await store.requeueLost(overtaken)).toBe(1);
    expect((await show(store, open)).job.state).toBe("PENDING");
  });

  test("under an older fence throws FenceLost", async () => {
    await store.installFence({ name: "pass", token: 2 });
    await expect(store.requeueLost({ ...empty, fence: { name: "pass", token: 1 } })).rejects.toThrow(FenceLost);
  });
}
