import { describe, expect, test } from "vitest";
import type { SettledJob } from "../../src/core/define/context.ts";
import { defineJob } from "../../src/core/define/define-job.ts";
import type { Outcome } from "../../src/core/job/decide.ts";
import type { JobId } from "../../src/core/job/job.ts";
import { noAftermath, StoreAway, type Store, type StoreTx } from "../../src/core/ports/ports.ts";
import { createSettler, toSettlement, type Settler } from "../../src/core/work/settler.ts";
import { workerLimits } from "../../src/core/work/worker-limits.ts";
import { aClaimed, aTaskOf } from "./rows.ts";
import { registryFor, sum, world } from "./world.ts";

const success: Outcome = { is: "success", result: null };
const away = new StoreAway("stopped");
const broken = new Error("22021");

interface Call {
  readonly ids: readonly string[];
  readonly to: readonly string[];
  readonly atMs: number;
  readonly isHooked: boolean;
}

/** Kinds: `plain` has no hook, `hooked` has `hook`. Every settle is written unless `fault` throws. */
function settling(
  fault: (call: number, ids: readonly string[]) => void,
  hook: (settled: SettledJob) => void = () => {},
) {
  const calls: Call[] = [];
  const ports = world((base) => {
    const settle: Store["settle"] = async (settlements, { inSameTransaction }) => {
      const ids = settlements.map(({ jobId }) => jobId);
      const to = settlements.map((each) => each.to);
      calls.push({ ids, to, atMs: base.clock.elapsedMs(), isHooked: inSameTransaction !== undefined });
      fault(calls.length, ids);
      const rows = settlements.map(({ jobId, to: state, errorCode, errorMessage, attempt }) => {
        return { jobId, kind: "hooked", payload: null, state, attempt, errorCode, errorMessage };
      });
      await inSameTransaction?.({ brokenBy: null } as StoreTx, rows);
      return { settled: ids, conflicts: 0, aftermath: noAftermath };
    };
    return { store: Object.assign({}, base.store, { settle }) };
  });
  const registry = registryFor(
    defineJob({ id: "plain", run: () => {} }),
    defineJob({ id: "hooked", run: () => {}, onSettled: async (_, settled) => hook(settled) }),
  );
  const settler = createSettler(ports, registry, { worker: "worker-1", lane: "default", stage: "test" });
  return { ports, registry, settler, calls };
}

/** Settles successes of these ids together, and lets time pass. @returns what is known of each. */
async function settled(
  { settler, ports }: { settler: Settler; ports: ReturnType<typeof world> },
  ids: readonly string[],
  { kind = "plain", untilMs = 60_000, passMs = 100_000 } = {},
): Promise<readonly boolean[]> {
  settler.expect(ids.length);
  const all = ids.map((id) => settler.settle(aClaimed(id, { kind }), success, { children: [], untilMs }));
  await ports.clock.advance(passMs);
  return Promise.all(all);
}

describe("writes of a group", () => {
  test("begin a moment after the first of its jobs ended, however many end in between", async () => {
    const { settler, ports, calls } = settling(() => {});
    settler.expect(9);
    for (let id = 1; id <= 4; id += 1) {
      void settler.settle(aClaimed(String(id), { kind: "plain" }), success, { children: [], untilMs: 60_000 });
      await ports.clock.advance(workerLimits.settleGatherMs - 1);
    }
    expect(calls.map(({ ids, atMs }) => [ids, atMs])).toEqual([
      [["1", "2"], 5],
      [["3", "4"], 13],
    ]);
  });

  test("that succeed are known of each, and take no hook where no kind has one", async () => {
    const rig = settling(() => {});
    expect(await settled(rig, ["1", "2"])).toEqual([true, true]);
    expect(rig.calls).toEqual([{ ids: ["1", "2"], to: ["SUCCESS", "SUCCESS"], atMs: 0, isHooked: false }]);
  });

  test("take the hook at the first try where a kind has one", async () => {
    const seen: string[] = [];
    const rig = settling(
      () => {},
      ({ jobId, outcome }) => void seen.push(`${jobId} ${outcome}`),
    );
    expect(await settled(rig, ["1", "2"], { kind: "hooked" })).toEqual([true, true]);
    expect(rig.calls.map(({ isHooked }) => isHooked)).toEqual([true]);
    expect(seen).toEqual(["1 success", "2 success"]);
  });

  test("that the store's outage outlives are known of none, and are not tried one by one", async () => {
    const rig = settling(() => {
      throw away;
    });
    expect(await settled(rig, ["1", "2"], { untilMs: 700 })).toEqual([false, false]);
    expect(rig.calls.map(({ ids, atMs }) => [atMs, ...ids])).toEqual([
      [0, "1", "2"],
      [200, "1", "2"],
      [600, "1", "2"],
    ]);
    expect(sum(rig.ports.measured, "job.settle.unwritten")).toBe(2);
  });

  test("that fail for another reason are written one by one; one that still fails is known as unknown", async () => {
    const rig = settling((_, ids) => {
      if (ids.includes("2")) throw broken;
    });
    expect(await settled(rig, ["1", "2", "3"])).toEqual([true, false, true]);
    expect(rig.calls.map(({ ids, atMs }) => [atMs, ...ids])).toEqual([
      [0, "1", "2", "3"],
      [0, "1"],
      [0, "2"],
      [200, "2"],
      [600, "2"],
      [600, "3"],
    ]);
    expect(sum(rig.ports.measured, "job.on_settled.failed")).toBe(0);
  });

  test("of one alone wait 200 ms and then 400 ms before they are repeated", async () => {
    const rig = settling((call) => {
      if (call < 3) throw broken;
    });
    expect(await settled(rig, ["1"])).toEqual([true]);
    expect(rig.calls.map(({ atMs }) => atMs)).toEqual([0, 200, 600]);
  });

  test("that are repeated end with the invocation when the store goes away in between", async () => {
    const rig = settling((call) => {
      throw call === 1 ? broken : away;
    });
    expect(await settled(rig, ["1"], { untilMs: 1_000 })).toEqual([false]);
    const times = rig.calls.map(({ atMs }) => atMs);
    expect(times).toEqual([0, 200, 400, 800, 1_200]);
    expect(sum(rig.ports.measured, "job.settle.unwritten")).toBe(2);
  });

  test("are none when every job of the group was withdrawn", async () => {
    const rig = settling(() => {});
    rig.settler.expect(2);
    await rig.settler.withdraw();
    await rig.settler.withdraw();
    await rig.ports.clock.advance(1_000);
    expect(rig.calls).toEqual([]);
  });
});

