import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Context, SettledJob } from "../../src/core/define/context.ts";
import { defineJob } from "../../src/core/define/define-job.ts";
import type { JobId } from "../../src/core/job/job.ts";
import { noAftermath, UnknownOutcome, type Store, type Tx } from "../../src/core/ports/ports.ts";
import { gate, jobOf, lane, shop, sum, world, type World } from "./world.ts";

const child = defineJob({ id: "child", payload: z.object({ n: z.number() }), run: () => {} });

const withStore = (faults: (store: Store) => Partial<Store>): World =>
  world((base) => ({ store: Object.assign({}, base.store, faults(base.store)) }));

/** Counts the statements of these names. */
function counting(...names: readonly (keyof Store)[]) {
  const calls: string[] = [];
  const ports = withStore((store) =>
    Object.fromEntries(
      names.map((name) => [
        name,
        (...given: unknown[]) => {
          calls.push(name);
          return (store[name] as (...all: unknown[]) => unknown)(...given);
        },
      ]),
    ),
  );
  return { ports, calls };
}

async function runOne(run: (ctx: Context) => Promise<unknown>, ports: World = world()) {
  const job = defineJob({ id: "job", run: async (_, ctx) => void (await run(ctx)) });
  const { enqueue, work } = await shop([job, child], ports);
  const id = await enqueue(job, undefined);
  const batch = work();
  await ports.clock.advance(2_000);
  const failed = await batch;
  const errors = ports.lines.filter(({ level }) => level === "error");
  return { id, failed, errors, row: await jobOf(ports, id), refused: sum(ports.measured, "job.settle.refused") };
}

describe("what the work of a transaction returns", () => {
  test.each<[string, unknown, unknown]>([
    ["nothing", undefined, null],
    ["a number", 5, 5],
    ["null", null, null],
    ["an object with rows", { rows: 3 }, { rows: 3 }],
    ["an object with a command", { command: "go" }, { command: "go" }],
    ["a driver's answer", { rows: [], command: "INSERT" }, null],
  ])("is kept as the result, without a warning: %s", async (_, value, result) => {
    const ports = world();
    const { row } = await runOne((ctx) => ctx.tx(async () => value), ports);
    expect(row).toMatchObject({ state: "SUCCESS", result });
    expect(ports.lines.filter(({ level }) => level === "warn")).toEqual([]);
  });
});

describe("a success that its transaction wrote", () => {
  test("is not written again, and no statement follows it", async () => {
    const { ports, calls } = counting("settle", "heartbeat", "freeSlots", "peek");
    const { row, errors, failed } = await runOne(async (ctx) => {
      await ctx.tx(async () => {});
      await ctx.heartbeat(0.9);
    }, ports);
    expect(row.state).toBe("SUCCESS");
    expect([calls, errors, failed]).toEqual([["settle"], [], []]);
  });

  test("ends its batch when its children are with the queue: a frozen process would send them late", async () => {
    const open = gate();
    let sends = 0;
    const ports = world(({ queue }) => ({
      queue: Object.assign({}, queue, {
        send: (async (...call) => {
          if (++sends === 2) await open.promise;
          return queue.send(...call);
        }) satisfies typeof queue.send,
      }),
    }));
    const job = defineJob({ id: "job", run: (_, ctx) => ctx.tx(async () => ctx.enqueue(child, { n: 1 })) });
    const { enqueue, work } = await shop([job, child], ports);
    await enqueue(job, undefined);
    const ended: string[] = [];
    const batch = work().then(() => ended.push("batch"));
    await ports.clock.advance(2_000);
    expect([sends, ended]).toEqual([2, []]);
    open.open();
    await batch;
    expect(ports.queue.size(lane)).toBe(1);
  });

  test("refuses a later transaction as committed, also after the handler has ended", async () => {
    let later: Context | null = null;
    await runOne(async (ctx) => {
      later = ctx;
      await ctx.tx(async () => {});
    });
    await expect((later as unknown as Context).tx(async () => {})).rejects.toThrow("already committed");
  });

  test("calls onSettled once, in that transaction, with the job's own payload", async () => {
    const seen: [unknown, SettledJob["outcome"], boolean][] = [];
    const job = defineJob({
      id: "paid",
      payload: z.object({ n: z.number() }),
      run: (_, ctx) => ctx.tx(async () => {}),
      async onSettled(payload, { outcome, final }, tx) {
        seen.push([payload, outcome, final]);
        await tx.query(`log ${payload.n}`);
      },
    });
    const { enqueue, work, world: ports } = await shop([job]);
    await enqueue(job, { n: 7 });
    await work();
    expect(seen).toEqual([[{ n: 7 }, "success", true]]);
    expect(ports.store.tables.effects.rows.map(({ text }) => text)).toEqual(["log 7"]);
  });

  test("sends the messages of its own children, and none of a transaction that failed before", async () => {
    const ports = world();
    const sent: string[] = [];
    const send = ports.queue.send.bind(ports.queue);
    ports.queue.send = (to, messages) => {
      sent.push(...messages.map(({ jobId }) => jobId));
      return send(to, messages);
    };
    const { row } = await runOne(async (ctx) => {
      const failing = ctx.tx(async () => {
        await ctx.enqueue(child, { n: 1 });
        await ctx.enqueue(child, { n: 2 });
        throw new Error("lock timeout");
      });
      await failing.catch(() => {});
      await ctx.tx(() => ctx.enqueue(child, { n: 3 }));
    }, ports);
    const children = await ports.store.jobs({ kind: "child", limit: 10 });
    expect([row.state, children.map(({ payload }) => payload)]).toEqual(["SUCCESS", [{ n: 3 }]]);
    expect(sent).toEqual([row.id, children[0]?.id]);
    expect(ports.queue.size(lane)).toBe(1);
  });
});

