import { describe, expect, test } from "vitest";
import { defineJob } from "../../src/core/define/define-job.ts";
import type { JobId } from "../../src/core/job/job.ts";
import { reasons } from "../../src/core/job/reasons.ts";
import type { Claimed, Launched, Launcher, TaskLaunch } from "../../src/core/ports/ports.ts";
import { launch, launcherFor, launchWaitMs } from "../../src/core/work/launch.ts";
import type { WorkerScope } from "../../src/core/work/worker-scope.ts";
import { workerLimits } from "../../src/core/work/worker-limits.ts";
import { registryFor, sum, world } from "./world.ts";

const { launchWaitMs: baseMs, launchWaitMsMax: capMs, launchLeaseMs } = workerLimits;
const registry = registryFor(
  defineJob({ id: "here", run: () => {} }),
  defineJob({ id: "elsewhere", runOn: "fargate", run: () => {} }),
  defineJob({ id: "large", runOn: "fargate", size: { cpu: 1024, memoryMb: 4096 }, run: () => {} }),
);

const claimed = (more: Partial<Claimed> = {}): Claimed =>
  ({
    jobId: "7" as JobId,
    kind: "elsewhere",
    attempt: 1,
    failures: 0,
    interruptions: 0,
    trace: "a b/c:d".padEnd(50, "e"),
    ...more,
  }) as Claimed;

/** A worker that may launch, and what it does. */
function yard(answer: () => Launched, { isPaced = false, isStopping = false, isLent = true } = {}) {
  const did: unknown[] = [];
  const launcher: Launcher = {
    async launch(asked: TaskLaunch) {
      did.push(asked);
      return answer();
    },
    stop: async () => {},
    runningSince: async () => 0,
  };
  const ports = world((base) => ({
    launcher,
    crashPoint: async (name: string) => void did.push(name),
    store: Object.assign({}, base.store, {
      extendLease: async (held: object, options: object) => {
        did.push({ ...held, ...options });
        return isLent;
      },
    }),
  }));
  const scope = {
    ports,
    registry,
    options: { worker: "worker-1", stage: "test" },
    launches: { acquire: async () => !isPaced },
    stopping: isStopping ? AbortSignal.abort() : new AbortController().signal,
    leases: { drop: ({ jobId }: Claimed) => void did.push(`drop ${jobId}`) },
  } as unknown as WorkerScope;
  return { scope, launcher, did, ports };
}

const accepted = (): Launched => ({ is: "accepted", task: "t1" });
const full = (): Launched => ({ is: "no-room", reason: "Capacity is unavailable at this time." });
const throwing = (what: unknown) => (): Launched => {
  throw what;
};

describe("a job goes to the launcher", () => {
  test.each([
    ["here", true, false],
    ["elsewhere", true, true],
    ["gone", true, false],
    ["here", false, false],
    ["elsewhere", false, false],
  ])("of kind %s, with a launcher: %s -> %s", (kind, hasLauncher, goes) => {
    const { scope, launcher } = yard(accepted);
    const ports = hasLauncher ? scope.ports : world();
    expect(launcherFor({ ...scope, ports }, claimed({ kind }))).toBe(goes ? launcher : null);
  });
});

describe("a launch", () => {
  test.each([
    ["elsewhere", null],
    ["large", { cpu: 1024, memoryMb: 4096 }],
    ["gone", null],
  ])(
    "of kind %s asks for the size of its definition, and lends the job for as long as a task may take",
    async (kind, size) => {
      const { scope, launcher, did, ports } = yard(accepted);
      expect(await launch(scope, launcher, claimed({ kind }))).toBe(null);
      const clientToken = `7-1-abcd${"e".repeat(28)}`;
      expect(did).toEqual([
        { jobId: "7", attempt: 1, kind, worker: "worker-1", clientToken, size },
        "launched",
        "drop 7",
        { jobId: "7", attempt: 1, worker: "worker-1", leaseMs: launchLeaseMs },
      ]);
      expect(ports.lines.map(({ message }) => message)).toEqual(["task launched"]);
    },
  );

  test("whose task was quicker has nothing left to do", async () => {
    const { scope, launcher, ports } = yard(accepted, { isLent: false });
    expect(await launch(scope, launcher, claimed())).toBe(null);
    expect(ports.lines.map(({ message }) => message)).toEqual([
      "the task was quicker than its worker, or the job was moved",
    ]);
  });

  test("of a worker that stops is none", async () => {
    const { scope, launcher, did } = yard(accepted, { isStopping: true });
    expect(await launch(scope, launcher, claimed())).toEqual({ is: "released", reason: reasons.stopped });
    expect(did).toEqual([]);
  });

  test.each([
    ["an error", new Error("no such task definition"), "no such task definition"],
    ["text", "refused", "refused"],
    ["nothing", undefined, "undefined"],
  ])("that throws %s has failed, and its message says why", async (_, thrown, message) => {
    const { scope, launcher, did, ports } = yard(throwing(thrown));
    expect(await launch(scope, launcher, claimed())).toEqual({
      is: "retryable",
      code: "LAUNCH_FAILED",
      message,
      afterMs: workerLimits.launchRetryMs,
    });
    expect(did).toHaveLength(1);
    expect(sum(ports.measured, "job.launch.failed", "elsewhere")).toBe(1);
  });
});

describe("a launch without room waits longer with each one before it", () => {
  // The world's chance is in the middle: three quarters of the wait.
  test.each([
    [{ attempt: 1 }, 0],
    [{ attempt: 2 }, 1],
    [{ attempt: 3 }, 2],
    [{ attempt: 5, failures: 1 }, 3],
    [{ attempt: 5, interruptions: 1 }, 3],
    [{ attempt: 5, failures: 2, interruptions: 1 }, 1],
    [{ attempt: 5, failures: 2, interruptions: 2 }, 0],
    [{ attempt: 2, failures: 2, interruptions: 2 }, 0],
  ])("of a job with %j: %i before", async (given, before) => {
    const outcome = { is: "postponed", code: "NO_ROOM", counted: false, afterMs: 0.75 * baseMs * 2 ** before };
    const refused = yard(full);
    expect(await launch(refused.scope, refused.launcher, claimed(given))).toEqual({
      ...outcome,
      message: "Capacity is unavailable at this time.",
    });
    const paced = yard(accepted, { isPaced: true });
    expect(await launch(paced.scope, paced.launcher, claimed(given))).toEqual({
      ...outcome,
      message: "too many tasks wait to be launched",
    });
    expect(paced.did).toEqual([]);
    expect(sum(refused.ports.measured, "job.launch.postponed", "elsewhere")).toBe(1);
  });

  test("in the upper half of a wait that doubles up to its bound", () => {
    for (const [before, wholeMs] of [5_000, 10_000, 20_000, 40_000, 80_000, capMs, capMs].entries())
      for (const chance of [0, 0.5, 1]) expect(launchWaitMs(before, chance)).toBe(wholeMs * (0.5 + chance / 2));
  });
});
