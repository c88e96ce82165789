import { atOnce } from "../support/rescue-at-once.ts";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineJob } from "../../src/define/define-job.ts";
import type { JobId } from "../../src/machine/job.ts";
import { workerLimits } from "../../src/run/worker-limits.ts";
import { encodeMessage } from "../../src/run/message.ts";
import { rescue } from "../../src/run/rescue.ts";
import { aRow } from "./rows.ts";
import { jobOf, lane, shop, sum, down, withStore } from "./world.ts";

const plenty = () => 600_000;
const to = z.object({ to: z.string() });

describe("a batch", () => {
  test("passes its crash points in order", async () => {
    const hello = defineJob({ id: "hello", run: () => {} });
    const { enqueue, work, world: ports } = await shop([hello]);
    await enqueue(hello, undefined);
    ports.passed.length = 0;
    await work();
    expect(ports.passed).toEqual(["received", "claimed", "effect.before", "effect.after", "settled"]);
  });
});

describe("a message that can claim nothing", () => {
  const hello = defineJob({ id: "hello", run: () => {} });

  test("is acknowledged when its generation is old", async () => {
    const { enqueue, world: ports, worker } = await shop([hello]);
    const id = await enqueue(hello, undefined);
    const body = encodeMessage({ jobId: id, generation: 0, trace: "" });
    expect(await worker.handle([{ messageId: "m", body }], { remainingMs: plenty })).toEqual({ failed: [] });
    expect((await jobOf(ports, id)).state).toBe("QUEUED");
    // The job's own message, and no copy of the old one.
    expect(ports.queue.size(lane)).toBe(1);
  });

  test("delivered twice in one batch runs the job once", async () => {
    let runs = 0;
    const count = defineJob({ id: "count", run: () => void (runs += 1) });
    const { enqueue, receive, worker } = await shop([count]);
    await enqueue(count, undefined);
    const [record] = receive();
    const twice = [record, { ...record, messageId: "again" }] as { messageId: string; body: string }[];
    expect(await worker.handle(twice, { remainingMs: plenty })).toEqual({ failed: [] });
    expect(runs).toBe(1);
  });
});

describe("what cannot be run", () => {
  test("a body that cannot be read goes to quarantine, is acknowledged, and spoils nothing else", async () => {
    const hello = defineJob({ id: "hello", run: () => {} });
    const { enqueue, work, world: ports } = await shop([hello]);
    const id = await enqueue(hello, undefined);
    ports.queue.put(lane, "{not json");
    expect(await work()).toEqual([]);
    expect((await jobOf(ports, id)).state).toBe("SUCCESS");
    expect(ports.store.tables.quarantine.rows.map((row) => row.body)).toEqual(["{not json"]);
  });

  test("an unreadable body is given back when it cannot be kept", async () => {
    const ports = withStore(() => ({ quarantine: down }));
    const { work } = await shop([], ports);
    const id = ports.queue.put(lane, "{not json");
    expect(await work()).toEqual([id]);
  });

  test("a payload that no longer fits its schema is FAILED at once, with the path", async () => {
    const { enqueue, world: ports } = await shop([defineJob({ id: "mail", payload: to, run: () => {} })]);
    const id = await enqueue(defineJob({ id: "mail", payload: to, run: () => {} }), { to: "ada" });
    const stricter = defineJob({ id: "mail", payload: z.object({ to: z.email() }), run: () => {} });
    const { work } = await shop([stricter], ports);
    await work();
    expect(await jobOf(ports, id)).toMatchObject({ state: "FAILED", errorCode: "INVALID_PAYLOAD", failures: 1 });
    expect((await jobOf(ports, id)).errorMessage).toContain("to:");
  });

  test("a schema that throws fails the try only, and its batch mates finish", async () => {
    const broken = defineJob({
      id: "broken",
      payload: z.string().transform((text): string => {
        if (text === "now") throw new Error("transform blew up");
        return text;
      }),
      run: () => {},
    });
    const hello = defineJob({ id: "hello", run: () => {} });
    const { enqueue, work, world: ports } = await shop([broken, hello]);
    const good = await enqueue(hello, undefined);
    const { results } = await ports.store.insert([{ ...aRow, kind: "broken", payload: "now" }], {});
    const bad = results[0]?.id ?? good;
    ports.queue.put(lane, encodeMessage({ jobId: bad, generation: 1, trace: "" }));
    expect(await work()).toEqual([]);
    expect(await jobOf(ports, bad)).toMatchObject({ errorMessage: "transform blew up", failures: 1 });
    expect((await jobOf(ports, good)).state).toBe("SUCCESS");
    expect(ports.clock.pending()).toBe(0);
  });
});

describe("jobs that lost a worker before", () => {
  test("run after their batch mates, one in each batch, each claimed alone", async () => {
    const order: string[] = [];
    const mail = defineJob({
      id: "mail",
      payload: to,
      lease: "10s",
      run: async (p, ctx) => {
        order.push(`start ${p.to} ${ctx.attempt}`);
        await Promise.resolve();
        order.push(`end ${p.to}`);
      },
    });
    const { enqueue, receive, work, world: ports, registry } = await shop([mail]);
    await enqueue(mail, { to: "x" });
    await enqueue(mail, { to: "y" });
    // A worker claims both in one batch and dies.
    const messages = receive().map(
      (record) => JSON.parse(record.body) as { jobId: JobId; generation: number; trace: string },
    );
    await ports.store.claim(messages, { worker: "dead", alone: false });
    await ports.clock.advance(20_000);
    await rescue(ports, registry, { lapsed: atOnce, limit: 10, rounds: 1 });
    await enqueue(mail, { to: "fresh" });
    expect(await work()).toEqual([]);
    expect(order).toEqual(["start fresh 1", "end fresh", "start x 2", "end x"]);
    expect(await work()).toEqual([]);
    expect(order.slice(4)).toEqual(["start y 2", "end y"]);
  });
});

describe("between batches", () => {
  test("a worker rescues expired jobs of its lane and sends open outbox batches again, every few seconds at most", async () => {
    const mail = defineJob({ id: "mail", payload: to, lease: "10s", run: () => {} });
    const { enqueue, receive, worker, work, world: ports } = await shop([mail]);
    const id = await enqueue(mail, { to: "x" });
    const [record] = receive();
    const message = JSON.parse(record?.body ?? "{}") as { jobId: JobId; generation: number; trace: string };
    await ports.store.claim([message], { worker: "dead", alone: true });
    await ports.clock.advance(30_000);
    ports.queue.delete(lane, [record?.messageId ?? ""]);
    await worker.handle([], { remainingMs: plenty });
    expect(sum(ports.measured, "job.rescued", "mail")).toBe(0);
    await ports.clock.advance(workerLimits.workerRescueIntervalMs);
    await worker.handle([], { remainingMs: plenty });
    expect(sum(ports.measured, "job.rescued", "mail")).toBe(1);
    expect(await jobOf(ports, id)).toMatchObject({ state: "QUEUED", failures: 1 });
    await work();
    expect((await jobOf(ports, id)).state).toBe("SUCCESS");
  });

  test("a rescue that fails is left to the next pass", async () => {
    const ports = withStore(() => ({ lapsedLeases: down }));
    const { worker } = await shop([], ports);
    await ports.clock.advance(workerLimits.workerRescueIntervalMs);
    expect(await worker.handle([], { remainingMs: plenty })).toEqual({ failed: [] });
    expect(ports.lines.some((line) => line.level === "warn" && line.message.includes("rescue failed"))).toBe(true);
  });
});
