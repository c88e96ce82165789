import { describe, expect, test } from "vitest";
import { defineJob } from "../../src/define/define-job.ts";
import { AmbiguousError } from "../../src/define/errors.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { workerLimits } from "../../src/run/worker-limits.ts";
import type { Json } from "../../src/machine/job.ts";
import type { Context, Job } from "../../src/define/context.ts";
import { jobOf, movesOf, shop, sum, world, type World } from "./world.ts";

/** Enqueues one job, runs one batch and shows the row. */
async function runOne(job: Job<void>, options: { remainingMs?: () => number; ports?: World; passMs?: number } = {}) {
  const { enqueue, work, world: ports } = await shop([job], options.ports ?? world());
  const id = await enqueue(job, undefined);
  const batch = work(options.remainingMs === undefined ? {} : { remainingMs: options.remainingMs });
  await ports.clock.advance(options.passMs ?? 100);
  const failed = await batch;
  return { row: await jobOf(ports, id), ports, failed };
}

describe("what a handler throws", () => {
  test("an AmbiguousError parks the job where the definition asks for it", async () => {
    const parked = defineJob({
      id: "pay",
      onAmbiguous: "park",
      run: () => {
        throw new AmbiguousError("sent, no answer");
      },
    });
    expect((await runOne(parked)).row).toMatchObject({ state: "FAILED", errorCode: "AMBIGUOUS" });
  });

  test("a result that JSON cannot say fails at once: another try would say the same", async () => {
    const errorOf = async (value: unknown) => {
      const { row } = await runOne(defineJob({ id: "big", run: () => value as Json }));
      expect(row).toMatchObject({ state: "FAILED", errorCode: "INVALID_RESULT" });
      return row.errorMessage;
    };
    expect(await errorOf("x".repeat(contractLimits.resultBytesMax))).toBe(
      `result of "big" is ${contractLimits.resultBytesMax + 2} bytes; the limit is ${contractLimits.resultBytesMax}: store it elsewhere and return a reference`,
    );
    expect(await errorOf({ users: [{ id: 1n }] })).toMatch(/^result\.users\[0\]\.id holds a bigint/);
  });
});

describe("time", () => {
  const waiting = (end: (ctx: Context, resolve: () => void, reject: (error: unknown) => void) => void) =>
    defineJob({
      id: "slow",
      timeout: "30s",
      run: (_, ctx) => new Promise<void>((resolve, reject) => end(ctx, resolve, reject)),
    });

  test("a handler that outlives its timeout has failed with TIMEOUT", async () => {
    const obedient = waiting((ctx, _, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
    const { row, ports } = await runOne(obedient, { passMs: 30_010 });
    expect(row).toMatchObject({ failures: 1, interruptions: 0, errorCode: "TIMEOUT" });
    expect(sum(ports.measured, "scheduler.execution.time", "slow")).toBe(30_000);
  });

  test("a handler that ignores its signal is left behind after the grace, and what it returns later changes nothing", async () => {
    let late = (): void => {};
    const deaf = waiting((_ctx, resolve) => (late = resolve));
    const { row, ports, failed } = await runOne(deaf, { passMs: 30_000 + workerLimits.abortGraceMs + 10 });
    expect(row).toMatchObject({ failures: 1, errorCode: "TIMEOUT", state: "QUEUED" });
    expect(failed).toEqual([]);
    late();
    await ports.clock.settle();
    expect(await jobOf(ports, row.id)).toMatchObject({ state: "QUEUED", attempt: 1 });
  });

  test("a handler that ends well within the grace has succeeded", async () => {
    const tidy = waiting((ctx, resolve) => ctx.signal.addEventListener("abort", () => resolve()));
    expect((await runOne(tidy, { passMs: 30_010 })).row.state).toBe("SUCCESS");
  });

  test("when the worker's own time runs out first, the job is released and has not failed", async () => {
    const obedient = waiting((ctx, _, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
    const { row } = await runOne(obedient, {
      remainingMs: () => 10_000,
      passMs: 10_000 - workerLimits.deadlineMarginMs + 10,
    });
    expect(row).toMatchObject({ state: "QUEUED", failures: 0, interruptions: 1 });
  });

  test("a handler that ignores the end of the worker's time is released while there is time left to write that", async () => {
    const ports = world();
    const endsAtMs = ports.clock.elapsedMs() + 10_000;
    const { row } = await runOne(
      waiting(() => {}),
      { ports, remainingMs: () => endsAtMs - ports.clock.elapsedMs(), passMs: 9_500 },
    );
    expect(row).toMatchObject({ state: "QUEUED", failures: 0, interruptions: 1 });
  });
});

describe("a job that is no longer this worker's", () => {
  test("has its handler aborted, and the worker writes nothing about it", async () => {
    const why: unknown[] = [];
    const long = defineJob({
      id: "long",
      lease: "30s",
      timeout: "10m",
      run: (_, ctx) =>
        new Promise<void>((resolve) => {
          ctx.signal.addEventListener("abort", () => {
            why.push(ctx.signal.reason);
            resolve();
          });
        }),
    });
    const { enqueue, work, world: ports } = await shop([long]);
    const id = await enqueue(long, undefined);
    const batch = work();
    await ports.clock.advance(1_000);
    await ports.store.cancel([id]);
    await ports.clock.advance(20_000);
    expect(await batch).toEqual([]);
    expect(why).toMatchObject([{ why: "lost" }]);
    expect(await movesOf(ports, id)).toEqual([">QUEUED", "QUEUED>RUNNING", "RUNNING>CANCELED"]);
  });

  test("keeps its slot after a cancel until its handler is really gone; then the next one gets it", async () => {
    const running: string[] = [];
    const capped = defineJob({
      id: "capped",
      concurrency: 1,
      lease: "30s",
      timeout: "10m",
      run: (_, ctx) => {
        running.push(ctx.jobId);
        return new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve()));
      },
    });
    const { enqueue, work, receive, another, world: ports } = await shop([capped]);
    const first = await enqueue(capped, undefined);
    const batch = work();
    await ports.clock.advance(1_000);
    const second = await enqueue(capped, undefined);
    await ports.store.cancel([first]);
    await another("worker-2").handle(receive(), { remainingMs: () => 20 * 60_000 });
    expect(await jobOf(ports, second)).toMatchObject({ state: "PENDING", hold: "slot" });
    await ports.clock.advance(20_000);
    await batch;
    expect(running).toEqual([first]);
    expect(await jobOf(ports, second)).toMatchObject({ state: "QUEUED", hold: "none" });
    expect(receive()).toHaveLength(1);
  });
});
