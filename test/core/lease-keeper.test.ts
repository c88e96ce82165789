import { describe, expect, test } from "vitest";
import { Interruption } from "../../src/core/work/interruption.ts";
import { createLeaseKeeper, type LeaseKeeper } from "../../src/core/work/lease-keeper.ts";
import { contractLimits } from "../../src/core/job/contract-limits.ts";
import type { Claimed, AttemptProgress, Store } from "../../src/core/ports/ports.ts";
import { aClaimed } from "./rows.ts";
import { world, type World } from "./world.ts";

const leaseMs = 30_000;
const thirdMs = leaseMs / contractLimits.heartbeatsPerLease;

const job = (id: number, over: Partial<Claimed> = {}): Claimed => aClaimed(String(id), { leaseMs, ...over });

interface Beats {
  readonly ports: World;
  readonly heart: LeaseKeeper;
  /** What each heartbeat asked for, and when. */
  readonly asked: { readonly atMs: number; readonly held: readonly AttemptProgress[] }[];
}

/** A heart over a store that answers heartbeats with `answer`, by default that all is still held. */
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
  return { ports, heart: createLeaseKeeper(ports, "worker-1"), asked };
}

const whyOf = (signal: AbortSignal): string | null =>
  signal.aborted && signal.reason instanceof Interruption ? signal.reason.why : null;

describe("the leases of running jobs", () => {
  test("are extended every third of the lease, all in one call, until they are dropped", async () => {
    const { ports, heart, asked } = beats();
    heart.hold(job(1));
    heart.hold(job(2));
    await ports.clock.advance(2 * thirdMs);
    expect(asked.map((renew) => renew.atMs)).toEqual([thirdMs, 2 * thirdMs]);
    expect(asked[0]?.held.map((each) => each.jobId)).toEqual(["1", "2"]);
    heart.drop(job(1));
    await ports.clock.advance(thirdMs);
    expect(asked.at(-1)?.held.map((each) => each.jobId)).toEqual(["2"]);
    heart.drop(job(2));
    expect(ports.clock.pending()).toBe(0);
  });

  test("of jobs that begin at different times are extended in time for the shortest", async () => {
    const { ports, heart, asked } = beats();
    heart.hold(job(1, { leaseMs: 3_600_000 }));
    await ports.clock.advance(1_000);
    heart.hold(job(2));
    await ports.clock.advance(leaseMs);
    const times = asked.filter((renew) => renew.held.some((each) => each.jobId === "2")).map((renew) => renew.atMs);
    expect(times[0]).toBeLessThanOrEqual(1_000 + thirdMs);
    expect(times).toHaveLength(contractLimits.heartbeatsPerLease);
  });

  test("a slow answer does not pile up calls", async () => {
    const { ports, heart, asked } = beats(() => new Promise(() => {}));
    heart.hold(job(1));
    await ports.clock.advance(10 * leaseMs);
    expect(asked).toHaveLength(1);
  });

  test("carry progress at once, at most one a second, the newest", async () => {
    const { ports, heart, asked } = beats();
    heart.hold(job(1));
    heart.progress(job(1), 0.25);
    await ports.clock.advance(0);
    for (const progress of [0.5, 0.6, 0.75]) heart.progress(job(1), progress);
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
    const { ports, heart, asked } = beats();
    heart.hold(job(1));
    heart.progress(job(1), 0.25);
    await ports.clock.advance(0);
    heart.progress(job(1), 1);
    await heart.flush(job(1));
    expect(asked.map(({ held }) => held[0]?.progress)).toEqual([0.25, 1]);
  });
});

describe("a handler is told", () => {
  test("that its job is lost when the store no longer knows it as held, and the others go on", async () => {
    const { ports, heart } = beats(async (held) => held.filter((each) => each.jobId !== "1"));
    heart.hold(job(1));
    heart.hold(job(2));
    const signals = [heart.holdOf(job(1)).signal, heart.holdOf(job(2)).signal];
    await ports.clock.advance(thirdMs);
    expect(signals.map(whyOf)).toEqual(["lost", null]);
  });

  test("that its attempt is lost although the same worker runs the next attempt of that job", async () => {
    const { ports, heart } = beats(async (held) => held.filter((each) => each.attempt === 2));
    heart.hold(job(1));
    heart.hold(job(1, { attempt: 2 }));
    const signals = [heart.holdOf(job(1)).signal, heart.holdOf(job(1, { attempt: 2 })).signal];
    await ports.clock.advance(thirdMs);
    expect(signals.map(whyOf)).toEqual(["lost", null]);
  });

  test("that its lease lapsed when no heartbeat got through for all of it", async () => {
    const { ports, heart } = beats(() => Promise.reject(new Error("no connection")));
    heart.hold(job(1));
    const signal = heart.holdOf(job(1)).signal;
    await ports.clock.advance(leaseMs - 1);
    expect(whyOf(signal)).toBeNull();
    await ports.clock.advance(1);
    expect(whyOf(signal)).toBe("lapsed");
  });

  test.each([
    ["claimed at the worker's start", 0],
    ["claimed long after it", 5 * leaseMs],
  ])("that its lease lapsed when a heartbeat does not answer for all of it, %s", async (_, afterMs) => {
    const { ports, heart } = beats(() => new Promise(() => {}));
    await ports.clock.advance(afterMs);
    heart.hold(job(1));
    const signal = heart.holdOf(job(1)).signal;
    await ports.clock.advance(leaseMs - 1);
    expect(whyOf(signal)).toBeNull();
    await ports.clock.advance(1);
    expect(whyOf(signal)).toBe("lapsed");
  });

  test("nothing while heartbeats fail for less than a lease", async () => {
    let failures = 2;
    const { ports, heart } = beats(async (held) => {
      if (failures-- > 0) throw new Error("no connection");
      return held;
    });
    heart.hold(job(1));
    const signal = heart.holdOf(job(1)).signal;
    await ports.clock.advance(3 * leaseMs);
    expect(signal.aborted).toBe(false);
  });

  test("to stop, and so is one whose job is claimed while the worker stops", () => {
    const { heart } = beats();
    heart.hold(job(1));
    const first = heart.holdOf(job(1)).signal;
    heart.interruptAll(new Interruption("stopped"), 5_000);
    heart.hold(job(2));
    expect([first, heart.holdOf(job(2)).signal].map(whyOf)).toEqual(["stopped", "stopped"]);
  });

  test("nothing any more, if it asks for a job that was never held", () => {
    expect(whyOf(beats().heart.holdOf(job(9)).signal)).toBe("lost");
  });

  test("a worker gives up on handlers that still run after the grace", async () => {
    const { ports, heart } = beats();
    const left: string[] = [];
    for (const id of [1, 2]) {
      heart.hold(job(id));
      heart.holdOf(job(id)).leave = () => left.push(String(id));
    }
    heart.interruptAll(new Interruption("stopped"), 5_000);
    await ports.clock.advance(4_999);
    expect(left).toEqual([]);
    heart.holdOf(job(2)).leave = null;
    await ports.clock.advance(1);
    expect(left).toEqual(["1"]);
  });
});
