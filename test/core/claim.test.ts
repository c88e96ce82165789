import { workerLimits } from "../../src/run/worker-limits.ts";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineJob } from "../../src/define/define-job.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { deliveryLimits } from "../../src/machine/delivery-limits.ts";
import { noAftermath } from "../../src/machine/outbox.ts";
import { gate, jobOf, lane, shop, sum, world, type World, down, withStore, withQueue } from "./world.ts";

const nothingClaimed = { claimed: [], aftermath: noAftermath };

const at = z.object({ n: z.number() });

describe("a message that comes before its job is due", () => {
  const starts: number[] = [];
  const note = (ports: World) =>
    defineJob({ id: "note", payload: at, run: () => void starts.push(ports.clock.elapsedMs()) });

  test("by a moment is waited for, and the job starts when it is due", async () => {
    starts.length = 0;
    const ports = world();
    const job = note(ports);
    const { enqueue, work } = await shop([job], ports);
    await enqueue(job, { n: 1 }, { delayMs: 900 });
    const batch = work();
    await ports.clock.advance(899);
    expect(starts).toEqual([]);
    await ports.clock.advance(1);
    expect(await batch).toEqual([]);
    expect(starts).toEqual([900]);
  });

  test("and becomes due between the claim and the look is claimed again, not given back to stay hidden", async () => {
    starts.length = 0;
    const ports: World = withStore((store) => ({
      peek: async (ids) => {
        await ports.clock.advance(1);
        return store.peek(ids);
      },
    }));
    const job = note(ports);
    const { enqueue, worker } = await shop([job], ports);
    const id = await enqueue(job, { n: 1 }, { delayMs: 1 });
    const body = JSON.stringify({ jobId: id, generation: 1, trace: "" });
    expect(await worker.handle([{ messageId: "m", body }], { remainingMs: () => 600_000 })).toEqual({ failed: [] });
    expect(starts).toEqual([1]);
  });

  test("and whose timer ends before the database's clock says so is waited for again, in place", async () => {
    starts.length = 0;
    const asked: number[] = [];
    const ports: World = withStore((store) => ({
      claim: async (messages, options) => {
        asked.push(ports.clock.elapsedMs());
        return asked.length <= 2 ? nothingClaimed : await store.claim(messages, options);
      },
      peek: async (ids) => (await store.peek(ids)).map((row) => ({ ...row, dueInMs: 0.5 })),
    }));
    const job = note(ports);
    const { enqueue, work } = await shop([job], ports);
    await enqueue(job, { n: 1 });
    const batch = work();
    await ports.clock.advance(10);
    expect(await batch).toEqual([]);
    expect(asked).toEqual([0, 0.5, 1]);
    expect(starts).toEqual([1]);
  });

  test("and that no claim ever takes is sent again a second later, not given back to stay hidden", async () => {
    starts.length = 0;
    const ports: World = withStore((store) => ({
      claim: async () => nothingClaimed,
      peek: async (ids) => (await store.peek(ids)).map((row) => ({ ...row, dueInMs: 0 })),
    }));
    const job = note(ports);
    const { enqueue, work } = await shop([job], ports);
    await enqueue(job, { n: 1 });
    expect(await work()).toEqual([]);
    expect([ports.queue.size(lane), ports.queue.nextVisibleAt(lane)]).toEqual([1, deliveryLimits.stuckMessageDelayMs]);
  });

  test("waits for its own time only, not for the last of its batch", async () => {
    starts.length = 0;
    const ports = world();
    const job = note(ports);
    const { enqueue, work } = await shop([job], ports);
    for (const delayMs of [950, 300, 0, 300, 600]) await enqueue(job, { n: 1 }, { delayMs });
    const batch = work();
    await ports.clock.advance(2_000);
    expect(await batch).toEqual([]);
    expect(starts).toEqual([0, 300, 300, 600, 950]);
  });

  test("is asked for once more, and sent again, when the worker stops in between", async () => {
    starts.length = 0;
    const ports = world();
    const job = note(ports);
    const { enqueue, receive, worker } = await shop([job], ports);
    for (const delayMs of [800, 950]) await enqueue(job, { n: 1 }, { delayMs });
    const batch = worker.handle(receive(), { remainingMs: () => 600_000 });
    await ports.clock.settle();
    await worker.stop(5_000);
    expect(await batch).toEqual({ failed: [] });
    expect([starts, ports.queue.size(lane)]).toEqual([[], 4]);
  });

  test("by more is sent again with the rest of the time, acknowledged, and not counted against anything", async () => {
    const ports = world();
    const job = note(ports);
    const { enqueue, worker } = await shop([job], ports);
    const id = await enqueue(job, { n: 1 }, { delayMs: 50_000 });
    ports.queue.delete(lane, ["m1"]);
    await ports.clock.advance(20_000);
    const body = JSON.stringify({ jobId: id, generation: 1, trace: "" });
    expect(await worker.handle([{ messageId: "early", body }], { remainingMs: () => 600_000 })).toEqual({ failed: [] });
    expect(ports.queue.size(lane)).toBe(1);
    expect(ports.queue.nextVisibleAt(lane)).toBe(50_000);
    expect(await jobOf(ports, id)).toMatchObject({ state: "QUEUED", attempt: 0, generation: 1 });
  });

  test("is given back only when the queue does not take it again", async () => {
    let refuse = false;
    const ports = withQueue((queue) => ({
      send: (to, messages) => (refuse ? Promise.resolve({ failed: [0] }) : queue.send(to, messages)),
    }));
    const job = note(ports);
    const { enqueue, worker } = await shop([job], ports);
    const id = await enqueue(job, { n: 1 }, { delayMs: 50_000 });
    refuse = true;
    const body = JSON.stringify({ jobId: id, generation: 1, trace: "" });
    expect(await worker.handle([{ messageId: "m", body }], { remainingMs: () => 600_000 })).toEqual({ failed: ["m"] });
  });
});

