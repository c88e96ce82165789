import { describe, expect, test } from "vitest";
import { defineJob } from "../../src/core/define/define-job.ts";
import { noAftermath } from "../../src/core/ports/ports.ts";
import { createWorker } from "../../src/core/work/worker.ts";
import { workerLimits } from "../../src/core/work/worker-limits.ts";
import { aClaimed } from "./rows.ts";
import { lane, registryFor } from "./world.ts";
import { plenty, workerRig } from "./worker-rig.ts";

describe("a worker's own rescue", () => {
  const every = workerLimits.workerRescueIntervalMs;

  test("comes with the first batch after each interval, by its own clock since it began", async () => {
    const { handle, calls, ports } = await workerRig({ startMs: 50_000 });
    const rescues: number[] = [];
    for (const passMs of [0, every - 1, 1, 1, every - 2, 1]) {
      await ports.clock.advance(passMs);
      calls.length = 0;
      await handle([]);
      rescues.push(calls.filter((call) => call === "lapsedLeases").length);
    }
    expect(rescues).toEqual([0, 0, 1, 0, 0, 1]);
  });

  test("looks at the leases of its own lane only: those of another could fill its page", async () => {
    const lanes: unknown[] = [];
    const { handle, ports } = await workerRig({
      store: { lapsedLeases: async ({ lane: asked }) => (lanes.push(asked), []) },
    });
    await ports.clock.advance(every);
    await handle([]);
    expect(lanes).toEqual([lane]);
  });

  test("does not come any more once the worker stops", async () => {
    const { handle, calls, ports, worker } = await workerRig();
    await ports.clock.advance(every);
    await worker.stop(0);
    await handle([]);
    expect(calls).toEqual([]);
  });

  test("takes one page of leases and one of open outbox batches, however many there are", async () => {
    const calls: string[] = [];
    const leases = Array.from({ length: workerLimits.workerRescueRowsMax }, (_, n) => ({
      id: String(n),
      until: 0,
      ms: 1,
    }));
    const moved = leases.map(({ id }) => ({ jobId: id, kind: "job", state: "QUEUED" }));
    const messages = [{ jobId: "1", generation: 1, trace: "t", delayMs: 0 }];
    const { handle, ports } = await workerRig({
      store: {
        lapsedLeases: async () => (calls.push("lapsedLeases"), leases),
        rescue: async () => (calls.push("rescue"), { rows: moved as never, aftermath: noAftermath }),
        reopen: async () => (calls.push("reopen"), [{ id: "1", lane, messages }] as never),
        confirm: async () => {},
      },
    });
    await ports.clock.advance(every);
    await handle([]);
    expect(calls).toEqual(["lapsedLeases", "rescue", "reopen"]);
    expect(ports.queue.size(lane)).toBe(1);
  });
});

describe("a job that was lost while it ran", () => {
  const lost = { store: { heartbeat: async () => [] } };

  test.each([
    [[], []],
    [["cap:x"], ["freeSlots"]],
  ])("and holds the slots %j is followed by the statements %j", async (slotKeys, statements) => {
    const open = Promise.withResolvers<void>();
    const { worker, ports, calls } = await workerRig({ ...lost, claimed: { slotKeys } });
    const job = aClaimed("1", { kind: "job", slotKeys });
    const waits = createWorker(ports, registryFor(defineJob({ id: "job", run: () => open.promise })), {
      worker: "worker-1",
      lane,
      stage: "test",
    });
    const running = waits.run(job, { remainingMs: plenty });
    await ports.clock.advance(8_000);
    open.resolve();
    expect([await running, calls]).toEqual([true, statements]);
    await worker.stop(0);
  });
});
