import { expect, test } from "vitest";
import type { Claimed } from "../../../src/machine/store.ts";
import {
  aJob,
  claimOne,
  outboxIds,
  insertMany,
  insertOne,
  minute,
  only,
  running,
  settlementOf,
  settleOne,
  settleOptions,
  show,
  contract,
  type At,
} from "./fixture.ts";

/** What a settle writes beside its jobs: their children, and the caller's own rows. */
export const settleTogetherContract = contract({
  "settle: children": children,
  "settle: in a transaction": inTransaction,
});

function children({ store }: At): void {
  test("a child whose key exists with another payload is counted, and the first one stays", async () => {
    await insertOne(store, aJob({ kind: "child", key: "same" }));
    const held = await running(store);
    const again = aJob({ kind: "child", key: "same", payload: { other: 1 } });
    const same = aJob({ kind: "child", key: "same" });
    expect(await settleOne(store, held, { children: [again, same] })).toMatchObject({
      settled: [held.jobId],
      conflicts: 1,
    });
    expect(await store.jobs({ kind: "child" })).toHaveLength(1);
  });

  test("the children of a job are inserted with its success and dispatched with it", async () => {
    const held = await running(store);
    const { outbox } = (
      await settleOne(store, held, {
        children: [
          aJob({ kind: "child", key: `${held.jobId}:child:1`, lane: "mail" }),
          aJob({ kind: "child", delayMs: 60 * minute }),
        ],
      })
    ).aftermath;
    const inserted = await store.jobs({ kind: "child" });
    expect(inserted.map((job) => job.state).toSorted()).toEqual(["PENDING", "QUEUED"]);
    expect(only(outbox)).toMatchObject({ lane: "mail" });
    expect(outboxIds(outbox)).toEqual(inserted.filter((job) => job.state === "QUEUED").map((job) => job.id));
  });

  test("of jobs that are settled together each one's children are inserted, whichever of them has none", async () => {
    const [none, one, two] = [await running(store), await running(store), await running(store)];
    const childOf = (job: Claimed) => aJob({ kind: "child", key: `of ${job.jobId}` });
    const group = [none, one, two].map((job) => settlementOf(job, { children: job === none ? [] : [childOf(job)] }));
    expect((await store.settle(group, settleOptions)).settled).toHaveLength(3);
    const inserted = await store.jobs({ kind: "child" });
    expect(new Set(inserted.map(({ key }) => key))).toEqual(new Set([one, two].map((job) => `of ${job.jobId}`)));
  });

  test("a child whose key exists already is not inserted twice", async () => {
    const [first, second] = [await running(store), await running(store)];
    const child = aJob({ kind: "child", key: "same" });
    await settleOne(store, first, { children: [child] });
    const { settled, aftermath } = await settleOne(store, second, { children: [child] });
    expect([settled, aftermath.outbox]).toEqual([[second.jobId], []]);
    expect(await store.jobs({ kind: "child" })).toHaveLength(1);
  });

  test("in a group only the rows that are still ours leave children", async () => {
    const ids = await insertMany(store, [{}, {}]);
    const [mine, lost] = [await claimOne(store, ids[0]), await claimOne(store, ids[1])];
    await store.cancel([lost.jobId]);
    const settlements = [mine, lost].map((held) =>
      settlementOf(held, { children: [aJob({ kind: "child", key: held.jobId })] }),
    );
    await store.settle(settlements, settleOptions);
    expect((await store.jobs({ kind: "child" })).map((job) => job.key)).toEqual([mine.jobId]);
  });
}

function inTransaction({ store }: At): void {
  test("work and settlement commit together", async () => {
    const held = await running(store);
    await store.transaction(async (tx) => {
      await store.insert([aJob({ kind: "effect" })], { tx });
      await store.settle([settlementOf(held, { result: 1 })], { ...settleOptions, tx });
    });
    expect((await show(store, held.jobId)).job).toMatchObject({ state: "SUCCESS", result: 1 });
    expect(await store.jobs({ kind: "effect" })).toHaveLength(1);
  });

  test("an error after the settlement undoes work and settlement", async () => {
    const held = await running(store);
    const broken = store.transaction(async (tx) => {
      await store.insert([aJob({ kind: "effect" })], { tx });
      await store.settle([settlementOf(held)], { ...settleOptions, tx });
      throw new Error("no");
    });
    await expect(broken).rejects.toThrow("no");
    expect((await show(store, held.jobId)).job.state).toBe("RUNNING");
    expect(await store.jobs({ kind: "effect" })).toEqual([]);
  });

  test("a settlement that came too late answers nothing settled, so that the caller can roll back", async () => {
    const held = await running(store);
    await store.cancel([held.jobId]);
    const { settled } = await store.transaction(
      async (tx) => await store.settle([settlementOf(held)], { ...settleOptions, tx }),
    );
    expect(settled).toEqual([]);
  });

  test("a savepoint that fails undoes its own writes, and the transaction lives on", async () => {
    const held = await running(store);
    await store.transaction(async (tx) => {
      const nested = tx.nested(async () => {
        await store.insert([aJob({ kind: "undone" })], { tx });
        throw new Error("hook");
      });
      await expect(nested).rejects.toThrow("hook");
      expect(await tx.nested(async () => "kept")).toBe("kept");
      await store.settle([settlementOf(held)], { ...settleOptions, tx });
    });
    expect((await show(store, held.jobId)).job.state).toBe("SUCCESS");
    expect(await store.jobs({ kind: "undone" })).toEqual([]);
  });
}
