import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { BatchResult, Context } from "../../src/core/define/context.ts";
import { defineJob } from "../../src/core/define/define-job.ts";
import { contractLimits } from "../../src/core/job/contract-limits.ts";
import type { Claimed, LockStore, Store, Tx } from "../../src/core/ports/ports.ts";
import { runHandler } from "../../src/core/work/handler.ts";
import { claimRig } from "./claim-rig.ts";
import { aClaimed, aTaskOf } from "./rows.ts";
import { gate, registryFor } from "./world.ts";

const child = defineJob({ id: "child", payload: z.object({ n: z.number() }), run: () => {} });

/** What a handler's work gives or throws, as text; its heartbeats, its children and the inserts of its time. */
async function inside(
  work: (ctx: Context) => unknown,
  {
    claimed = {},
    secret,
    passMs = 0,
    released,
  }: { claimed?: Partial<Claimed>; secret?: string; passMs?: number; released?: () => Promise<void> } = {},
) {
  const beats: (number | undefined)[] = [];
  const inserts: (Tx | undefined)[] = [];
  const store: Partial<Store> = {
    heartbeat: async (held) => {
      beats.push(...held.map(({ progress }) => progress));
      return held;
    },
    insert: async (_, options) => {
      inserts.push(options?.tx);
      return { results: [], aftermath: { outbox: [], runs: [], freed: [], leftToRelay: [] } };
    },
  };
  const rig = claimRig({ store });
  const release: LockStore["release"] = async (...held) => {
    await released?.();
    return await rig.ports.locks.release(...held);
  };
  const locks = { ...rig.ports.locks, release };
  const ports = { ...rig.ports, locks, ...(secret === undefined ? {} : { secret: () => secret }) };
  let value: unknown;
  const job = defineJob({
    id: "job",
    timeout: "30s",
    secrets: ["KEY"],
    async run(_, ctx) {
      try {
        value = await work(ctx);
      } catch (error) {
        value = String(error);
      }
    },
  });
  const row = aClaimed("1", { kind: "job", ...claimed });
  const worker = { ...rig.scope, ports, registry: registryFor(job) };
  worker.leases.hold(row);
  const running = runHandler(worker, row, () => 600_000);
  await ports.clock.advance(passMs);
  const end = await running;
  await worker.leases.flush(row);
  return { value, beats, inserts, measured: ports.measured, end };
}

test("a child is numbered by its call, however long the check of its payload takes", async () => {
  const first = gate();
  const schema = z.object({ n: z.number() }).refine(async ({ n }) => (n === 0 ? first.promise.then(() => true) : true));
  const checked = defineJob({ id: "checked", payload: schema, run: () => {} });
  const { end } = await inside(async (ctx) => {
    const slow = ctx.enqueue(checked, { n: 0 });
    await ctx.enqueue(checked, { n: 1 });
    first.open();
    await slow;
  });
  const children = end.is === "outcome" ? end.children : [];
  expect(Object.fromEntries(children.map(({ key, payload }) => [key, payload]))).toEqual({
    "1:checked:0": { n: 0 },
    "1:checked:1": { n: 1 },
  });
});

describe("progress", () => {
  test.each([0, 0.5, 1])("of %s is written", async (progress) => {
    const { value, beats } = await inside((ctx) => ctx.heartbeat(progress));
    expect([value, beats]).toEqual([undefined, [progress]]);
  });

  test.each([-0.001, -1, 1.001, 1.5, 2, Number.NaN, Infinity])("of %s is refused", async (progress) => {
    const { value, beats } = await inside((ctx) => ctx.heartbeat(progress));
    expect(value).toBe(`RangeError: progress of "job" is ${progress}; it must lie between 0 and 1`);
    expect(beats).toEqual([]);
  });

  test("that is left out is nothing to write", async () => {
    expect(await inside((ctx) => ctx.heartbeat())).toMatchObject({ value: undefined, beats: [] });
  });
});

