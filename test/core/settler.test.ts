import { workerLimits } from "../../src/run/worker-limits.ts";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { SettledJob } from "../../src/define/context.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { StoreAway, UnknownOutcome } from "../../src/machine/transaction.ts";
import { type Settlement, type Store } from "../../src/machine/store.ts";
import { gate, jobOf, movesOf, shop, sum, world, type World } from "./world.ts";

const at = z.object({ n: z.number() });

interface Watched {
  readonly ports: World;
  /** The settlements of every call, in order. */
  readonly groups: (readonly Settlement[])[];
}

/** Records each settle; `fault` may throw instead, before or after it was written. */
function watching(
  fault: (call: number, write: () => ReturnType<Store["settle"]>) => ReturnType<Store["settle"]>,
): Watched {
  const groups: (readonly Settlement[])[] = [];
  const ports = world((base) => ({
    store: Object.assign({}, base.store, {
      settle: ((settlements, options) => {
        groups.push(settlements);
        return fault(groups.length, () => base.store.settle(settlements, options));
      }) satisfies Store["settle"],
    }),
  }));
  return { ports, groups };
}

const plain = defineJob({ id: "plain", payload: at, run: () => {} });

async function enqueueMany(open: Awaited<ReturnType<typeof shop>>, jobs: number) {
  return Promise.all(Array.from({ length: jobs }, (_, n) => open.enqueue(plain, { n })));
}

describe("settling in groups", () => {
  test("jobs that end together are written in one call, without waiting for company", async () => {
    const { ports, groups } = watching((_, write) => write());
    const open = await shop([plain], ports);
    await enqueueMany(open, 7);
    await open.work();
    expect(groups.map((group) => group.length)).toEqual([7]);
    expect(ports.clock.elapsedMs()).toBe(0);
  });

  test("a job that ends early waits a moment only, not for the slowest", async () => {
    const { ports, groups } = watching((_, write) => write());
    const slow = gate();
    const mixed = defineJob({ id: "mixed", payload: at, run: (p) => (p.n === 0 ? slow.promise : undefined) });
    const open = await shop([mixed], ports);
    const ids = await Promise.all([0, 1, 2].map((n) => open.enqueue(mixed, { n })));
    const batch = open.work();
    await ports.clock.advance(workerLimits.settleGatherMs);
    expect(groups.map((group) => group.length)).toEqual([2]);
    slow.open();
    await ports.clock.settle();
    expect(groups.map((group) => group.length)).toEqual([2, 1]);
    await batch;
    for (const id of ids) expect((await jobOf(ports, id)).state).toBe("SUCCESS");
  });

  test("a job that was canceled, and whose handler returns before it hears of that, keeps its place no longer", async () => {
    const { ports } = watching((_, write) => write());
    const slow = gate();
    const capped = defineJob({
      id: "capped",
      payload: at,
      concurrency: 1,
      run: (p) => (p.n === 0 ? slow.promise : undefined),
    });
    const open = await shop([capped], ports);
    const [first, second] = [await open.enqueue(capped, { n: 0 }), await open.enqueue(capped, { n: 1 })];
    const batch = open.work();
    await ports.clock.settle();
    await ports.store.cancel([first]);
    slow.open();
    await batch;
    await open.work();
    expect([await jobOf(ports, first), await jobOf(ports, second)]).toMatchObject([
      { state: "CANCELED" },
      { state: "SUCCESS" },
    ]);
  });

  test("a group is never larger than the limit", async () => {
    const { ports, groups } = watching((_, write) => write());
    const open = await shop([plain], ports);
    const jobs = workerLimits.settleGroupMax + 3;
    await enqueueMany(open, jobs);
    await open.work({ max: jobs });
    expect(groups.map((group) => group.length)).toEqual([workerLimits.settleGroupMax, 3]);
  });
});

