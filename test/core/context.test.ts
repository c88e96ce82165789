import { describe, expect, test } from "vitest";
import type { Context } from "../../src/define/context.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { acquireLock, lockLimits } from "../../src/machine/lock.ts";
import { jobOf, shop, sum, world, type World, down, withLocks } from "./world.ts";

/** Runs one job and gives back what its handler returned or threw. */
async function inside<T>(run: (ctx: Context) => Promise<T> | T, options: { ports?: World; passMs?: number } = {}) {
  const ports = options.ports ?? world();
  let value: T | undefined;
  let error: unknown;
  const job = defineJob({
    id: "job",
    lease: "30s",
    timeout: "9m",
    async run(_, ctx) {
      try {
        value = await run(ctx);
      } catch (thrown) {
        error = thrown;
        throw thrown;
      }
    },
  });
  const { enqueue, work } = await shop([job], ports);
  const id = await enqueue(job, undefined, { key: "order-7" });
  const batch = work();
  await ports.clock.advance(options.passMs ?? 100);
  await batch;
  return { value, error, ports, row: await jobOf(ports, id) };
}

const batch = (processed: number, hasMore: boolean) => ({ processed, succeeded: processed - 1, failed: 1, hasMore });

describe("what a handler sees", () => {
  test("who it is: job, key, stage, attempt, failures and due time", async () => {
    const { value, row } = await inside((ctx) => ({
      jobId: ctx.jobId,
      key: ctx.key,
      stage: ctx.stage,
      attempt: ctx.attempt,
      failures: ctx.failures,
      at: ctx.scheduledFor.getTime(),
      isCatchUp: ctx.isCatchUp,
    }));
    expect(value).toEqual({
      jobId: row.id,
      key: "order-7",
      stage: "test",
      attempt: 1,
      failures: 0,
      at: row.dueAt,
      isCatchUp: false,
    });
  });

  test("the same by what it took out of the context", async () => {
    const { value, row } = await inside(async ({ log, effectKey, heartbeat, tx }) => {
      log.info("taken out");
      await heartbeat(0.5);
      return await tx(() => Promise.resolve(effectKey("mail")));
    });
    expect([value, row.progress]).toEqual([`${row.id}:mail`, 0.5]);
  });

  test("an effect key that is the same in every try", async () => {
    const keys: string[] = [];
    const twice = defineJob({
      id: "twice",
      retry: { maxAttempts: 2, base: "1s" },
      run: (_, ctx) => {
        keys.push(ctx.effectKey("mail"));
        throw new Error("again");
      },
    });
    const { enqueue, work, world: ports } = await shop([twice]);
    const id = await enqueue(twice, undefined);
    await work();
    await ports.clock.advance(5_000);
    await work();
    expect(keys).toEqual([`${id}:mail`, `${id}:mail`]);
  });

  test("its log carries job, kind, attempt and trace", async () => {
    const { ports, row } = await inside((ctx) => ctx.log.info("hello", { n: 1 }));
    const line = ports.lines.find((each) => each.message === "hello");
    expect(line?.fields).toEqual({ job: row.id, kind: "job", attempt: 1, trace: row.trace, n: 1 });
  });

  test("its metrics carry the job's dimension", async () => {
    const { ports } = await inside((ctx) => ctx.metric("mails", 3));
    expect(sum(ports.measured, "mails", "job")).toBe(3);
  });
});

