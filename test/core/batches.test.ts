import { expect, test } from "vitest";
import { defineJob } from "../../src/define/define-job.ts";
import type { JobId } from "../../src/machine/job.ts";
import type { Message } from "../../src/machine/outbox.ts";
import { rescue } from "../../src/run/rescue.ts";
import { z } from "zod";
import { atOnce } from "../support/rescue-at-once.ts";
import { jobOf, shop } from "./world.ts";

const minutes = (count: number): number => count * 60_000;

/** Three jobs of one call that goes on until it is let go or aborted, at whose end the second is rejected. */
async function running() {
  const calls: (readonly string[])[] = [];
  const signals: AbortSignal[] = [];
  const held = Promise.withResolvers<void>();
  const index = defineJob({
    id: "index",
    payload: z.number(),
    lease: "30s",
    timeout: "1m",
    batch: { max: 10 },
    runBatch: async (jobs, { signal }) => {
      calls.push(jobs.map(({ id }) => id));
      signals.push(signal);
      await Promise.race([held.promise, new Promise((_, reject) => signal.addEventListener("abort", reject))]);
    },
  });
  const open = await shop([index]);
  const ids: JobId[] = [];
  for (const n of [1, 2, 3]) ids.push(await open.enqueue(index, n));
  await open.world.clock.advance(1_000);
  const ended = open.work({ remainingMs: () => minutes(10) });
  await open.world.clock.settle();
  expect(calls).toEqual([ids]);
  const states = async () => await Promise.all(ids.map(async (id) => (await jobOf(open.world, id)).state));
  return { ...open, ids, calls, signals, ended, states, letGo: held.resolve };
}

test("a job that is canceled leaves the others of its call to go on", async () => {
  const { world, ids, signals, ended, states, letGo } = await running();
  await world.store.cancel(ids.slice(1, 2));
  await world.clock.advance(20_000);
  expect(signals[0]?.aborted).toBe(false);
  letGo();
  await world.clock.advance(100);
  expect(await ended).toEqual([]);
  expect(await states()).toEqual(["SUCCESS", "CANCELED", "SUCCESS"]);
});

test("a call is aborted when all of its jobs are canceled", async () => {
  const { world, ids, signals, ended, states } = await running();
  await world.store.cancel(ids);
  await world.clock.advance(20_000);
  expect(signals[0]?.reason).toMatchObject({ why: "lost" });
  expect(await ended).toEqual([]);
  expect(await states()).toEqual(["CANCELED", "CANCELED", "CANCELED"]);
});

test("one timeout ends a call, whose leases are renewed until then: all of its jobs have failed", async () => {
  const { world, ids, signals, ended } = await running();
  await world.clock.advance(59_000);
  expect(signals[0]?.aborted).toBe(false);
  await world.clock.advance(2_000);
  expect(await ended).toEqual([]);
  for (const id of ids)
    expect(await jobOf(world, id)).toMatchObject({ attempt: 1, failures: 1, errorCode: "TIMEOUT", state: "QUEUED" });
});

test("a worker that stops gives all of them back, without a failure", async () => {
  const { world, ids, worker, ended } = await running();
  const stopped = worker.stop(1_000);
  await world.clock.advance(2_000);
  await stopped;
  await ended;
  for (const id of ids)
    expect(await jobOf(world, id)).toMatchObject({ failures: 0, interruptions: 1, state: "QUEUED" });
});

test("after their worker died each of them runs alone, so that the one to blame takes no other with it", async () => {
  const calls: (readonly string[])[] = [];
  const runBatch = (jobs: readonly { readonly id: string }[]) => void calls.push(jobs.map(({ id }) => id));
  const index = defineJob({ id: "index", payload: z.number(), batch: { wait: "0s" }, runBatch });
  const { world, registry, enqueue, receive, work } = await shop([index]);
  const ids = [await enqueue(index, 1), await enqueue(index, 2), await enqueue(index, 3)];
  const messages = receive().map(({ body }) => JSON.parse(body) as Message);
  expect((await world.store.claim(messages, { worker: "dead", alone: false })).claimed).toHaveLength(3);
  await world.clock.advance(40_000);
  await rescue(world, registry, { lapsed: atOnce, limit: 10, rounds: 1 });
  for (let round = 0; round < 4; round += 1) {
    await work();
    await world.clock.advance(1_000);
  }
  expect(calls.map(String).toSorted()).toEqual(ids);
});
