import { describe, expect, test } from "vitest";
import { defineJob } from "../../src/define/define-job.ts";
import { acknowledge, gate, jobOf, lane, shop, world } from "./world.ts";

const plenty = () => 600_000;

describe("stopping", () => {
  test("aborts the handlers, releases what does not finish within the grace, and costs no failure", async () => {
    const reasons: unknown[] = [];
    const slow = defineJob({
      id: "slow",
      run: (_, ctx) =>
        new Promise<void>((_resolve, reject) => {
          ctx.signal.addEventListener("abort", () => {
            reasons.push(ctx.signal.reason);
            reject(ctx.signal.reason as Error);
          });
        }),
    });
    const deaf = defineJob({ id: "deaf", run: () => new Promise<void>(() => {}) });
    const { enqueue, receive, worker, world: ports } = await shop([slow, deaf]);
    const ids = [await enqueue(slow, undefined), await enqueue(deaf, undefined)];
    const records = receive();
    const batch = worker.handle(records, { remainingMs: plenty });
    await ports.clock.settle();
    const stopped = worker.stop(5_000);
    await ports.clock.advance(5_010);
    await stopped;
    acknowledge(ports, records, (await batch).failed);
    expect(reasons).toHaveLength(1);
    for (const id of ids) {
      expect(await jobOf(ports, id)).toMatchObject({ state: "QUEUED", failures: 0, interruptions: 1, generation: 2 });
    }
    expect(ports.queue.size(lane)).toBe(2);
    expect(ports.clock.pending()).toBe(0);
  });

  test("releases a job that was claimed at that very moment without starting it", async () => {
    const claimed = gate();
    let runs = 0;
    const count = defineJob({ id: "count", run: () => void (runs += 1) });
    const ports = world((base) => ({
      crashPoint: async (name) => {
        if (name === "claimed") await claimed.promise;
        base.passed.push(name);
      },
    }));
    const { enqueue, receive, worker } = await shop([count], ports);
    const id = await enqueue(count, undefined);
    const batch = worker.handle(receive(), { remainingMs: plenty });
    await ports.clock.settle();
    const stopped = worker.stop(5_000);
    await ports.clock.advance(6_000);
    claimed.open();
    await ports.clock.advance(100);
    await Promise.all([stopped, batch]);
    expect(runs).toBe(0);
    expect(await jobOf(ports, id)).toMatchObject({ state: "QUEUED", failures: 0, interruptions: 1 });
  });
});
