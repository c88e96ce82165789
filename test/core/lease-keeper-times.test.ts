import { describe, expect, test } from "vitest";
import type { AttemptProgress, Claimed, Store } from "../../src/core/ports/ports.ts";
import { Interruption } from "../../src/core/work/interruption.ts";
import { createLeaseKeeper } from "../../src/core/work/lease-keeper.ts";
import { workerLimits } from "../../src/core/work/worker-limits.ts";
import { aClaimed } from "./rows.ts";
import { gate, world } from "./world.ts";

type Answer = (held: readonly AttemptProgress[], call: number) => Promise<readonly AttemptProgress[]>;
const away = (): Promise<never> => Promise.reject(new Error("no connection"));
const silent = (): Promise<never> => new Promise(() => {});
const job = (id: number, leaseMs = 30_000): Claimed => aClaimed(String(id), { leaseMs });

/** A lease keeper, and what its heartbeats asked for and when. */
function keeper(answer: Answer = async (held) => held) {
  const asked: { readonly atMs: number; readonly held: readonly AttemptProgress[] }[] = [];
  const ports = world((base) => {
    const heartbeat: Store["heartbeat"] = (held) => {
      asked.push({ atMs: base.clock.elapsedMs(), held });
      return answer(held, asked.length);
    };
    return { store: Object.assign({}, base.store, { heartbeat }) };
  });
  const leases = createLeaseKeeper(ports, "worker-1");
  const { clock } = ports;
  /** When each of these is interrupted, and why: asked every 100 ms. */
  const interruptions = async (jobs: readonly Claimed[], untilMs: number): Promise<Record<string, unknown>> => {
    const seen: Record<string, unknown> = {};
    while (clock.elapsedMs() < untilMs) {
      await clock.advance(100);
      for (const each of jobs) {
        const why = leases.holdOf(each).interruption?.why;
        if (why !== undefined) seen[each.jobId] ??= [clock.elapsedMs(), why];
      }
    }
    return seen;
  };
  return { leases, asked, clock, interruptions, times: () => asked.map(({ atMs }) => atMs) };
}

describe("heartbeats", () => {
  test("name attempts, and progress only where there is some", async () => {
    const { leases, asked, clock } = keeper();
    leases.hold(job(1));
    leases.hold(job(2));
    leases.progress(job(2), 0);
    await clock.advance(0);
    expect(asked[0]?.held).toStrictEqual([
      { jobId: "1", attempt: 1 },
      { jobId: "2", attempt: 1, progress: 0 },
    ]);
  });

  test("keep the time of a short lease although one of a long lease follows", async () => {
    const { leases, clock, times } = keeper();
    leases.hold(job(1, 30_000));
    leases.hold(job(2, 3_600_000));
    await clock.advance(25_000);
    expect(times()).toEqual([10_000, 20_000]);
  });

  test("go out one at a time: a job that is claimed while one has no answer waits for it", async () => {
    const { leases, clock, times } = keeper(silent);
    leases.hold(job(1));
    await clock.advance(15_000);
    leases.hold(job(2));
    await clock.advance(12_000);
    expect(times()).toEqual([10_000]);
  });

  test.each([
    [30_000, 10_000, workerLimits.heartbeatRetryMs],
    [1_500, 500, 500],
  ])(
    "that fail for a lease of %s ms are repeated soon, and never later than without the failure",
    async (leaseMs, firstMs, pauseMs) => {
      const { leases, clock, times } = keeper((held, call) => (call <= 2 ? away() : Promise.resolve(held)));
      leases.hold(job(1, leaseMs));
      await clock.advance(firstMs + 2 * pauseMs + leaseMs / 3);
      const again = [firstMs, firstMs + pauseMs, firstMs + 2 * pauseMs];
      expect(times()).toEqual([...again, firstMs + 2 * pauseMs + leaseMs / 3]);
    },
  );

  test("that fail slowly are repeated a pause after their end, also when progress came in between", async () => {
    const open = gate();
    const { leases, clock, times } = keeper(async (held, call) => {
      if (call > 1) return held;
      await open.promise;
      return away();
    });
    leases.hold(job(1));
    leases.hold(job(2, 3_600_000));
    await clock.advance(10_100);
    leases.progress(job(2), 0.5);
    await clock.advance(300);
    open.open();
    await clock.advance(2_000);
    expect(times()).toEqual([10_000, 10_400 + workerLimits.heartbeatRetryMs]);
  });

  test("carry progress that came during the one before as soon as progress may be written again", async () => {
    const open = gate();
    const { leases, asked, clock } = keeper(async (held, call) => {
      if (call === 1) await open.promise;
      return held;
    });
    leases.hold(job(1));
    await clock.advance(10_100);
    leases.progress(job(1), 0.5);
    await clock.advance(200);
    open.open();
    await clock.advance(2_000);
    expect(asked.map(({ atMs, held }) => [atMs, held[0]?.progress])).toEqual([
      [10_000, undefined],
      [10_000 + workerLimits.progressIntervalMs, 0.5],
    ]);
  });

  test("do not go out for progress that is written already", async () => {
    const { leases, clock, times } = keeper();
    leases.hold(job(1));
    leases.progress(job(1), 0.25);
    await clock.advance(5_000);
    leases.progress(job(1), 0.25);
    await clock.advance(4_000);
    expect(times()).toEqual([0]);
  });

  test("leave no timer when the last job ends during one", async () => {
    const open = gate();
    const { leases, clock } = keeper(async (held) => {
      await open.promise;
      return held;
    });
    leases.hold(job(1));
    await clock.advance(10_000);
    leases.drop(job(1));
    open.open();
    await clock.settle();
    expect(clock.pending()).toBe(0);
  });

  test("are not sent for a job that is not held, nor by a flush without news", async () => {
    const { leases, clock, asked } = keeper();
    leases.progress(job(9), 0.5);
    await leases.flush(job(9));
    expect([asked, clock.pending()]).toEqual([[], 0]);
    leases.hold(job(1));
    await leases.flush(job(1));
    leases.progress(job(1), 0.5);
    await clock.advance(0);
    await leases.flush(job(1));
    expect(asked).toHaveLength(1);
  });

  test("of a flush that fail are no error", async () => {
    const { leases, asked } = keeper(away);
    leases.hold(job(1));
    leases.progress(job(1), 0.5);
    await leases.flush(job(1));
    expect(asked).toHaveLength(1);
  });
});

