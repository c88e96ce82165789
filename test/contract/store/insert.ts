import { expect, test } from "vitest";
import { noAftermath } from "../../../src/machine/outbox.ts";
import { FenceLost } from "../../../src/machine/fence.ts";
import { aJob, outboxIds, insertOne, minute, only, show, dispatchWindowMs, contract, type At } from "./fixture.ts";

export const insertContract = contract({
  "insert: when it is due": dueTimes,
  "insert: what it writes": written,
  "insert: keys": keys,
  "insert: transactions and fences": transactions,
});

function dueTimes({ store }: At): void {
  test("a job that is due now is QUEUED with generation 1 and its message is in an outbox batch", async () => {
    const { results, aftermath } = await store.insert([aJob()]);
    const { id, created, isConflict } = only(results);
    expect({ created, isConflict }).toEqual({ created: true, isConflict: false });
    const batch = only(aftermath.outbox);
    expect(batch.lane).toBe("default");
    expect(batch.messages).toEqual([{ jobId: id, generation: 1, trace: "trace-1", delayMs: 0 }]);
    const { job } = await show(store, id);
    expect(job).toMatchObject({ state: "QUEUED", generation: 1, attempt: 0, hold: "none", kind: "send-mail" });
  });

  test("a job that is due within the dispatch window is dispatched with the time that is left", async () => {
    const { outbox } = (await store.insert([aJob({ delayMs: minute })])).aftermath;
    const { delayMs } = only(only(outbox).messages);
    expect(delayMs).toBeGreaterThan(minute - 10_000);
    expect(delayMs).toBeLessThanOrEqual(minute);
  });

  test("a job that is due after the dispatch window is PENDING with generation 0 and has no message", async () => {
    const { results, aftermath } = await store.insert([aJob({ delayMs: dispatchWindowMs + minute })]);
    expect(aftermath.outbox).toEqual([]);
    const { job } = await show(store, only(results).id);
    expect(job).toMatchObject({ state: "PENDING", generation: 0, attempt: 0 });
  });

  test("the delay is added to an absolute due time, or to now", async () => {
    const now = await store.now();
    const absolute = await insertOne(store, { dueAt: now + 10 * minute, delayMs: minute });
    const relative = await insertOne(store, { delayMs: 11 * minute });
    expect((await show(store, absolute)).job.dueAt).toBe(now + 11 * minute);
    expect((await show(store, relative)).job.dueAt).toBeGreaterThanOrEqual(now + 11 * minute);
    expect((await show(store, relative)).job.dueAt).toBeLessThan(now + 12 * minute);
  });

  test("a due time in the past is kept and the message has no delay", async () => {
    const now = await store.now();
    const { results, aftermath } = await store.insert([aJob({ dueAt: now - minute })]);
    expect(only(only(aftermath.outbox).messages).delayMs).toBe(0);
    expect((await show(store, only(results).id)).job.dueAt).toBe(now - minute);
  });
}

function written({ store }: At): void {
  test("one call writes one outbox batch for each lane", async () => {
    const { outbox } = (await store.insert([aJob({ lane: "mail" }), aJob(), aJob({ lane: "mail" })])).aftermath;
    expect(outbox).toHaveLength(2);
    expect(Object.fromEntries(outbox.map((h) => [h.lane, h.messages.length]))).toEqual({ default: 1, mail: 2 });
    expect(new Set(outbox.map((h) => h.id)).size).toBe(2);
  });

  test("a new job has no history: its row shows its creation", async () => {
    expect(await show(store, await insertOne(store))).toMatchObject({ job: { state: "QUEUED" }, history: [] });
    const later = await insertOne(store, { delayMs: dispatchWindowMs + minute });
    expect(await show(store, later)).toMatchObject({ job: { state: "PENDING" }, history: [] });
  });

  test("a payload comes back as it was given", async () => {
    const payload = { text: "é한🙂 'quoted' \\ \"", list: [1, 2.5, null, true], deep: { a: { b: [] } }, "": 0 };
    expect((await show(store, await insertOne(store, { payload }))).job.payload).toEqual(payload);
  });

  test("no jobs, no rows and no outbox batches", async () => {
    expect(await store.insert([])).toEqual({ results: [], aftermath: noAftermath });
  });
}

