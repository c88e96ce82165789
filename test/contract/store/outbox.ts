import { describe, expect, test } from "vitest";
import type { JobId, NewJob } from "../../../src/core/job/job.ts";
import { FenceLost, type OutboxBatch, type Store } from "../../../src/core/ports/ports.ts";
import { aJob, claimOne, eachTest, failure, outboxIds, insertMany, insertOne, dispatchWindowMs } from "./fixture.ts";
import { minute, only, running, settleOne, show } from "./fixture.ts";
import type { OpenStore } from "./fixture.ts";

export function outboxContract(open: OpenStore): void {
  describe("relay", () => {
    relay(open);
  });
  describe("requeueLost", () => {
    requeue(open);
  });
  describe("confirm and reopen", () => {
    reopen(open);
  });
  describe("keep", () => {
    keep(open);
  });
  describe("reopen: which ones", () => {
    reopenSome(open);
  });
}

const later = dispatchWindowMs + minute;

function relay(open: OpenStore): void {
  const at = eachTest(open);

  test("hands off a PENDING row that has come within the dispatch window, under a new generation", async () => {
    const { store, advance } = at();
    const id = await insertOne(store, { delayMs: later });
    expect(await store.relay({ limit: 10 })).toEqual([]);
    await advance(2 * minute);
    const message = only(only(await store.relay({ limit: 10 })).messages);
    expect(message).toMatchObject({ jobId: id, generation: 1, trace: "trace-1" });
    expect(message.delayMs).toBeGreaterThan(3 * minute);
    expect(message.delayMs).toBeLessThanOrEqual(4 * minute);
    expect((await show(store, id)).job).toMatchObject({ state: "QUEUED", generation: 1 });
  });

  test("hands off a RETRY_WAIT row whose retry has come within the dispatch window", async () => {
    const { store, advance } = at();
    const held = await running(store);
    await settleOne(store, held, { ...failure, delayMs: later });
    await advance(later);
    const message = only(only(await store.relay({ limit: 10 })).messages);
    expect(message).toMatchObject({ jobId: held.jobId, generation: 2, delayMs: 0 });
    expect((await show(store, held.jobId)).job.state).toBe("QUEUED");
  });

  test("takes the earliest due first, then the smaller id, and no more than the limit", async () => {
    const { store, advance } = at();
    const now = await store.now();
    const [c, a, b] = await insertMany(store, [
      { dueAt: now + later + 2_000 },
      { dueAt: now + later },
      { dueAt: now + later },
    ]);
    await advance(2 * later);
    expect(outboxIds(await store.relay({ limit: 2 }))).toEqual([a, b]);
    expect(outboxIds(await store.relay({ limit: 2 }))).toEqual([c]);
    expect(await store.relay({ limit: 2 })).toEqual([]);
  });

  test("writes one outbox batch for each lane, and only the asked lane when one is named", async () => {
    const { store, advance } = at();
    const [mail, plain] = await insertMany(store, [{ delayMs: later, lane: "mail" }, { delayMs: later }]);
    await advance(later);
    const handoff = only(await store.relay({ limit: 10, lane: "mail" }));
    expect([handoff.lane, outboxIds([handoff])]).toEqual(["mail", [mail]]);
    expect(outboxIds(await store.relay({ limit: 10 }))).toEqual([plain]);
  });

  test("leaves QUEUED, RUNNING, held and finished rows alone", async () => {
    const { store } = at();
    await store.installSlots([{ key: "cap:x", size: 1, onRefusal: "hold", reason: "slot" }]);
    await insertOne(store);
    await running(store, { slotKeys: ["cap:x"] });
    const held = await claimOne(store, await insertOne(store, { slotKeys: ["cap:x"] }));
    expect(held.state).toBe("PENDING");
    await settleOne(store, await running(store));
    expect(await store.relay({ limit: 10 })).toEqual([]);
  });

  test("under an older fence throws FenceLost and hands nothing off", async () => {
    const { store, advance } = at();
    const id = await insertOne(store, { delayMs: later });
    await advance(later);
    await store.installFence({ name: "pass", token: 2 });
    const stale = store.relay({ limit: 10, fence: { name: "pass", token: 1 } });
    await expect(stale).rejects.toThrow(FenceLost);
    expect((await show(store, id)).job.state).toBe("PENDING");
  });
}

