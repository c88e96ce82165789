import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Context } from "../../src/define/context.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { workerLimits } from "../../src/run/worker-limits.ts";
import { UnknownOutcome } from "../../src/machine/transaction.ts";
import { jobOf, lane, movesOf, shop, sum, world, type World, withStore } from "./world.ts";

const child = defineJob({ id: "child", payload: z.object({ n: z.number() }), run: () => {} });

/** What the handlers wrote into their own tables: exists exactly if the transaction committed. */
const effects = (ports: World): readonly string[] => ports.store.tables.effects.rows.map((row) => row.text);

/** Runs one job whose handler is `run`. */
async function runOne(run: (ctx: Context) => Promise<unknown>, ports: World = world()) {
  const job = defineJob({ id: "job", run: async (_, ctx) => void (await run(ctx)) });
  const { enqueue, work } = await shop([job, child], ports);
  const id = await enqueue(job, undefined);
  const batch = work();
  await ports.clock.advance(2_000);
  const failed = await batch;
  return { id, failed, ports, row: await jobOf(ports, id), moves: await movesOf(ports, id) };
}

describe("ctx.tx", () => {
  test("commits the effect, the children and the success together", async () => {
    const { row, moves, ports } = await runOne((ctx) =>
      ctx.tx(async (tx) => {
        await tx.query("insert into transfer");
        await ctx.enqueue(child, { n: 1 });
        return { moved: 5 };
      }),
    );
    expect(row).toMatchObject({ state: "SUCCESS", result: { moved: 5 } });
    expect(moves).toEqual([">QUEUED", "QUEUED>RUNNING", "RUNNING>SUCCESS"]);
    expect(effects(ports)).toEqual(["insert into transfer"]);
    const children = await ports.store.jobs({ kind: "child" });
    expect(children).toMatchObject([{ state: "QUEUED", key: `${row.id}:child:0`, trace: row.trace }]);
    expect(ports.queue.size(lane)).toBe(1);
    expect(sum(ports.measured, "job.success", "job")).toBe(1);
  });

  test("that throws leaves no effect, no child, and a failed try", async () => {
    const { row, ports } = await runOne((ctx) =>
      ctx.tx(async (tx) => {
        await tx.query("insert into transfer");
        await ctx.enqueue(child, { n: 1 });
        throw new Error("insufficient funds");
      }),
    );
    expect(row).toMatchObject({ state: "QUEUED", failures: 1, errorMessage: "insufficient funds" });
    expect(effects(ports)).toEqual([]);
    expect(await ports.store.jobs({ kind: "child" })).toEqual([]);
    expect(ports.queue.size(lane)).toBe(1);
  });

  test("that is still open when its handler was left behind is abandoned, and another job's is not", async () => {
    const abandoned: (AbortSignal | undefined)[] = [];
    const ports = withStore((store) => ({
      transaction(work, options) {
        abandoned.push(options?.abandoned);
        return store.transaction(work);
      },
    }));
    const job = defineJob({
      id: "job",
      payload: z.object({ hangs: z.boolean() }),
      run: ({ hangs }, ctx) => ctx.tx(async () => await (hangs ? new Promise<null>(() => {}) : null)),
    });
    const { enqueue, work } = await shop([job], ports);
    const hanging = await enqueue(job, { hangs: true });
    await enqueue(job, { hangs: false });
    const batch = work();
    await ports.clock.advance(30_000 + workerLimits.abortGraceMs + 10);
    await batch;
    expect(await jobOf(ports, hanging)).toMatchObject({ failures: 1, errorCode: "TIMEOUT" });
    expect(abandoned.map((signal) => signal?.aborted)).toEqual([true, false]);
  });

  test("of a worker that lost its job leaves nothing, whatever the handler believes", async () => {
    const ports = world();
    const { row } = await runOne(
      (ctx) =>
        ctx
          .tx(async (tx) => {
            await tx.query("insert into transfer");
            await ports.store.cancel([ctx.jobId]);
          })
          .catch(() => {}),
      ports,
    );
    expect(row.state).toBe("CANCELED");
    expect(effects(ports)).toEqual([]);
  });

  test("happens once: a second one is refused, and so are later enqueues", async () => {
    const refusals: string[] = [];
    const note = (error: unknown): void => void refusals.push((error as Error).message);
    const { row, ports } = await runOne(async (ctx) => {
      await ctx.tx(async () => {
        await ctx.tx(async () => {}).catch(note);
      });
      await ctx.tx(async () => {}).catch(note);
      await ctx.enqueue(child, { n: 1 }).catch(note);
    });
    expect(row.state).toBe("SUCCESS");
    expect(refusals).toHaveLength(3);
    expect(refusals[0]).toContain("already open");
    expect(refusals[1]).toContain("already committed");
    expect(refusals[2]).toContain("after the job was settled");
    expect(await ports.store.jobs({ kind: "child" })).toEqual([]);
  });

  test("may be tried again by the handler after it failed", async () => {
    let tries = 0;
    const { row, ports } = await runOne(async (ctx) => {
      const work = () =>
        ctx.tx(async (tx) => {
          tries += 1;
          await tx.query(`try ${tries}`);
          if (tries === 1) throw new Error("lock timeout");
        });
      await work().catch(() => work());
    });
    expect(row.state).toBe("SUCCESS");
    expect(effects(ports)).toEqual(["try 2"]);
  });

  test("stays a success when the handler fails after it", async () => {
    const { row, ports } = await runOne(async (ctx) => {
      await ctx.tx(async () => {});
      throw new Error("too late");
    });
    expect(row).toMatchObject({ state: "SUCCESS", failures: 0 });
    expect(ports.lines.some((line) => line.message.includes("after its transaction committed"))).toBe(true);
  });

  test("whose commit got no answer is looked up: it happened, so the job is a success", async () => {
    const ports = withStore((store) => ({
      transaction: async (work) => {
        await store.transaction(work);
        throw new UnknownOutcome("connection broke during commit");
      },
    }));
    const { row } = await runOne((ctx) => ctx.tx(async (tx) => void (await tx.query("insert into transfer"))), ports);
    expect(row).toMatchObject({ state: "SUCCESS", failures: 0 });
    expect(effects(ports)).toEqual(["insert into transfer"]);
  });

  test("whose commit got no answer and did not happen costs an interruption and no failure", async () => {
    const ports = withStore(() => ({
      transaction: () => Promise.reject(new UnknownOutcome("connection broke during commit")),
    }));
    const { row } = await runOne((ctx) => ctx.tx(async () => {}), ports);
    expect(row).toMatchObject({ state: "QUEUED", failures: 0, interruptions: 1 });
  });

  test.each<[string, unknown, unknown]>([
    ["nothing", undefined, null],
    ["a number", 5, 5],
    ["an object with rows", { rows: 3 }, { rows: 3 }],
    ["a driver's answer", { command: "INSERT", rowCount: 1, rows: [], parse: () => {} }, null],
  ])("that returns %s has that as its result, a driver's answer none, and no warning", async (_, value, result) => {
    const { row, ports } = await runOne((ctx) => ctx.tx(async () => value));
    expect(row).toMatchObject({ state: "SUCCESS", result });
    expect(ports.lines.filter(({ level }) => level === "warn")).toEqual([]);
  });

  test("whose row another attempt ended is not this attempt's: its own outcome is written, and refused", async () => {
    const ports = withStore((store) => ({
      transaction: async (work) => {
        await store.transaction(work);
        throw new UnknownOutcome("connection broke during commit");
      },
      peek: async (ids) => (await store.peek(ids)).map((row) => ({ ...row, attempt: row.attempt + 1 })),
    }));
    const { row } = await runOne((ctx) => ctx.tx(async () => {}), ports);
    expect([row.state, sum(ports.measured, "job.settle.refused")]).toEqual(["SUCCESS", 1]);
  });

  test("is refused after the signal aborted", async () => {
    let refused = "";
    const job = defineJob({
      id: "late",
      timeout: "5s",
      run: async (_, ctx) => {
        await new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve()));
        await ctx.tx(async () => {}).catch((error: unknown) => (refused = String(error)));
        throw new Error("gave up");
      },
    });
    const { enqueue, work, world: ports } = await shop([job]);
    const id = await enqueue(job, undefined);
    const batch = work();
    await ports.clock.advance(6_000);
    await batch;
    expect(refused).toContain("timeout");
    expect(await jobOf(ports, id)).toMatchObject({ failures: 1, errorCode: "TIMEOUT" });
  });
});

