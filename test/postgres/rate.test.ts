import { expect, test } from "vitest";
import { windowMsOf } from "../../src/admission/rate.ts";
import type { Message, OutboxBatch } from "../../src/machine/outbox.ts";
import { messageFor, settleOne, insertAlike } from "../contract/store/fixture.ts";
import { until } from "../local/until.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { deadlocks, shuffled } from "./race.ts";

const limit = 200;
const burst = 100;
const perMs = 1_000;
const jobs = 500;
const claimers = 12;
const key = "rate:x";

/** Twelve claimers beside each other, 2 % of the messages twice, in no order; each message is received when its delay is over. */
async function workOff({ store }: TestDatabase): Promise<void> {
  const ids = await insertAlike(store, jobs, { slotKeys: [key] });
  const first = await Promise.all(ids.map((id) => messageFor(store, id)));
  const queue = shuffled([...first, ...first.filter((_, n) => n % 50 === 0)], 7).map((message) => ({ message, at: 0 }));
  let left = jobs;
  const sent = (outbox: readonly OutboxBatch[]): void => {
    const now = performance.now();
    for (const message of outbox.flatMap(({ messages }) => messages))
      queue.push({ message, at: now + message.delayMs });
  };
  const receive = (): Message[] => {
    const now = performance.now();
    const due = queue.filter(({ at }) => at <= now).slice(0, 10);
    for (const each of due) queue.splice(queue.indexOf(each), 1);
    return due.map(({ message }) => message);
  };
  const isDue = (): boolean => left === 0 || queue.length === 0 || queue.some(({ at }) => at <= performance.now());
  const claimer = async (): Promise<void> => {
    while (left > 0) {
      const messages = receive();
      const { claimed, aftermath } = await store.claim(messages, { worker: "worker-1", alone: false });
      for (const job of claimed.filter(({ state }) => state === "RUNNING")) {
        left -= 1;
        await settleOne(store, job);
      }
      sent(await store.wake({ slotKeys: aftermath.freed, limit: 100 }));
      const known = new Set<string>(claimed.map(({ jobId }) => jobId));
      const early = await store.peek(messages.flatMap(({ jobId }) => (known.has(jobId) ? [] : jobId)));
      for (const { jobId, dueInMs, generation, state } of early) {
        const message = messages.find((each) => each.jobId === jobId && each.generation === generation);
        if (state === "QUEUED" && message !== undefined)
          queue.push({ message, at: performance.now() + Math.max(0, dueInMs) });
      }
      // What a crash between a claim and its wake leaves, the pass finds.
      if (queue.length === 0) sent(await store.wake({ slotKeys: "all", limit: 100 }));
      if (messages.length === 0) await until("a message that is due", () => isDue() || null);
    }
  };
  await Promise.all(Array.from({ length: claimers }, claimer));
}

test("twelve claimers never start more than the limit in any window, whatever the order, and start all", async () => {
  const db = await testDatabase();
  const windowMs = windowMsOf({ limit, perMs, burst });
  await db.store.installSlots([{ key, size: burst, windowMs, onRefusal: "hold", reason: "slot" }]);
  await workOff(db);
  const { rows } = await db.pool.query<{ most: number; starts: number }>(`
    select max(n)::int as most, count(*)::int as starts
    from (
      select started_at, count(*) over (order by started_at range between '${perMs * 1_000 - 1} microseconds' preceding and current row) as n
      from belfry.job where state = 'SUCCESS'
    ) starts`);
  const [found] = rows;
  expect(found?.starts).toBe(jobs);
  expect(found?.most).toBeGreaterThan(burst);
  expect(found?.most).toBeLessThanOrEqual(limit);
  expect(await deadlocks(db)).toBe(0);
});

test("handlers that ask at one moment get the next units one after the other, and none is left out", async () => {
  const db = await testDatabase();
  await db.store.installSlots([{ key, size: 2, windowMs: 60_000, onRefusal: "hold", reason: "slot" }]);
  const units = await Promise.all(Array.from({ length: 40 }, () => db.store.takeUnit(key, { withinMs: 20 * 60_000 })));
  const times = units.flatMap((unit) => (unit?.isTaken === true ? unit.at : [])).toSorted((a, b) => a - b);
  expect(times).toHaveLength(40);
  const gaps = times.slice(2).map((at, n) => at - (times[n] ?? 0));
  expect([Math.round(Math.min(...gaps)), Math.round(Math.max(...gaps))]).toEqual([60_000, 60_000]);
});