describe("a handler's time", () => {
  test("ends for each at its own moment, in whatever order they began", async () => {
    const { leases, interruptions } = keeper();
    const jobs = [1, 2, 3, 4, 5].map((id) => job(id));
    for (const each of jobs) leases.hold(each);
    for (const [index, ms] of [400, 200, 600, 800].entries())
      leases.holdOf(jobs[index] ?? job(9)).endAfter(ms, index === 3 ? "deadline" : "timeout");
    expect(await interruptions(jobs, 5_000)).toEqual({
      1: [400, "timeout"],
      2: [200, "timeout"],
      3: [600, "timeout"],
      4: [800, "deadline"],
    });
  });

  test("ends those of one moment together, and leaves no timer for more", async () => {
    const { leases, clock, interruptions } = keeper();
    const jobs = [job(1), job(2), job(3)];
    for (const each of jobs) leases.hold(each);
    leases.holdOf(job(1)).endAfter(200, "timeout");
    leases.holdOf(job(2)).endAfter(200, "timeout");
    expect(await interruptions(jobs, 2_000)).toEqual({ 1: [200, "timeout"], 2: [200, "timeout"] });
    // What is left is the next heartbeat.
    expect(clock.pending()).toBe(1);
  });

  test("sets no timer again for a handler that was interrupted before", async () => {
    const { leases, clock, interruptions } = keeper(async (held) => held.filter(({ jobId }) => jobId !== "1"));
    const jobs = [job(1), job(2)];
    for (const each of jobs) leases.hold(each);
    leases.holdOf(job(1)).endAfter(19_000, "timeout");
    leases.holdOf(job(2)).endAfter(15_000, "timeout");
    expect(await interruptions(jobs, 17_000)).toEqual({ 1: [10_000, "lost"], 2: [15_000, "timeout"] });
    expect(clock.pending()).toBe(1);
  });

  test("keeps its first interruption, for its signal and for its row", async () => {
    const { leases, clock } = keeper();
    leases.hold(job(1));
    const hold = leases.holdOf(job(1));
    hold.endAfter(100, "timeout");
    await clock.advance(100);
    leases.interruptAll(new Interruption("stopped"), 1_000);
    expect([hold.interruption?.why, hold.signal.reason]).toEqual(["timeout", hold.interruption]);
  });
});

describe("while a heartbeat has no answer", () => {
  test("each lease lapses after its own length, the shortest of them too", async () => {
    const { leases, interruptions } = keeper(silent);
    const jobs = [job(1, 3_600_000), job(2, 30_000), job(3, 60_000)];
    for (const each of jobs) leases.hold(each);
    expect(await interruptions(jobs, 61_000)).toEqual({ 2: [30_000, "lapsed"], 3: [60_000, "lapsed"] });
  });

  test("a lease is counted from when the last renewal was sent, not from its late answer", async () => {
    const open = gate();
    const { leases, clock, interruptions } = keeper(async (held, call) => {
      if (call > 1) return away();
      await open.promise;
      return held;
    });
    leases.hold(job(1));
    await clock.advance(14_000);
    open.open();
    expect(await interruptions([job(1)], 50_000)).toEqual({ 1: [40_000, "lapsed"] });
  });

  test("no timer goes on once every handler is interrupted", async () => {
    const { leases, clock } = keeper(silent);
    leases.hold(job(1));
    leases.hold(job(2));
    await clock.advance(30_000 + workerLimits.abortGraceMs);
    expect([1, 2].map((id) => leases.holdOf(job(id)).interruption?.why)).toEqual(["lapsed", "lapsed"]);
    expect(clock.pending()).toBe(0);
  });

  test("a lease lapses at its end, although the heartbeat that has no answer began between two thirds of it", async () => {
    const { leases, interruptions } = keeper(async (held, call) => (call === 1 ? held : await silent()));
    const [first, second] = [job(1), job(2, 24_000)];
    leases.hold(first);
    leases.hold(second);
    expect(await interruptions([first, second], 60_000)).toEqual({ 1: [38_000, "lapsed"], 2: [32_000, "lapsed"] });
  });

  test("a short lease that was taken after it began is looked at, too, within a third of the shortest before", async () => {
    const { leases, clock, interruptions } = keeper(silent);
    leases.hold(job(1, 3_600_000));
    leases.hold(job(2, 30_000));
    await clock.advance(11_000);
    leases.hold(job(3, 12_000));
    expect(await interruptions([job(3, 12_000)], 40_000)).toEqual({ 3: [23_000, "lapsed"] });
  });
});
