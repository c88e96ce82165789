/** Races that stress runs on plain Postgres found, by their number there. These are fast versions: none may come back. */
import { describe, expect, test } from "vitest";
import { aJob, minute, running, settlementOf, settleOptions, show } from "../contract/store/fixture.ts";
import { aRun, aTask, failed } from "../contract/store/run-fixture.ts";
import { occurrenceAt, planned } from "../contract/store/schedule-fixture.ts";
import { testDatabase, otherSession } from "../support/database.ts";
import { eachTest } from "../support/each-test.ts";
import { deadlocks, messagesOf, shuffled, untilWaiting } from "./race.ts";
import { specOf } from "./tour.ts";

const db = eachTest(() => testDatabase({ connections: 12 }));
const { store } = db;

describe("finding 12: the same keys from many clients", () => {
  test("8 clients with 200 keys in their own orders: each key one job, and every client gets its id", async () => {
    for (let round = 0; round < 3; round += 1) {
      const names = Array.from({ length: 200 }, (_, n) => `${round}-${n}`);
      const answers = await Promise.all(
        Array.from({ length: 8 }, async (_, client) => {
          const keys = shuffled(names, client);
          const { results } = await store.insert(keys.map((key) => aJob({ key })));
          return keys.map((key, i) => ({ key, ...results[i] }));
        }),
      );
      const byKey = Map.groupBy(answers.flat(), (answer) => answer.key);
      expect([...byKey.values()].every((all) => all.length === 8 && new Set(all.map(({ id }) => id)).size === 1)).toBe(
        true,
      );
      expect([...byKey.values()].every((all) => all.filter(({ created }) => created).length === 1)).toBe(true);
    }
    expect(await store.jobs({ states: ["QUEUED"] })).toHaveLength(600);
    expect(await deadlocks(db)).toBe(0);
  });

  test("a key whose first transaction rolls back belongs to the second", async () => {
    const undone = store.transaction(async (tx) => {
      await store.insert([aJob({ key: "k" })], { tx });
      const second = store.insert([aJob({ key: "k" })]);
      await untilWaiting(db);
      throw Object.assign(new Error("undone"), { second });
    });
    const { second } = await undone.catch((error: Error & { second: ReturnType<typeof store.insert> }) => error);
    expect((await second).results).toMatchObject([{ created: true, isConflict: false }]);
  });

  test("an open transaction with the same key delays an enqueue no longer than its lock timeout", async () => {
    await store.transaction(async (tx) => {
      await store.insert([aJob({ key: "k" })], { tx });
      await expect(store.insert([aJob({ key: "k" })])).rejects.toThrow("statement insert-keyed failed with 55P03");
    });
  });
});

describe("finding 15: one bad row", () => {
  test("a NUL and half a surrogate pair in an error are replaced, and the group is settled", async () => {
    const [bad, good] = [await running(store), await running(store)];
    const failed = { to: "FAILED", failures: 1, errorCode: "E\u0000", errorMessage: "a\u0000b\uD800c" } as const;
    const { settled } = await store.settle([settlementOf(bad, failed), settlementOf(good)], settleOptions);
    expect(settled).toHaveLength(2);
    expect((await show(store, bad.jobId)).job).toMatchObject({ errorCode: "E\uFFFD", errorMessage: "a\uFFFDb\uFFFDc" });
  });

  test("data that Postgres refuses fails its own job only, which says so", async () => {
    const [bad, good] = [await running(store), await running(store)];
    const child = aJob({ kind: "child", payload: { text: "\u0000" } });
    const group = [
      settlementOf(bad, { children: [child] }),
      settlementOf(good, { children: [aJob({ kind: "child" })] }),
    ];
    const { settled } = await store.settle(group, settleOptions);
    expect(settled.toSorted()).toEqual([bad.jobId, good.jobId].toSorted());
    expect((await show(store, bad.jobId)).job).toMatchObject({ state: "FAILED", errorCode: "unsettleable" });
    expect((await show(store, good.jobId)).job.state).toBe("SUCCESS");
    expect(await store.jobs({ kind: "child" })).toHaveLength(1);
  });
});

describe("finding 17: occurrences", () => {
  test("many ticks at once plan each nominal time once", async () => {
    await store.installSchedules(["a", "b", "c"].map(specOf));
    const now = await store.now();
    const occurrences = Array.from({ length: 20 }, (_, n) => occurrenceAt(now + n * 1_000, { job: aJob() }));
    const plan = (scheduleId: string) => ({
      scheduleId,
      version: 1,
      decidedUntil: now + minute,
      nextAt: null,
      occurrences,
    });
    const ticks = Array.from({ length: 8 }, (_, seed) => store.plan(shuffled(["a", "b", "c"], seed).map(plan)));
    const written = (await Promise.all(ticks)).map((tick) => tick.occurrences);
    expect(written.reduce((sum, each) => sum + each, 0)).toBe(60);
    expect(await store.jobs({ states: ["QUEUED"] })).toHaveLength(60);
  });

  test("an edit that waits for a claim leaves what the claim fired", async () => {
    await store.installSchedules([specOf("a")]);
    const nominalAt = (await store.now()) + minute;
    const occurrence = occurrenceAt(nominalAt, { job: aJob({ dueAt: await store.now() }) });
    const { aftermath } = await planned(store, [occurrence], { scheduleId: "a", nextAt: null });
    const messages = messagesOf(aftermath.outbox);
    const [{ claimed }] = await Promise.all([
      store.claim(messages, { worker: "worker-1", alone: true }),
      store.installSchedules([{ ...specOf("a"), overlap: "skip" }]),
    ]);
    const ledger = (await store.occurrences("a")).map((row) => row.outcome);
    expect(ledger).toEqual(claimed.length === 1 ? ["FIRED"] : []);
  });
});

test("a task's success is not written without the failure beside it, and the second settle hands on what follows", async () => {
  const tasks = [aTask("good"), aTask("bad"), aTask("next", [0])];
  const { runId, aftermath } = await store.startRun(aRun({ tasks }));
  const { claimed } = await store.claim(messagesOf(aftermath.outbox), { worker: "worker-1", alone: false });
  const ended = claimed.map((job, n) => ({ ...settlementOf(job, n === 0 ? {} : failed), inRun: true }));
  const holder = await otherSession(db.pool);
  await holder.query("select from belfry.job where id = $1::bigint for update", [claimed[1]?.jobId]);
  await expect(store.settle(ended, settleOptions)).rejects.toThrow("lock timeout");
  await holder.query("rollback");
  const again = await store.settle(ended, settleOptions);
  expect(again.settled).toHaveLength(2);
  expect(again.aftermath).toMatchObject({ outbox: [{ messages: [{}] }], runs: [runId] });
});