describe("a hook that fails", () => {
  test.each<[string, unknown, string]>([
    ["an error", new Error("log table is full"), "log table is full"],
    ["a text", "log table is full", "log table is full"],
    ["nothing", undefined, "undefined"],
    ["a number", 7, "7"],
  ])("with %s makes the success a failed attempt with that message, written at once", async (_, thrown, message) => {
    const seen: (readonly [string, string | undefined])[] = [];
    const rig = settling(
      () => {},
      ({ outcome, error }) => {
        seen.push([outcome, error?.message]);
        if (outcome === "success") throw thrown;
      },
    );
    expect(await settled(rig, ["1"], { kind: "hooked" })).toEqual([true]);
    expect(rig.calls.map(({ to, atMs }) => [atMs, ...to])).toEqual([
      [0, "SUCCESS"],
      [0, "RETRY_WAIT"],
    ]);
    expect(seen).toEqual([
      ["success", undefined],
      ["retry", message],
    ]);
    expect(sum(rig.ports.measured, "job.on_settled.failed", "hooked")).toBe(1);
  });

  test("twice is left out of the third write", async () => {
    const rig = settling(
      () => {},
      () => {
        throw broken;
      },
    );
    expect(await settled(rig, ["1"], { kind: "hooked" })).toEqual([true]);
    expect(rig.calls.map(({ to, isHooked }) => [...to, isHooked])).toEqual([
      ["SUCCESS", true],
      ["RETRY_WAIT", true],
      ["RETRY_WAIT", false],
    ]);
  });
});

describe("the settlement of an attempt", () => {
  const failed: Outcome = { is: "retryable", code: "BUSY", message: "busy", afterMs: null };
  const of = (kind: string, outcome: Outcome, run = false, maxAttempts = 4) => {
    const inRun = aTaskOf("1");
    const job = aClaimed("7", { kind, attempt: 3, failures: 1, maxAttempts, ...(run ? { run: inRun } : {}) });
    const { ports, registry } = settling(() => {});
    return { ...toSettlement(ports, registry, job, { outcome, children: [] }), lines: ports.lines };
  };

  test("of a kind that this release does not define waits as by default: doubled from 1 s, with jitter", () => {
    // The chance of this world is 0.5, which is three quarters of 2 s.
    expect(of("gone", failed)).toMatchObject({ to: "RETRY_WAIT", delayMs: 1_500, errorCode: "BUSY", lines: [] });
    const ambiguous = of("gone", { is: "ambiguous", code: "AMBIGUOUS", message: "sent" });
    expect(ambiguous).toMatchObject({ to: "RETRY_WAIT", delayMs: 1_500, lines: [] });
  });

  test("counts the attempts that the job was made with, whatever its definition allows by now", () => {
    expect(of("plain", failed, false, 2)).toMatchObject({ to: "FAILED", errorCode: "BUSY" });
    expect(of("plain", failed, false, 3)).toMatchObject({ to: "RETRY_WAIT" });
  });

  test("names its attempt, and whether it belongs to a run", () => {
    expect(of("plain", success)).toMatchObject({ jobId: "7" as JobId, attempt: 3, inRun: false, to: "SUCCESS" });
    expect(of("plain", success, true)).toMatchObject({ jobId: "7" as JobId, attempt: 3, inRun: true });
  });
});