describe("ctx.batches", () => {
  test("goes on while there is more, adds up, and reports", async () => {
    const sizes: number[] = [];
    const { value, ports } = await inside((ctx) =>
      ctx.batches({ size: 100, maxIterations: 10 }, async (size) => {
        sizes.push(size);
        return batch(size, sizes.length < 3);
      }),
    );
    expect(value).toEqual({ processed: 300, succeeded: 297, failed: 3, hasMore: false });
    expect(sizes).toEqual([100, 100, 100]);
    expect(sum(ports.measured, "scheduler.items.processed", "job")).toBe(300);
    expect(sum(ports.measured, "scheduler.items.left", "job")).toBe(0);
  });

  test("what batches did is counted although the attempt fails, by metrics and as a row", async () => {
    const counted: unknown[] = [];
    const tally = { countBatches: async (of: object, done: object) => void counted.push({ ...of, ...done }) };
    const ports = { ...world(), tally };
    const { error } = await inside(
      (ctx) =>
        ctx.batches({ size: 10, maxIterations: 5 }, async () => {
          if (sum(ports.measured, "asked") > 0) throw new Error("broken off");
          ctx.metric("asked", 1);
          return batch(10, true);
        }),
      { ports },
    );
    expect(error).toEqual(new Error("broken off"));
    expect(sum(ports.measured, "scheduler.items.failed", "job")).toBe(1);
    expect(counted).toEqual([{ kind: "job", lane: "default", processed: 10, succeeded: 9, failed: 1, hasMore: true }]);
  });

  test("a count that cannot be written does not fail the attempt", async () => {
    const tally = { countBatches: () => Promise.reject(new Error("away")) };
    const { value } = await inside((ctx) => ctx.batches({ size: 1, maxIterations: 1 }, async () => batch(1, false)), {
      ports: { ...world(), tally },
    });
    expect(value).toMatchObject({ processed: 1 });
  });

  test("takes its limits by stage", async () => {
    const sizes: number[] = [];
    await inside((ctx) =>
      ctx.batches({ size: { default: 100, test: 7 }, maxIterations: { default: 3, test: 2 } }, async (size) => {
        sizes.push(size);
        return batch(size, true);
      }),
    );
    expect(sizes).toEqual([7, 7]);
  });

  test("stops between batches when the signal aborts", async () => {
    let calls = 0;
    const { row } = await inside(
      (ctx) =>
        ctx.batches({ size: 1, maxIterations: 1_000 }, async () => {
          calls += 1;
          if (calls === 3) await new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve()));
          return batch(1, true);
        }),
      { passMs: 700_000 },
    );
    expect(calls).toBe(3);
    expect(row.errorCode).toBe("TIMEOUT");
  });

  test.each([
    [{ size: 0, maxIterations: 1 }, "batches.size is 0"],
    [{ size: 1, maxIterations: 1.5 }, "batches.maxIterations is 1.5"],
    [{ size: contractLimits.batchesSizeMax + 1, maxIterations: 1 }, `from 1 to ${contractLimits.batchesSizeMax}`],
    [{ size: { prod: 1 }, maxIterations: 1 }, "batches.size is not set for this stage"],
  ])("refuses limits that make no sense: %j", async (options, message) => {
    const { error } = await inside((ctx) => ctx.batches(options, async () => batch(1, false)));
    expect(String(error)).toContain(message);
  });
});

describe("ctx.pages", () => {
  test("follows the cursor to its end, or to the limit", async () => {
    const next = async (cursor: number | null) => (cursor === 3 ? null : (cursor ?? 0) + 1);
    expect((await inside((ctx) => ctx.pages(next, { maxPages: 100 }))).value).toEqual({ pages: 4, hasMore: false });
    expect((await inside((ctx) => ctx.pages(next, { maxPages: 2 }))).value).toEqual({ pages: 2, hasMore: true });
  });
});

describe("ctx.withLock", () => {
  test("runs the work under the lock and gives it back, also when the work throws", async () => {
    const { value, ports } = await inside((ctx) => ctx.withLock("ledger", { ttl: "30s" }, async () => "done"));
    expect(value).toEqual({ acquired: true, value: "done" });
    expect(ports.locks.items.get("ledger")).toMatchObject({ owner: null, fence: 1 });
    const failed = await inside((ctx) => ctx.withLock("ledger", { ttl: "30s" }, () => Promise.reject(new Error("no"))));
    expect(String(failed.error)).toContain("no");
    expect(failed.ports.locks.items.get("ledger")?.owner).toBeNull();
  });

  test("says that the lock is held by an owner that is alive, without running the work", async () => {
    const ports = world();
    await acquireLock(ports, { name: "ledger", owner: "other", leaseMs: 30_000 });
    let ran = false;
    const { value } = await inside((ctx) => ctx.withLock("ledger", { ttl: "30s" }, async () => void (ran = true)), {
      ports,
      passMs: 30_000,
    });
    expect(value).toEqual({ acquired: false });
    expect(ran).toBe(false);
    expect(sum(ports.measured, "scheduler.lock.failed", "job")).toBe(1);
  });

  test("aborts the work when the lock was lost", async () => {
    const ports = world();
    let lost = false;
    await inside(
      (ctx) =>
        ctx.withLock("ledger", { ttl: "30s" }, async (signal) => {
          ports.locks.items.clear();
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
          lost = true;
        }),
      { ports, passMs: 20_000 },
    );
    expect(lost).toBe(true);
  });

  test("is a failed try when the lock store is away", async () => {
    const ports = withLocks(() => ({ read: down }));
    const { row } = await inside((ctx) => ctx.withLock("ledger", { ttl: "30s" }, async () => {}), {
      ports,
      passMs: lockLimits.lockOutageMs * 2,
    });
    expect(row).toMatchObject({ failures: 1, errorMessage: 'the lock store is away; lock "ledger" was not taken' });
  });
});