function keys({ store }: At): void {
  test("the answers are in the order of the input, whatever the keys", async () => {
    const names = ["d", "b", "e", "a", "c"];
    const { results } = await store.insert(names.map((key) => aJob({ key })));
    const stored = await Promise.all(results.map(async ({ id }) => (await show(store, id)).job.key));
    expect(stored).toEqual(names);
  });

  test("the same kind and key again answers the existing job, and hands nothing off", async () => {
    const id = await insertOne(store, { key: "k" });
    const again = await store.insert([aJob({ key: "k" })]);
    expect(again).toEqual({ results: [{ id, created: false, isConflict: false }], aftermath: noAftermath });
  });

  test("the same key with another payload is a conflict, and the first payload stays", async () => {
    const id = await insertOne(store, { key: "k", payload: { n: 1 } });
    const again = await store.insert([aJob({ key: "k", payload: { n: 2 } })]);
    expect(again.results).toEqual([{ id, created: false, isConflict: true }]);
    expect((await show(store, id)).job.payload).toEqual({ n: 1 });
  });

  test("a repeat is judged by what the payload says, not by the order of its members", async () => {
    await insertOne(store, { key: "k", payload: { n: 1, more: [1.5, "é"] } });
    const again = await store.insert([aJob({ key: "k", payload: { more: [1.5, "é"], n: 1 } })]);
    expect(only(again.results)).toMatchObject({ created: false, isConflict: false });
  });

  test("a repeat whose payload is sealed is no conflict: sealed twice, it has two texts", async () => {
    const id = await insertOne(store, { key: "k", payload: { $sealed: "one" } });
    for (const payload of [{ $sealed: "two" }, { n: 1 }]) {
      const again = await store.insert([aJob({ key: "k", payload })]);
      expect(again.results).toEqual([{ id, created: false, isConflict: false }]);
    }
  });

  test("a key belongs to its kind", async () => {
    const first = await insertOne(store, { kind: "a", key: "k" });
    expect(await insertOne(store, { kind: "b", key: "k" })).not.toBe(first);
  });

  test("repeats inside one call are one job, and a differing one is a conflict with the first", async () => {
    const jobs = [aJob({ key: "k" }), aJob({ key: "k" }), aJob({ key: "k", payload: "other" })];
    const { results, aftermath } = await store.insert(jobs);
    expect(new Set(results.map((result) => result.id)).size).toBe(1);
    expect(results.map((result) => result.created)).toEqual([true, false, false]);
    expect(results.map(({ isConflict }) => isConflict)).toEqual([false, false, true]);
    expect(outboxIds(aftermath.outbox)).toHaveLength(1);
  });

  test("jobs without a key are never the same", async () => {
    const { results } = await store.insert([aJob(), aJob()]);
    expect(results.map((result) => result.created)).toEqual([true, true]);
    expect(new Set(results.map((result) => result.id)).size).toBe(2);
  });
}

function transactions({ store, advance }: At): void {
  test("an insert in a transaction that fails leaves no job, no event and no outbox batch", async () => {
    const broken = store.transaction(async (tx) => {
      await store.insert([aJob({ key: "k" })], { tx });
      throw new Error("the caller changed its mind");
    });
    await expect(broken).rejects.toThrow("changed its mind");
    expect(await store.jobs()).toEqual([]);
    await advance(minute);
    expect(await store.reopen({ olderThanMs: 5_000, limit: 10, messagesMax: 1_000 })).toEqual([]);
    expect(only((await store.insert([aJob({ key: "k" })])).results).created).toBe(true);
  });

  test("an insert in a transaction exists once it committed, and the transaction's value is returned", async () => {
    const id = await store.transaction(async (tx) => {
      const { results } = await store.insert([aJob()], { tx });
      return only(results).id;
    });
    expect((await show(store, id)).job.state).toBe("QUEUED");
  });

  test("an insert under an older fence throws FenceLost and writes nothing", async () => {
    await store.installFence({ name: "pass", token: 2 });
    const stale = store.insert([aJob()], { fence: { name: "pass", token: 1 } });
    await expect(stale).rejects.toThrow(FenceLost);
    expect(await store.jobs()).toEqual([]);
  });
}