describe("when the store fails", () => {
  const hello = defineJob({ id: "hello", run: () => {} });

  test("pauses longer before each batch that it gives back, and not after one that it runs", async () => {
    let isAway = true;
    const ports = withStore((store) => ({ claim: (...how) => (isAway ? down() : store.claim(...how)) }));
    const { enqueue, work } = await shop([hello], ports);
    await enqueue(hello, undefined);
    const pauses: unknown[] = [];
    for (let batch = 0; batch < 5; batch += 1) {
      const startedMs = ports.clock.elapsedMs();
      const given = work().then((failed) => [...failed, ports.clock.elapsedMs() - startedMs]);
      await ports.clock.advance(20_000);
      pauses.push(await given);
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 15_000].map((pauseMs) => ["m1", pauseMs]));
    isAway = false;
    await enqueue(hello, undefined);
    const startedMs = ports.clock.elapsedMs();
    expect(await work()).toEqual([]);
    expect(ports.clock.elapsedMs()).toBe(startedMs);
  });

  test("a look that fails gives back what was not claimed; what was claimed is run", async () => {
    const ports = withStore(() => ({ peek: down }));
    const { enqueue, receive, work } = await shop([hello], ports);
    const done = await enqueue(hello, undefined);
    const stale = receive();
    ports.queue.giveBack(
      lane,
      stale.map((record) => record.messageId),
    );
    await work();
    expect((await jobOf(ports, done)).state).toBe("SUCCESS");
    const fresh = await enqueue(hello, undefined);
    for (const { body } of stale) ports.queue.put(lane, body);
    const batch = work();
    await ports.clock.advance(workerLimits.giveBackPauseMs);
    expect(await batch).toHaveLength(1);
    expect((await jobOf(ports, fresh)).state).toBe("SUCCESS");
    expect(ports.clock.pending()).toBe(0);
  });

  test("a wake that fails after a refused slot does not keep the others from running", async () => {
    const open = gate();
    const capped = defineJob({ id: "capped", concurrency: 1, run: () => open.promise });
    const ports = withStore(() => ({ wake: down }));
    const { enqueue, receive, worker, another } = await shop([capped, hello], ports);
    await enqueue(capped, undefined);
    const first = worker.handle(receive(), { remainingMs: () => 600_000 });
    await ports.clock.settle();
    const held = await enqueue(capped, undefined);
    const free = await enqueue(hello, undefined);
    expect(await another("worker-2").handle(receive(), { remainingMs: () => 600_000 })).toEqual({ failed: [] });
    expect(await jobOf(ports, held)).toMatchObject({ state: "PENDING", hold: "slot" });
    expect((await jobOf(ports, free)).state).toBe("SUCCESS");
    open.open();
    await ports.clock.advance(100);
    await first;
  });
});

describe("what a claim refuses", () => {
  test("a job whose lock is held is SKIPPED and counted", async () => {
    const open = gate();
    const locked = defineJob({ id: "nightly", lock: {}, run: () => open.promise });
    const { enqueue, receive, worker, another, world: ports } = await shop([locked]);
    await enqueue(locked, undefined);
    const first = worker.handle(receive(), { remainingMs: () => 600_000 });
    await ports.clock.settle();
    const second = await enqueue(locked, undefined);
    await another("worker-2").handle(receive(), { remainingMs: () => 600_000 });
    expect((await jobOf(ports, second)).state).toBe("SKIPPED");
    expect(sum(ports.measured, "scheduler.lock.failed", "nightly")).toBe(1);
    expect(sum(ports.measured, "job.refused", "nightly")).toBe(1);
    expect(sum(ports.measured, "scheduler.lock.acquired", "nightly")).toBe(1);
    open.open();
    await ports.clock.advance(100);
    await first;
  });
});

describe("a page of many messages", () => {
  test("that all come too early is sent again by ten", async () => {
    const sizes: number[] = [];
    const ports = withQueue((queue) => ({
      send: (to, messages) => {
        sizes.push(messages.length);
        return queue.send(to, messages);
      },
    }));
    const hello = defineJob({ id: "hello", run: () => {} });
    const { enqueue, worker } = await shop([hello], ports);
    const bodies: string[] = [];
    for (let n = 0; n < 23; n += 1) {
      const id = await enqueue(hello, undefined, { delayMs: 60_000 });
      bodies.push(JSON.stringify({ jobId: id, generation: 1, trace: "" }));
    }
    sizes.length = 0;
    const records = bodies.map((body, n) => ({ messageId: `e${n}`, body }));
    expect(await worker.handle(records, { remainingMs: () => 600_000 })).toEqual({ failed: [] });
    expect(sizes).toEqual([contractLimits.sendBatchMax, contractLimits.sendBatchMax, 3]);
  });
});