function requeue(open: OpenStore): void {
  const at = eachTest(open);
  const empty = { lane: "default", evidence: "queue-empty", olderThanMs: 5_000, limit: 10 } as const;
  /** Jobs whose message the queue accepted. */
  const sent = async (store: Store, jobs: readonly Partial<NewJob>[]): Promise<readonly JobId[]> => {
    const { results, aftermath } = await store.insert(jobs.map((job) => aJob(job)));
    await store.confirm(aftermath.outbox.map(({ id }) => ({ id, failed: [] })));
    return results.map(({ id }) => id);
  };
  const sentOne = async (store: Store, job: Partial<NewJob> = {}): Promise<JobId> => only(await sent(store, [job]));

  test("a message that an empty queue does not have is lost: its row waits again under a new generation", async () => {
    const { store, advance } = at();
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
    const { store, advance } = at();
    await sentOne(store, { delayMs: 4 * minute });
    await advance(4 * minute);
    expect(await store.requeueLost({ ...empty, olderThanMs: minute })).toBe(0);
    await advance(2 * minute);
    expect(await store.requeueLost({ ...empty, olderThanMs: minute })).toBe(1);
  });

  test("other lanes and rows that are not QUEUED are left alone, and the limit is kept", async () => {
    const { store, advance } = at();
    await running(store);
    await sent(store, [{ lane: "mail" }, {}, {}, { delayMs: later }]);
    await advance(minute);
    expect(await store.requeueLost({ ...empty, limit: 1 })).toBe(1);
    expect(await store.requeueLost(empty)).toBe(1);
    expect(await store.requeueLost(empty)).toBe(0);
    expect(await store.requeueLost({ ...empty, lane: "mail" })).toBe(1);
  });

  test("what a scheduler task saw of the queues is there for the next, unless that comes late", async () => {
    const { store, advance } = at();
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
    const { store, advance } = at();
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
    const { store, advance } = at();
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
    const { store, advance } = at();
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
    const { store, advance } = at();
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
    const { store } = at();
    await store.installFence({ name: "pass", token: 2 });
    await expect(store.requeueLost({ ...empty, fence: { name: "pass", token: 1 } })).rejects.toThrow(FenceLost);
  });
}

function reopen(open: OpenStore): void {
  const at = eachTest(open);
  const old = { olderThanMs: 5_000, limit: 10, messagesMax: 1_000 };

  test("an unconfirmed outbox batch is sent again when it is old enough, in its own row and under the same generation", async () => {
    const { store, advance } = at();
    const {
      aftermath: { outbox },
    } = await store.insert([aJob()]);
    expect(await store.reopen({ ...old, olderThanMs: minute })).toEqual([]);
    await advance(2 * minute);
    const again = only(await store.reopen({ ...old, olderThanMs: minute }));
    expect(again).toEqual({ ...only(outbox), resent: 1 });
    expect(await store.reopen({ ...old, olderThanMs: minute })).toEqual([]);
  });

  test("a confirmed outbox batch is not sent again", async () => {
    const { store, advance } = at();
    const {
      aftermath: { outbox },
    } = await store.insert([aJob()]);
    await store.confirm([{ id: only(outbox).id, failed: [] }]);
    await advance(minute);
    expect(await store.reopen(old)).toEqual([]);
  });

  test("a partly confirmed outbox batch keeps the failed ids only", async () => {
    const { store, advance } = at();
    const {
      results,
      aftermath: { outbox },
    } = await store.insert([aJob(), aJob(), aJob()]);
    const failed = results[1]?.id;
    if (failed === undefined) throw new Error("three jobs were inserted");
    await store.confirm([{ id: only(outbox).id, failed: [failed] }]);
    await advance(minute);
    expect(outboxIds(await store.reopen(old))).toEqual([failed]);
  });
}

