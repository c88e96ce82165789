import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { BatchResult, Context } from "../../src/define/context.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { jobOf, shop, sum, world, type World } from "./world.ts";

const child = defineJob({ id: "child", payload: z.object({ n: z.number() }), run: () => {} });

/** Runs one job and gives back what its handler's work gave, or threw as text. */
async function inside(work: (ctx: Context) => unknown, { ports = world(), passMs = 100, secrets = ["KEY"] } = {}) {
  let value: unknown;
  const job = defineJob({
    id: "job",
    timeout: "30s",
    secrets,
    async run(_, ctx) {
      try {
        value = await work(ctx);
      } catch (error) {
        value = String(error);
      }
    },
  });
  const open = await shop([job, child], ports);
  const id = await open.enqueue(job, undefined);
  const batch = open.work();
  await ports.clock.advance(passMs);
  await batch;
  return { value, ports, row: await jobOf(ports, id) };
}

const withSecret = (value: string | undefined): World => world(() => ({ secret: () => value }));

describe("what a handler may say and ask for", () => {
  test.each([0, 0.5, 1])("progress of %s is written", async (progress) => {
    expect((await inside((ctx) => ctx.heartbeat(progress))).row.progress).toBe(progress);
  });

  test.each([-0.001, 1.001, Number.NaN, Infinity])("progress of %s is refused", async (progress) => {
    const { value, row } = await inside((ctx) => ctx.heartbeat(progress));
    expect(value).toBe(`RangeError: progress of "job" is ${progress}; it must lie between 0 and 1`);
    expect(row.progress).toBeNull();
  });

  test.each(["", undefined])("a secret that is %j is missing", async (secret) => {
    const { value } = await inside((ctx) => ctx.secret("KEY"), { ports: withSecret(secret) });
    expect(value).toBe('Error: the secret "KEY" of job "job" is missing');
  });

  test("a secret is given to a job that names it, and stands in no log line", async () => {
    const { value, ports } = await inside((ctx) => ctx.secret("KEY"), { ports: withSecret("open sesame") });
    expect(value).toBe("open sesame");
    expect(JSON.stringify(ports.lines)).not.toContain("open sesame");
  });

  test("a secret is refused to a job that does not name it", async () => {
    const { value } = await inside((ctx) => ctx.secret("KEY"), { ports: withSecret("open sesame"), secrets: [] });
    expect(value).toBe('Error: job "job" does not name the secret "KEY": add it to its `secrets`');
  });

  test("children are as many as the limit allows, and the next one is refused", async () => {
    const max = contractLimits.childrenPerJobMax;
    const { value, ports } = await inside(async (ctx) => {
      for (let n = 0; n < max; n += 1) await ctx.enqueue(child, { n });
      await ctx.enqueue(child, { n: max });
    });
    expect(value).toContain(`more than ${max} children of one job`);
    expect(await ports.store.jobs({ kind: "child" })).toHaveLength(max);
  });

  test.each<[BatchResult, readonly number[]]>([
    [{ processed: 0, succeeded: 0, failed: 0, hasMore: true }, [0, 0, 0, 0]],
    [{ processed: 1, succeeded: 0, failed: 1, hasMore: false }, [1, 0, 1, 0]],
    [{ processed: 3, succeeded: 1, failed: 2, hasMore: true }, [3, 1, 2, 1]],
  ])("ctx.batches counts %j", async (batch, counts) => {
    const { ports } = await inside((ctx) => ctx.batches({ size: 1, maxIterations: 1 }, async () => batch));
    const names = ["processed", "succeeded", "failed", "left"];
    expect(names.map((name) => sum(ports.measured, `scheduler.items.${name}`))).toEqual(counts);
  });

  test("work under a lock is stopped with its handler, also while the lock is held", async () => {
    const { value } = await inside(
      (ctx) =>
        ctx.withLock("ledger", { ttl: "30s" }, async (signal) => {
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
          return (signal.reason as { why?: string }).why;
        }),
      { passMs: 30_000 },
    );
    expect(value).toEqual({ acquired: true, value: "timeout" });
  });
});