describe("the run of a job", () => {
  const run = aTaskOf("77");
  test("is named to its tasks, and null to any other job", async () => {
    expect((await inside((ctx) => ctx.runId, { claimed: { run } })).value).toBe("77");
    expect((await inside((ctx) => ctx.runId)).value).toBeNull();
  });
});

describe("a secret", () => {
  test.each([
    ["is set", "open sesame", "open sesame"],
    ["is empty", "", 'Error: the secret "KEY" of job "job" is missing'],
  ])("that %s", async (_, secret, value) => {
    expect((await inside((ctx) => ctx.secret("KEY"), { secret })).value).toBe(value);
  });

  test("that the stage does not have is missing, and so is one of a worker without secrets", async () => {
    const missing = 'Error: the secret "KEY" of job "job" is missing';
    expect((await inside((ctx) => ctx.secret("KEY"))).value).toBe(missing);
    expect((await inside((ctx) => ctx.secret("KEY"), { secret: undefined as never })).value).toBe(missing);
  });
});

describe("children", () => {
  test("are as many as the limit allows, and the next one is refused", async () => {
    const max = contractLimits.childrenPerJobMax;
    const { value, end } = await inside(async (ctx) => {
      for (let n = 0; n < max; n += 1) await ctx.enqueue(child, { n });
      await ctx.enqueue(child, { n: max });
    });
    expect(value).toContain(`more than ${max} children of one job`);
    const children = end.is === "outcome" ? end.children : [];
    expect(children).toHaveLength(max);
    expect([children[0]?.key, children.at(-1)?.key]).toEqual(["1:child:0", `1:child:${max - 1}`]);
  });

  test("with a transaction of the caller's are written in it, at once", async () => {
    const own = { query: async () => ({ rows: [], rowCount: 0 }) };
    const { inserts, end } = await inside((ctx) => ctx.enqueue(child, { n: 1 }, { tx: own }));
    expect(inserts).toEqual([own]);
    expect(end).toMatchObject({ children: [] });
  });
});

describe("ctx.batches counts", () => {
  const counted = async (batch: BatchResult) => {
    const { measured } = await inside((ctx) => ctx.batches({ size: 1, maxIterations: 1 }, async () => batch));
    return measured
      .filter(({ name }) => name.startsWith("scheduler.items."))
      .map(({ name, value }) => `${name.slice("scheduler.items.".length)} ${value}`);
  };
  test.each<[number, number, number, boolean, readonly string[]]>([
    [0, 0, 0, false, []],
    [0, 0, 0, true, []],
    [1, 1, 0, false, ["processed 1", "succeeded 1"]],
    [1, 0, 1, false, ["processed 1", "succeeded 0", "failed 1"]],
    [0, 0, 1, false, ["processed 0", "succeeded 0", "failed 1"]],
    [2, 2, 0, true, ["processed 2", "succeeded 2", "left 1"]],
    [3, 1, 2, true, ["processed 3", "succeeded 1", "failed 2", "left 1"]],
  ])("%s processed, %s succeeded, %s failed, more %s", async (processed, succeeded, failed, hasMore, values) => {
    expect(await counted({ processed, succeeded, failed, hasMore })).toEqual(values);
  });
});

describe("ctx.pages", () => {
  test.each([1, 2, 5])("of at most %s asks for no page more", async (maxPages) => {
    const cursors: (number | null)[] = [];
    const { value } = await inside((ctx) =>
      ctx.pages(
        async (cursor: number | null) => {
          cursors.push(cursor);
          return (cursor ?? 0) + 1;
        },
        { maxPages },
      ),
    );
    expect(value).toEqual({ pages: maxPages, hasMore: true });
    expect(cursors).toEqual([null, 1, 2, 3, 4].slice(0, maxPages));
  });
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

test("ctx.withLock answers when its lock is free again: a function may be frozen right after its handler", async () => {
  const seen: string[] = [];
  const work = async (ctx: Context): Promise<void> => {
    await ctx.withLock("ledger", { ttl: "30s" }, async () => void seen.push("worked"));
    seen.push("answered");
  };
  await inside(work, { released: async () => setImmediate().then(() => void seen.push("free")) });
  expect(seen).toEqual(["worked", "free", "answered"]);
});
