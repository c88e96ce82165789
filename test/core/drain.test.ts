import { describe, expect, test } from "vitest";
import { defineJob } from "../../src/define/define-job.ts";
import { drain } from "../../src/run/drain.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { deliveryLimits } from "../../src/machine/delivery-limits.ts";
import { encodeMessage } from "../../src/run/message.ts";
import { requeueLost, type QueueObservations } from "../../src/run/requeue.ts";
import { jobOf, lane, shop, sum, down, withStore } from "./world.ts";

const hello = defineJob({ id: "hello", run: () => {} });
const record = (body: string) => ({ messageId: "dead", body });

describe("a message in the dead-letter queue", () => {
  test("that died three times makes its job FAILED, with its hook in the same transaction", async () => {
    const ended: string[] = [];
    const hooked = defineJob({
      id: "hooked",
      run: () => {},
      onSettled: async (_, settled) => void ended.push(settled.outcome),
    });
    const { enqueue, world: ports, registry } = await shop([hooked]);
    const id = await enqueue(hooked, undefined);
    for (let death = 0; death < contractLimits.undeliveredMax; death += 1) {
      const { generation, state } = await jobOf(ports, id);
      if (state === "PENDING") {
        await ports.clock.advance(deliveryLimits.deadLetterBackoffMs * 10);
        await ports.store.relay({ limit: 1 });
      }
      const now = await jobOf(ports, id);
      expect(now.generation).toBeGreaterThanOrEqual(generation);
      const body = encodeMessage({ jobId: id, generation: now.generation, trace: "" });
      await drain(ports, registry, [record(body)], { lane });
    }
    expect((await jobOf(ports, id)).state).toBe("FAILED");
    expect(ended.at(-1)).toBe("FAILED");
    expect(sum(ports.measured, "job.undelivered", "hooked")).toBe(contractLimits.undeliveredMax);
  });

  test("that cannot be read is kept for a person", async () => {
    const { world: ports, registry } = await shop([hello]);
    expect(await drain(ports, registry, [record("\u{1F4A9}")], { lane })).toEqual({ failed: [] });
    expect(ports.store.tables.quarantine.rows).toMatchObject([{ lane, body: "\u{1F4A9}" }]);
    expect(sum(ports.measured, "message.unreadable")).toBe(1);
  });

  test("that cannot be read is given back with the others when it could not be kept", async () => {
    const ports = withStore(() => ({ quarantine: down }));
    const { registry } = await shop([hello], ports);
    const records = [encodeMessage({ jobId: "7" as never, generation: 1, trace: "" }), "{"].map((body, n) => {
      return { messageId: `m${n}`, body };
    });
    expect(await drain(ports, registry, records, { lane })).toEqual({ failed: ["m0", "m1"] });
  });
});

describe("a message the queue lost", () => {
  const look = (
    ports: Parameters<typeof requeueLost>[0],
    registry: Parameters<typeof requeueLost>[1],
    observations: QueueObservations,
  ) => requeueLost(ports, registry, observations, {});

  test("is not presumed lost while the queue holds anything, however long that lasts", async () => {
    const { enqueue, world: ports, registry } = await shop([hello]);
    const id = await enqueue(hello, undefined);
    const observations: QueueObservations = new Map();
    for (let round = 0; round < 20; round += 1) {
      await ports.clock.advance(60_000);
      expect(await look(ports, registry, observations)).toEqual({ requeued: 0 });
    }
    expect((await jobOf(ports, id)).generation).toBe(1);
  });
});