describe("a settle that fails", () => {
  test("with an unknown outcome is repeated as a whole; what was written is not written twice", async () => {
    const { ports, groups } = watching(async (call, write) => {
      const answer = await write();
      if (call === 1) throw new UnknownOutcome("connection broke during commit");
      return answer;
    });
    const open = await shop([plain], ports);
    const ids = await enqueueMany(open, 3);
    const batch = open.work();
    await ports.clock.advance(workerLimits.settleRetryMs);
    expect(await batch).toEqual([]);
    expect(groups.map((group) => group.length)).toEqual([3, 3]);
    for (const id of ids) expect(await movesOf(ports, id)).toEqual([">QUEUED", "QUEUED>RUNNING", "RUNNING>SUCCESS"]);
  });

  test("goes on for the whole invocation while the store is away, and then leaves the job to its lease", async () => {
    let isAway = true;
    const { ports, groups } = watching((_, write) => (isAway ? Promise.reject(new StoreAway("stopped")) : write()));
    const open = await shop([plain], ports);
    const [id] = await enqueueMany(open, 1);
    const endsAtMs = ports.clock.elapsedMs() + 600_000;
    const batch = open.work({ remainingMs: () => endsAtMs - ports.clock.elapsedMs() });
    await ports.clock.advance(60_000);
    isAway = false;
    await ports.clock.advance(workerLimits.settleRetryMsMax);
    expect(await batch).toEqual([]);
    expect(await jobOf(ports, id ?? ("" as never))).toMatchObject({ state: "SUCCESS", attempt: 1, failures: 0 });
    expect(groups.length).toBeLessThan(70);

    isAway = true;
    const [next] = await enqueueMany(open, 1);
    const shortMs = ports.clock.elapsedMs() + 30_000;
    const short = open.work({ remainingMs: () => shortMs - ports.clock.elapsedMs() });
    await ports.clock.advance(30_000);
    expect(await short).toEqual(["m2"]);
    expect((await jobOf(ports, next ?? ("" as never))).state).toBe("RUNNING");
    expect(ports.lines.some((line) => line.message.includes("before the invocation ended"))).toBe(true);
  });

  test("for good gives its message back and leaves the job to its lease", async () => {
    const { ports, groups } = watching(() => Promise.reject(new Error("no database")));
    const open = await shop([plain], ports);
    const [id] = await enqueueMany(open, 1);
    const batch = open.work();
    await ports.clock.advance(10_000);
    expect(await batch).toEqual(["m1"]);
    expect(groups).toHaveLength(workerLimits.settleTriesMax);
    expect((await jobOf(ports, id ?? ("" as never))).state).toBe("RUNNING");
    expect(ports.clock.pending()).toBe(0);
  });

  test("for one of a group does not keep the others from being settled", async () => {
    const { ports } = watching((_, write) => write());
    const faulty: World = {
      ...ports,
      store: Object.assign({}, ports.store, {
        settle: ((settlements, options) => {
          if (settlements.some((each) => each.jobId === "2")) return Promise.reject(new Error("22021"));
          return ports.store.settle(settlements, options);
        }) satisfies Store["settle"],
      }),
    };
    const open = await shop([plain], faulty);
    const ids = await enqueueMany(open, 3);
    const batch = open.work();
    await ports.clock.advance(10_000);
    expect(await batch).toEqual(["m2"]);
    const states = await Promise.all(ids.map(async (each) => (await jobOf(ports, each)).state));
    expect(states).toEqual(["SUCCESS", "RUNNING", "SUCCESS"]);
  });
});

describe("onSettled", () => {
  const calls: SettledJob[] = [];
  const logged = (run: () => Promise<void> | void, hook: (settled: SettledJob) => void = () => {}) =>
    defineJob({
      id: "logged",
      payload: at,
      retry: { maxAttempts: 2 },
      run,
      async onSettled(payload, settled, tx) {
        calls.push(settled);
        await tx.query(`log ${payload.n} ${settled.outcome}`);
        hook(settled);
      },
    });
  const fail = (): never => {
    throw new Error("always");
  };
  const written = (ports: World) => ports.store.tables.effects.rows.map((row) => row.text);

  test("writes its row in the transaction of each outcome, and knows whether it is the last", async () => {
    calls.length = 0;
    const job = logged(() => Promise.reject(new Error("busy")));
    const open = await shop([job]);
    const id = await open.enqueue(job, { n: 7 });
    await open.work();
    await open.world.clock.advance(60_000);
    await open.work();
    expect((await jobOf(open.world, id)).state).toBe("FAILED");
    expect(written(open.world)).toEqual(["log 7 FAILED", "log 7 FAILED"]);
    expect(calls.map(({ outcome, final, attempt, error }) => ({ outcome, final, attempt, error }))).toEqual([
      { outcome: "FAILED", final: false, attempt: 1, error: { code: "Error", message: "busy" } },
      { outcome: "FAILED", final: true, attempt: 2, error: { code: "Error", message: "busy" } },
    ]);
  });

  test.each([
    [new Error("log table is full"), "log table is full"],
    [undefined, "undefined"],
  ])(
    "that throws %s makes a success a failed try: what is not recorded did not happen",
    async (thrown, errorMessage) => {
      const job = logged(
        () => {},
        (settled) => {
          if (settled.outcome === "SUCCESS") throw thrown;
        },
      );
      const open = await shop([job]);
      const id = await open.enqueue(job, { n: 1 });
      expect(await open.work()).toEqual([]);
      expect(await jobOf(open.world, id)).toMatchObject({
        state: "QUEUED",
        failures: 1,
        errorCode: "ON_SETTLED",
        errorMessage,
      });
      expect(written(open.world)).toEqual(["log 1 FAILED"]);
      expect(sum(open.world.measured, "job.on_settled.failed", "logged")).toBe(1);
    },
  );

  test.each([
    ["its job from ending", () => {}, "ON_SETTLED"],
    ["a failed try's own error from being written", fail, "Error"],
  ])("that fails always does not keep %s", async (_, run, errorCode) => {
    const job = logged(run, fail);
    const open = await shop([job]);
    const id = await open.enqueue(job, { n: 1 });
    for (let round = 0; round < 3; round += 1) {
      const batch = open.work();
      await open.world.clock.advance(60_000);
      await batch;
    }
    expect(await jobOf(open.world, id)).toMatchObject({ state: "FAILED", failures: 2, errorCode });
  });

  test("that fails does not touch its batch mates", async () => {
    const job = logged(() => {}, fail);
    const open = await shop([job, plain]);
    await open.enqueue(job, { n: 1 });
    const mate = await open.enqueue(plain, { n: 2 });
    const batch = open.work();
    await open.world.clock.advance(10_000);
    await batch;
    expect(await jobOf(open.world, mate)).toMatchObject({ state: "SUCCESS", failures: 0 });
  });
});