describe("children outside a transaction", () => {
  test("are written with the success, in one step, each with a key of its own", async () => {
    const ports = world();
    const { row } = await runOne(async (ctx) => {
      await ctx.enqueue(child, { n: 1 });
      await ctx.enqueue(child, { n: 2 });
      await ctx.enqueue(child, { n: 3 }, { key: "mine", delay: "1h" });
      expect(await ports.store.jobs({ kind: "child" })).toEqual([]);
    }, ports);
    expect(row.state).toBe("SUCCESS");
    const children = await ports.store.jobs({ kind: "child" });
    expect(new Map(children.map((each) => [each.key, each.state]))).toEqual(
      new Map([
        [`${row.id}:child:0`, "QUEUED"],
        [`${row.id}:child:1`, "QUEUED"],
        ["mine", "PENDING"],
      ]),
    );
    expect(ports.queue.size(lane)).toBe(2);
  });

  test("with a bad payload are refused when they are enqueued, with the path", async () => {
    let refusal: unknown;
    await runOne(async (ctx) => {
      await ctx.enqueue(child, { n: "one" } as never).catch((error: unknown) => (refusal = error));
    });
    expect(refusal).toMatchObject({ name: "InvalidPayload", issues: [{ path: "n" }] });
  });

  test("cannot be added once the handler has ended", async () => {
    let later: Context | null = null;
    const { ports } = await runOne(async (ctx) => void (later = ctx));
    const ctx = later as unknown as Context;
    await expect(ctx.enqueue(child, { n: 1 })).rejects.toThrow("after the job was settled");
    await expect(ctx.tx(async () => {})).rejects.toThrow("the handler has ended");
    expect(await ports.store.jobs({ kind: "child" })).toEqual([]);
  });

  test("whose key exists with another payload are counted, and the first ones stay", async () => {
    const { row, ports } = await runOne(async (ctx) => {
      await ctx.enqueue(child, { n: 1 }, { key: "same" });
      await ctx.enqueue(child, { n: 2 }, { key: "same" });
    });
    expect(row.state).toBe("SUCCESS");
    expect(await ports.store.jobs({ kind: "child" })).toMatchObject([{ payload: { n: 1 } }]);
    expect(sum(ports.measured, "job.child.conflicts")).toBe(1);
  });

  test("whose key exists with another payload fail a transaction, which leaves nothing", async () => {
    const { row, ports } = await runOne((ctx) =>
      ctx.tx(async () => {
        await ctx.enqueue(child, { n: 1 }, { key: "same" });
        await ctx.enqueue(child, { n: 2 }, { key: "same" });
      }),
    );
    expect(row).toMatchObject({ failures: 1, errorMessage: expect.stringContaining("same") });
    expect(await ports.store.jobs({ kind: "child" })).toEqual([]);
  });
});
