import { describe, expect, test } from "vitest";
import { createLeaseKeeper, Interruption, type LeaseKeeper } from "../../src/run/lease-keeper.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import type { Claimed, AttemptProgress, Store } from "../../src/machine/store.ts";
import { workerLimits } from "../../src/run/worker-limits.ts";
import { aClaimed } from "./rows.ts";
import { gate, world, type World } from "./world.ts";

const leaseMs = 30_000;
const thirdMs = leaseMs / contractLimits.heartbeatsPerLease;

const job = (id: number, over: Partial<Claimed> = {}): Claimed => aClaimed(String(id), { leaseMs, ...over });

interface Beats {
  readonly ports: World;
  readonly keeper: LeaseKeeper;
  /** What each heartbeat asked for, and when. */
  readonly asked: { readonly atMs: number; readonly held: readonly AttemptProgress[] }[];
}

/** A lease keeper over a store that answers heartbeats with `answer`, by default that all is still held. */
function beats(
  answer: (held: readonly AttemptProgress[]) => Promise<readonly AttemptProgress[]> = async (held) => held,
): Beats {
  const asked: Beats["asked"] = [];
  const ports = world((base) => {
    const heartbeat: Store["heartbeat"] = (held) => {
      asked.push({ atMs: base.clock.elapsedMs(), held });
      return answer(held);
    };
    return { store: Object.assign({}, base.store, { heartbeat }) };
  });
  return { ports, keeper: createLeaseKeeper(ports, "worker-1"), asked };
}

const whyOf = (signal: AbortSignal): string | null =>
  signal.aborted && signal.reason instanceof Interruption ? signal.reason.why : null;

describe("the leases of running jobs", () => {
  test("are extended every third of the lease, all in one call, until they are dropped", async () => {
    const { ports, keeper, asked } = beats();
    keeper.hold(job(1));
    keeper.hold(job(2));
    await ports.clock.advance(2 * thirdMs);
    expect(asked.map((renew) => renew.atMs)).toEqual([thirdMs, 2 * thirdMs]);
    expect(asked[0]?.held.map((each) => each.jobId)).toEqual(["1", "2"]);
    keeper.drop(job(1));
    await ports.clock.advance(thirdMs);
    expect(asked.at(-1)?.held.map((each) => each.jobId)).toEqual(["2"]);
    keeper.drop(job(2));
    expect(ports.clock.pending()).toBe(0);
  });

  test("of jobs that begin at different times are extended in time for the shortest", async () => {
    const { ports, keeper, asked } = beats();
    keeper.hold(job(1, { leaseMs: 3_600_000 }));
    await ports.clock.advance(1_000);
    keeper.hold(job(2));
    await ports.clock.advance(leaseMs);
    const times = asked.filter((renew) => renew.held.some((each) => each.jobId === "2")).map((renew) => renew.atMs);
    expect(times[0]).toBeLessThanOrEqual(1_000 + thirdMs);
    expect(times).toHaveLength(contractLimits.heartbeatsPerLease);
  });

  test("a slow answer does not pile up calls", async () => {
    const { ports, keeper, asked } = beats(() => new Promise(() => {}));
    keeper.hold(job(1));
    await ports.clock.advance(10 * leaseMs);
    expect(asked).toHaveLength(1);
  });

  test("carry progress at once, at most one a second, the newest", async () => {
    const { ports, keeper, asked } = beats();
    keeper.hold(job(1));
    keeper.progress(job(1), 0.25);
    await ports.clock.advance(0);
    for (const progress of [0.5, 0.6, 0.75]) keeper.progress(job(1), progress);
    await ports.clock.advance(1_000);
    const written = asked.map(({ atMs, held }) => [atMs, held[0]?.progress]);
    expect(written).toEqual([
      [0, 0.25],
      [1_000, 0.75],
    ]);
    await ports.clock.advance(thirdMs);
    expect(asked.map(({ atMs }) => atMs)).toEqual([0, 1_000, 1_000 + thirdMs]);
  });

  test("leave no progress behind when the job ends", async () => {
    const { ports, keeper, asked } = beats();
    keeper.hold(job(1));
    keeper.progress(job(1), 0.25);
    await ports.clock.advance(0);
    keeper.progress(job(1), 1);
    await keeper.flush(job(1));
    expect(asked.map(({ held }) => held[0]?.progress)).toEqual([0.25, 1]);
  });
});