test("the messages of a child in a transaction of the caller's own are not sent with the commit of ctx.tx", async () => {
  const own: Tx = { query: async () => ({ rows: [], rowCount: 0 }) };
  const messages = [{ jobId: "99" as JobId, generation: 1, trace: "t", delayMs: 0 }];
  const ports = withStore((store) => ({
    insert: async (jobs, options) =>
      options?.tx === own
        ? { results: [], aftermath: { ...noAftermath, outbox: [{ id: "99", resent: 0, lane, messages }] } }
        : store.insert(jobs, options),
  }));
  const { row } = await runOne(async (ctx) => {
    await ctx.enqueue(child, { n: 1 }, { tx: own });
    await ctx.tx(async () => {});
  }, ports);
  expect([row.state, ports.queue.size(lane)]).toEqual(["SUCCESS", 0]);
});

describe("a commit without an answer", () => {
  const unanswered = (happens: boolean, attempt: (real: number) => number = (real) => real): World =>
    withStore((store) => ({
      transaction: async (work) => {
        if (happens) await store.transaction(work);
        throw new UnknownOutcome("connection broke during commit");
      },
      peek: async (ids) => (await store.peek(ids)).map((row) => ({ ...row, attempt: attempt(row.attempt) })),
    }));

  test("that happened is found by its row: nothing is written after it", async () => {
    const { row, refused } = await runOne((ctx) => ctx.tx(async () => {}), unanswered(true));
    expect([row.state, row.interruptions, refused]).toEqual(["SUCCESS", 0, 0]);
  });

  test("whose row another attempt ended is not this attempt's: its own outcome is written, and refused", async () => {
    const ports = unanswered(true, (real) => real + 1);
    const { row, refused } = await runOne((ctx) => ctx.tx(async () => {}), ports);
    expect([row.state, refused]).toEqual(["SUCCESS", 1]);
  });

  test("that did not happen leaves the attempt open: it may be tried again", async () => {
    const ports = unanswered(false);
    const { row } = await runOne(async (ctx) => {
      await ctx.tx(async () => {}).catch(() => {});
    }, ports);
    expect(row).toMatchObject({ state: "SUCCESS", failures: 0 });
    expect(sum(ports.measured, "job.success", "job")).toBe(1);
  });

  test("is looked up, and another error is not", async () => {
    const { ports, calls } = counting("peek");
    await runOne((ctx) => ctx.tx(() => Promise.reject(new Error("no"))), ports);
    expect(calls).toEqual([]);
  });
});

describe("progress", () => {
  test("that a handler reports just before it ends is written with its outcome, and none costs no statement", async () => {
    const { ports, calls } = counting("heartbeat");
    const { row } = await runOne((ctx) => ctx.heartbeat(0.75), ports);
    expect([row.progress, calls.length]).toEqual([0.75, 1]);
    const quiet = counting("heartbeat");
    await runOne(async () => {}, quiet.ports);
    expect(quiet.calls).toEqual([]);
  });
});
