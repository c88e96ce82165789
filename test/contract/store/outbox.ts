import { expect, test } from "vitest";
import type { JobId } from "../../../src/machine/job.ts";
import { FenceLost } from "../../../src/machine/fence.ts";
import { type OutboxBatch } from "../../../src/machine/outbox.ts";
import type { TestStore } from "../../support/looks.ts";
import {
  aJob,
  claimOne,
  failure,
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

export const outboxContract = contract({ relay, "confirm and reopen": reopen, keep, "reopen: which ones": reopenSome });

const later = dispatchWindowMs + minute;

function relay({ store, advance }: At): void {
  test("hands off a PENDING row that has come within the dispatch window, under a new generation", async () => {
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
    const held = await running(store);
    await settleOne(store, held, { ...failure, delayMs: later });
    await advance(later);
    const message = only(only(await store.relay({ limit: 10 })).messages);
    expect(message).toMatchObject({ jobId: held.jobId, generation: 2, delayMs: 0 });
    expect((await show(store, held.jobId)).job.state).toBe("QUEUED");
  });

  test("takes the earliest due first, then the smaller id, and no more than the limit", async () => {
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
    const [mail, plain] = await insertMany(store, [{ delayMs: later, lane: "mail" }, { delayMs: later }]);
    await advance(later);
    const batch = only(await store.relay({ limit: 10, lane: "mail" }));
    expect([batch.lane, outboxIds([batch])]).toEqual(["mail", [mail]]);
    expect(outboxIds(await store.relay({ limit: 10 }))).toEqual([plain]);
  });

  test("leaves QUEUED, RUNNING, held and finished rows alone", async () => {
    await store.installSlots([{ key: "cap:x", size: 1, onRefusal: "hold", reason: "slot" }]);
    await insertOne(store);
    await running(store, { slotKeys: ["cap:x"] });
    const held = await claimOne(store, await insertOne(store, { slotKeys: ["cap:x"] }));
    expect(held.state).toBe("PENDING");
    await settleOne(store, await running(store));
    expect(await store.relay({ limit: 10 })).toEqual([]);
  });

  test("under an older fence throws FenceLost and hands nothing off", async () => {
    const id = await insertOne(store, { delayMs: later });
    await advance(later);
    await store.installFence({ name: "pass", token: 2 });
    const stale = store.relay({ limit: 10, fence: { name: "pass", token: 1 } });
    await expect(stale).rejects.toThrow(FenceLost);
    expect((await show(store, id)).job.state).toBe("PENDING");
  });
}

function reopen({ store, advance }: At): void {
  const old = { olderThanMs: 5_000, limit: 10, messagesMax: 1_000 };

  test("an unconfirmed outbox batch is sent again when it is old enough, in its own row and under the same generation", async () => {
    const { outbox } = (await store.insert([aJob()])).aftermath;
    expect(await store.reopen({ ...old, olderThanMs: minute })).toEqual([]);
    await advance(2 * minute);
    const again = only(await store.reopen({ ...old, olderThanMs: minute }));
    expect(again).toEqual({ ...only(outbox), resent: 1 });
    expect(await store.reopen({ ...old, olderThanMs: minute })).toEqual([]);
  });

  test("a confirmed outbox batch is not sent again", async () => {
    const { outbox } = (await store.insert([aJob()])).aftermath;
    await store.confirm([{ id: only(outbox).id, failed: [] }]);
    await advance(minute);
    expect(await store.reopen(old)).toEqual([]);
  });

  test("a partly confirmed outbox batch keeps the failed ids only", async () => {
    const { results, aftermath } = await store.insert([aJob(), aJob(), aJob()]);
    const failed = results[1]?.id;
    if (failed === undefined) throw new Error("three jobs were inserted");
    await store.confirm([{ id: only(aftermath.outbox).id, failed: [failed] }]);
    await advance(minute);
    expect(outboxIds(await store.reopen(old))).toEqual([failed]);
  });
}

function keep({ store, advance }: At): void {
  const old = { olderThanMs: 5_000, limit: 10, messagesMax: 1_000 };
  /** An open batch of so many jobs. */
  const batch = async (store: TestStore, jobs: number): Promise<OutboxBatch> =>
    only((await store.insert(Array.from({ length: jobs }, () => aJob()))).aftermath.outbox);
  const idsOf = ({ messages }: OutboxBatch): readonly JobId[] => messages.map(({ jobId }) => jobId);

  test("a batch that its sender keeps is not taken by another, and only what is unsent stays in it", async () => {
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
    const first = await batch(store, 2);
    await advance(6_000);
    const taken = only(await store.reopen(old));
    await store.confirm([{ id: first.id, failed: [] }]);
    expect(await store.keep([{ ...taken, unsent: idsOf(first) }])).toEqual(new Set());
    await advance(6_000);
    expect(await store.reopen(old)).toEqual([]);
  });

  test("two senders that each sent a part leave nothing open", async () => {
    const first = await batch(store, 2);
    await advance(6_000);
    await store.reopen(old);
    await store.confirm([{ id: first.id, failed: idsOf(first).slice(0, 1) }]);
    await store.confirm([{ id: first.id, failed: idsOf(first).slice(1) }]);
    await advance(6_000);
    expect(await store.reopen(old)).toEqual([]);
  });

  test("keeping nothing is not an error", async () => {
    expect(await store.keep([])).toEqual(new Set());
  });
}

function reopenSome({ store, advance }: At): void {
  const old = { olderThanMs: 5_000, limit: 10, messagesMax: 1_000 };

  test("only rows that still wait under that generation are sent again", async () => {
    const [claimed, moved, waits] = await insertMany(store, [{}, {}, {}]);
    await claimOne(store, claimed);
    await store.returnUndelivered([{ jobId: moved, generation: 1, trace: "" }], {
      undeliveredMax: 3,
      backoffMs: 3_600_000,
    });
    await advance(minute);
    expect(outboxIds(await store.reopen(old))).toEqual([waits]);
  });

  test("an outbox batch of which nothing waits any more is gone", async () => {
    const held = await running(store);
    await advance(minute);
    expect(await store.reopen(old)).toEqual([]);
    await settleOne(store, held);
    expect(await store.reopen(old)).toEqual([]);
  });

  test("the limit counts outbox batches, oldest first, and a lane may be named", async () => {
    const first = await insertOne(store);
    const second = await insertOne(store);
    const mail = await insertOne(store, { lane: "mail" });
    await advance(minute);
    expect(outboxIds(await store.reopen({ ...old, limit: 1 }))).toEqual([first]);
    expect(outboxIds(await store.reopen({ ...old, lane: "mail" }))).toEqual([mail]);
    expect(outboxIds(await store.reopen(old))).toEqual([second]);
  });

  test("batches are never merged, and are taken up to so many messages, but one in any case", async () => {
    for (const jobs of [3, 2, 1, 1]) await store.insert(Array.from({ length: jobs }, () => aJob()));
    await advance(minute);
    const pages: number[][] = [];
    for (const messagesMax of [1, 3, 3]) {
      const page = await store.reopen({ ...old, messagesMax });
      pages.push(page.map(({ messages }) => messages.length));
    }
    expect(pages).toEqual([[3], [2, 1], [1]]);
  });

  test("confirming an outbox batch that is gone is not an error", async () => {
    const { outbox } = (await store.insert([aJob()])).aftermath;
    const sent = [{ id: only(outbox).id, failed: [] }];
    await store.confirm(sent);
    expect(await store.confirm(sent)).toBeUndefined();
    expect(await store.confirm([])).toBeUndefined();
  });

  test("reopen under an older fence throws FenceLost", async () => {
    await store.installFence({ name: "pass", token: 2 });
    await expect(store.reopen({ ...old, fence: { name: "pass", token: 1 } })).rejects.toThrow(FenceLost);
  });
}