function keep(open: OpenStore): void {
  const at = eachTest(open);
  const old = { olderThanMs: 5_000, limit: 10, messagesMax: 1_000 };
  /** An open batch of so many jobs. */
  const batch = async (store: Store, jobs: number): Promise<OutboxBatch> =>
    only((await store.insert(Array.from({ length: jobs }, () => aJob()))).aftermath.outbox);
  const idsOf = ({ messages }: OutboxBatch): readonly JobId[] => messages.map(({ jobId }) => jobId);

  test("a batch that its sender keeps is not taken by another, and only what is unsent stays in it", async () => {
    const { store, advance } = at();
    const [first, second] = [await batch(store, 3), await batch(store, 2)];
    await advance(4_000);
    const asked = [
      { ...first, unsent: idsOf(first).slice(1) },
      { ...second, unsent: [] },
    ];
    expect(await store.keep(asked)).toEqual(new Set([first.id, second.id]));
    await advance(4_000);
    expect(await store.reopen(old)).toEqual([]);
    await advance(2_000);
    expect(outboxIds(await store.reopen(old))).toEqual(idsOf(first).slice(1));
  });

  test("a batch that another has taken is not its first sender's any more, but what that one sent counts", async () => {
    const { store, advance } = at();
    const first = await batch(store, 3);
    await advance(6_000);
    const taken = only(await store.reopen(old));
    expect(await store.keep([{ ...first, unsent: idsOf(first).slice(1) }])).toEqual(new Set());
    await advance(4_000);
    expect(await store.keep([{ ...taken, unsent: idsOf(first).slice(0, 2) }])).toEqual(new Set([taken.id]));
    await advance(4_000);
    expect(await store.reopen(old)).toEqual([]);
    await advance(2_000);
    expect(only(await store.reopen(old))).toMatchObject({ resent: 2, messages: [{ jobId: idsOf(first)[1] }] });
  });

  test("the late confirmation of a first sender ends a batch that another has taken", async () => {
    const { store, advance } = at();
    const first = await batch(store, 2);
    await advance(6_000);
    const taken = only(await store.reopen(old));
    await store.confirm([{ id: first.id, failed: [] }]);
    expect(await store.keep([{ ...taken, unsent: idsOf(first) }])).toEqual(new Set());
    await advance(6_000);
    expect(await store.reopen(old)).toEqual([]);
  });

  test("two senders that each sent a part leave nothing open", async () => {
    const { store, advance } = at();
    const first = await batch(store, 2);
    await advance(6_000);
    await store.reopen(old);
    await store.confirm([{ id: first.id, failed: idsOf(first).slice(0, 1) }]);
    await store.confirm([{ id: first.id, failed: idsOf(first).slice(1) }]);
    await advance(6_000);
    expect(await store.reopen(old)).toEqual([]);
  });

  test("keeping nothing is not an error", async () => {
    expect(await at().store.keep([])).toEqual(new Set());
  });
}

function reopenSome(open: OpenStore): void {
  const at = eachTest(open);
  const old = { olderThanMs: 5_000, limit: 10, messagesMax: 1_000 };

  test("only rows that still wait under that generation are sent again", async () => {
    const { store, advance } = at();
    const [claimed, moved, waits] = await insertMany(store, [{}, {}, {}]);
    if (claimed === undefined || moved === undefined) throw new Error("three jobs were inserted");
    await claimOne(store, claimed);
    await store.returnUndelivered([{ jobId: moved, generation: 1, trace: "" }], {
      undeliveredMax: 3,
      backoffMs: 3_600_000,
    });
    await advance(minute);
    expect(outboxIds(await store.reopen(old))).toEqual([waits]);
  });

  test("an outbox batch of which nothing waits any more is gone", async () => {
    const { store, advance } = at();
    const held = await running(store);
    await advance(minute);
    expect(await store.reopen(old)).toEqual([]);
    await settleOne(store, held);
    expect(await store.reopen(old)).toEqual([]);
  });

  test("the limit counts outbox batches, oldest first, and a lane may be named", async () => {
    const { store, advance } = at();
    const first = await insertOne(store);
    const second = await insertOne(store);
    const mail = await insertOne(store, { lane: "mail" });
    await advance(minute);
    expect(outboxIds(await store.reopen({ ...old, limit: 1 }))).toEqual([first]);
    expect(outboxIds(await store.reopen({ ...old, lane: "mail" }))).toEqual([mail]);
    expect(outboxIds(await store.reopen(old))).toEqual([second]);
  });

  test("batches are never merged, and are taken up to so many messages, but one in any case", async () => {
    const { store, advance } = at();
    for (const jobs of [3, 2, 1, 1])
      await insertMany(
        store,
        Array.from({ length: jobs }, () => ({})),
      );
    await advance(minute);
    const pages: number[][] = [];
    for (const messagesMax of [1, 3, 3]) {
      const page = await store.reopen({ ...old, messagesMax });
      pages.push(page.map(({ messages }) => messages.length));
    }
    expect(pages).toEqual([[3], [2, 1], [1]]);
  });

  test("confirming an outbox batch that is gone is not an error", async () => {
    const { store } = at();
    const {
      aftermath: { outbox },
    } = await store.insert([aJob()]);
    const sent = [{ id: only(outbox).id, failed: [] }];
    await store.confirm(sent);
    expect(await store.confirm(sent)).toBeUndefined();
    expect(await store.confirm([])).toBeUndefined();
  });

  test("reopen under an older fence throws FenceLost", async () => {
    const { store } = at();
    await store.installFence({ name: "pass", token: 2 });
    await expect(store.reopen({ ...old, fence: { name: "pass", token: 1 } })).rejects.toThrow(FenceLost);
  });
}