describe("a handler hears", () => {
  test.each([
    ["its job is lost when the store no longer knows it as held, and the others go on", job(2)],
    ["its attempt is lost although the same worker runs the next attempt of that job", job(1, { attempt: 2 })],
  ])("that %s", async (_, kept) => {
    const isKept = (each: AttemptProgress): boolean => each.jobId === kept.jobId && each.attempt === kept.attempt;
    const { ports, keeper } = beats(async (held) => held.filter(isKept));
    for (const each of [job(1), kept]) keeper.hold(each);
    const signals = [job(1), kept].map((each) => keeper.holdOf(each).signal);
    await ports.clock.advance(thirdMs);
    expect(signals.map(whyOf)).toEqual(["lost", null]);
  });

  const refused = () => Promise.reject(new Error("no connection"));
  const unanswered = () => new Promise<never>(() => {});
  test.each([
    ["no heartbeat gets through", refused, 0],
    ["a heartbeat does not answer", unanswered, 0],
    ["a heartbeat does not answer, claimed long after the worker's start", unanswered, 5 * leaseMs],
  ])("that its lease lapsed when for all of it %s", async (_, answer, afterMs) => {
    const { ports, keeper } = beats(answer);
    await ports.clock.advance(afterMs);
    keeper.hold(job(1));
    const signal = keeper.holdOf(job(1)).signal;
    await ports.clock.advance(leaseMs - 1);
    expect(whyOf(signal)).toBeNull();
    await ports.clock.advance(1);
    expect(whyOf(signal)).toBe("lapsed");
  });

  test("nothing any more, if it asks for a job that was never held", () => {
    expect(whyOf(beats().keeper.holdOf(job(9)).signal)).toBe("lost");
  });

  test("a worker gives up on handlers that still run after the grace", async () => {
    const { ports, keeper } = beats();
    const left: string[] = [];
    for (const id of [1, 2]) {
      keeper.hold(job(id));
      keeper.holdOf(job(id)).leave = () => left.push(String(id));
    }
    keeper.interruptAll(new Interruption("stopped"), 5_000);
    await ports.clock.advance(4_999);
    expect(left).toEqual([]);
    keeper.holdOf(job(2)).leave = null;
    await ports.clock.advance(1);
    expect(left).toEqual(["1"]);
  });
});

describe("leases of different lengths", () => {
  /** When each of these jobs is interrupted, and why, looked at every 100 ms. */
  async function interruptions({ ports, keeper }: Beats, ids: readonly number[], untilMs: number) {
    const seen: Record<string, unknown> = {};
    while (ports.clock.elapsedMs() < untilMs) {
      await ports.clock.advance(100);
      for (const id of ids) {
        const why = keeper.holdOf(job(id)).interruption?.why;
        if (why !== undefined) seen[id] ??= [ports.clock.elapsedMs(), why];
      }
    }
    return seen;
  }
  const silent = (): Promise<never> => new Promise(() => {});

  test("lapse each after its own length while a heartbeat has no answer, and leave no timer", async () => {
    const at = beats(silent);
    at.keeper.hold(job(1));
    at.keeper.hold(job(2, { leaseMs: 60_000 }));
    await at.ports.clock.advance(11_000);
    at.keeper.hold(job(3, { leaseMs: 12_000 }));
    expect(await interruptions(at, [1, 2, 3], 61_000)).toEqual({
      1: [30_000, "lapsed"],
      2: [60_000, "lapsed"],
      3: [23_000, "lapsed"],
    });
    await at.ports.clock.advance(60_000);
    expect(at.ports.clock.pending()).toBe(0);
  });

  test("are counted from when the last renewal was sent, not from its late answer", async () => {
    const open = gate();
    let calls = 0;
    const at = beats(async (held) => {
      if (++calls > 1) throw new Error("no connection");
      await open.promise;
      return held;
    });
    at.keeper.hold(job(1));
    await at.ports.clock.advance(14_000);
    open.open();
    expect(await interruptions(at, [1], 50_000)).toEqual({ 1: [40_000, "lapsed"] });
  });

  test("of handlers that end at their own times keep the first interruption of each", async () => {
    const at = beats();
    const ends = { 1: 400, 2: 200, 3: 200, 4: 800 };
    for (const [id, ms] of Object.entries(ends)) {
      at.keeper.hold(job(Number(id)));
      at.keeper.holdOf(job(Number(id))).endAfter(ms, id === "4" ? "deadline" : "timeout");
    }
    expect(await interruptions(at, [1, 2, 3, 4], 2_000)).toEqual({
      1: [400, "timeout"],
      2: [200, "timeout"],
      3: [200, "timeout"],
      4: [800, "deadline"],
    });
    at.keeper.interruptAll(new Interruption("stopped"), 1_000);
    expect(at.keeper.holdOf(job(1)).interruption?.why).toBe("timeout");
  });

  test.each([
    [30_000, workerLimits.heartbeatRetryMs],
    [1_500, 500],
  ])("of %s ms are renewed again soon after a failure, never later than without it", async (ofMs, pauseMs) => {
    let failures = 1;
    const { ports, keeper, asked } = beats(async (held) => {
      if (failures-- > 0) throw new Error("no connection");
      return held;
    });
    keeper.hold(job(1, { leaseMs: ofMs }));
    await ports.clock.advance(ofMs / 3 + pauseMs);
    expect(asked.map(({ atMs }) => atMs)).toEqual([ofMs / 3, ofMs / 3 + pauseMs]);
  });
});
