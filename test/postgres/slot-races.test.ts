/** Races that stress runs on plain Postgres found, by their number there. These are fast versions: none may come back. */
import { describe, expect, test } from "vitest";
import type { Message } from "../../src/machine/outbox.ts";
import type { Claimed } from "../../src/machine/store.ts";
import {
  aJob,
  insertMany,
  insertOne,
  running,
  settlementOf,
  settleOptions,
  show,
  settleAll,
  insertAlike,
} from "../contract/store/fixture.ts";
import { testDatabase } from "../support/database.ts";
import { eachTest } from "../support/each-test.ts";
import { messagesOf } from "./race.ts";

const db = eachTest(() => testDatabase({ connections: 12 }));
const { store } = db;

describe("finding 1: a cap is a set of slots", () => {
  test("12 workers never run more than 7, leak no slot and leave no held job behind", async () => {
    await store.installSlots([{ key: "cap:seven", size: 7, onRefusal: "hold", reason: "slot" }]);
    const jobs = Array.from({ length: 150 }, () => aJob({ slotKeys: ["cap:seven"] }));
    const messages: Message[] = [];
    for (const job of jobs) messages.push(...messagesOf((await store.insert([job])).aftermath.outbox));
    const wake = async (slotKeys: readonly string[]): Promise<void> => {
      messages.push(...messagesOf(await store.wake({ slotKeys, limit: 100 })));
    };
    let now = 0;
    let peak = 0;
    const finish = async (claimed: readonly Claimed[]): Promise<void> => {
      peak = Math.max(peak, (now += claimed.length));
      await store.heartbeat(claimed, "worker-1");
      now -= claimed.length;
      const { settled, aftermath } = await settleAll(store, claimed);
      expect(settled).toHaveLength(claimed.length);
      await wake(aftermath.freed);
    };
    const worker = async (): Promise<void> => {
      for (let batch = messages.splice(0, 5); batch.length > 0; batch = messages.splice(0, 5)) {
        const { claimed } = await store.claim(batch, { worker: "worker-1", alone: false });
        await finish(claimed.filter((job) => job.state === "RUNNING"));
        if (claimed.some((job) => job.state === "PENDING")) await wake(["cap:seven"]);
      }
    };
    while (messages.length > 0) await Promise.all(Array.from({ length: 12 }, worker));
    expect((await store.jobs()).map(({ state }) => state)).toEqual(Array.from({ length: 150 }, () => "SUCCESS"));
    expect(peak).toBeGreaterThan(1);
    expect(peak).toBeLessThanOrEqual(7);
    const { rows } = await db.pool.query("select count(*)::int as taken from belfry.slot where job_id is not null");
    expect(rows).toEqual([{ taken: 0 }]);
  });

  test("two claims at once of jobs that share a lock: one runs, the other is SKIPPED", async () => {
    await store.installSlots([{ key: "lock:one", size: 1, onRefusal: "skip", reason: "lock-held" }]);
    for (let round = 0; round < 10; round += 1) {
      const ids = await insertMany(store, [{ slotKeys: ["lock:one"] }, { slotKeys: ["lock:one"] }]);
      const claims = await Promise.all(
        ids.map((jobId) => store.claim([{ jobId, generation: 1, trace: "" }], { worker: "worker-1", alone: true })),
      );
      expect(
        claims
          .flatMap(({ claimed }) => claimed)
          .map((job) => job.state)
          .toSorted(),
      ).toEqual(["RUNNING", "SKIPPED"]);
      const ran = claims.flatMap(({ claimed }) => claimed).filter((job) => job.state === "RUNNING");
      await settleAll(store, ran);
    }
  });

  test("of many refused by queue-one at once exactly one waits", async () => {
    await store.installSlots([{ key: "overlap:s", size: 1, onRefusal: "queue-one", reason: "overlap" }]);
    const runs = await running(store, { slotKeys: ["overlap:s"] });
    const ids = await insertAlike(store, 10, { slotKeys: ["overlap:s"] });
    const claims = await Promise.all(
      ids.map((jobId) => store.claim([{ jobId, generation: 1, trace: "" }], { worker: "worker-1", alone: true })),
    );
    const states = claims.flatMap(({ claimed }) => claimed).map((job) => job.state);
    expect(states.filter((state) => state === "PENDING")).toHaveLength(1);
    expect(states.filter((state) => state === "SKIPPED")).toHaveLength(9);
    const { aftermath } = await store.settle([settlementOf(runs)], settleOptions);
    const woken = messagesOf(await store.wake({ slotKeys: aftermath.freed, limit: 10 }));
    const { claimed } = await store.claim(woken, { worker: "worker-1", alone: true });
    expect(claimed).toMatchObject([{ state: "RUNNING" }]);
    const next = await insertOne(store, { slotKeys: ["overlap:s"] });
    const refused = await store.claim([{ jobId: next, generation: 1, trace: "" }], { worker: "worker-1", alone: true });
    expect(refused.claimed).toMatchObject([{ state: "PENDING" }]);
  });
});

describe("finding 3: a message that died decides nothing", () => {
  test("a job that runs, or has a newer message, is left alone by the death of an older one", async () => {
    const job = await running(store);
    const dead = [{ jobId: job.jobId, generation: 1, trace: "" }];
    const options = { undeliveredMax: 1, backoffMs: 0 };
    expect((await store.returnUndelivered(dead, options)).rows).toEqual([]);
    await store.settle([settlementOf(job, { to: "QUEUED", interruptions: 1 })], settleOptions);
    expect((await store.returnUndelivered(dead, options)).rows).toEqual([]);
    expect((await show(store, job.jobId)).job).toMatchObject({ state: "QUEUED", generation: 2 });
  });
});
