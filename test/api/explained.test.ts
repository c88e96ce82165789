import { expect, test } from "vitest";
import { explained } from "../../src/api/explained.ts";
import type { ApiOptions } from "../../src/api/options.ts";
import { workersSeen, workerStatus } from "../../src/api/workers-seen.ts";
import type { Bounds } from "../../src/api/scope.ts";
import type { JobView } from "../../src/core/job/job.ts";
import { hourMs } from "../../src/core/job/units.ts";
import type { WorkerView } from "../../src/core/ports/overview.ts";

const now = Date.parse("2026-11-23T12:00:00Z");
const lane: Bounds = { kinds: new Set(["mail"]), hasLane: (name) => name === "slow" };

const worker = (of: Partial<WorkerView>): WorkerView => ({
  id: "w",
  lane: "slow",
  version: "1",
  startedAt: now,
  seenAt: now,
  ended: 0,
  failed: 0,
  lost: 0,
  lostAt: null,
  running: [],
  ...of,
});

const running = (leaseUntil: number) =>
  [{ jobId: "1", startedAt: now, beatAt: now, leaseUntil }] as unknown as WorkerView["running"];

test.each<[WorkerView, string]>([
  [worker({}), "idle"],
  [worker({ seenAt: now - 60_000 }), "idle"],
  [worker({ seenAt: now - 60_001 }), "silent"],
  [worker({ running: running(now), seenAt: now - 60_001 }), "busy"],
  [worker({ running: running(now - 1) }), "lost"],
  [worker({ running: [...running(now + 1), ...running(now - 1)] }), "lost"],
])("a worker is what its leases and its last sign say: %#", (view, status) => {
  expect(workerStatus(view, now)).toBe(status);
});

test("workers are those of the last hour, and for a caller with a scope those of its lanes", async () => {
  const asked: number[] = [];
  const all = [worker({ id: "slow" }), worker({ id: "other", lane: "other" }), worker({ id: "unknown", lane: null })];
  const options = {
    operations: { workers: (since: number) => (asked.push(since), Promise.resolve(all)) },
  } as unknown as ApiOptions;
  const ids = async (within: Bounds | null) => (await workersSeen(options, now, within)).map(({ id }) => id);
  expect(await ids(null)).toEqual(["slow", "other", "unknown"]);
  expect(await ids(lane)).toEqual(["slow"]);
  expect(asked).toEqual([now - hourMs, now - hourMs]);
});

test("what a job waits for is named to a caller only where it lies within its scope, and its slot is looked up by its key", async () => {
  const slots: (string | null)[] = [];
  const operations = (facts: object | null) =>
    ({
      operations: {
        waiting: () => Promise.resolve(facts),
        slot: (key: string) => (slots.push(key), Promise.resolve({ cap: 1, holders: [] })),
        jobsById: () =>
          Promise.resolve(
            new Map([
              ["7", { job: { kind: "mail" } }],
              ["8", { job: { kind: "pay" } }],
            ]),
          ),
      },
    }) as unknown as ApiOptions;
  const none = { count: 0, isMore: false };
  const facts = {
    lanePause: null,
    schedule: null,
    openPredecessors: 3,
    predecessors: ["7", "8", "9"],
    ahead: none,
    heldBefore: none,
    runningInLane: none,
    workerSeenAt: now,
    failedFirst: null,
    lastReason: null,
  };
  const job = (of: object) =>
    ({
      id: "1",
      state: "PENDING",
      kind: "mail",
      lane: "slow",
      dueAt: now - 1,
      heldOn: null,
      slotKeys: [],
      blocked: true,
      hold: "none",
      ...of,
    }) as unknown as JobView;
  const waitsFor = async (within: Bounds | null, of: object = {}) =>
    (await explained(operations(facts), { job: job(of), now }, within))?.waitsFor;
  expect(await waitsFor(null)).toEqual(["7", "8", "9"]);
  expect(await waitsFor(lane)).toEqual(["7"]);
  expect(slots).toEqual([]);
  await waitsFor(null, { slotKeys: ["cap:a", "lock:b"] });
  await waitsFor(null, { heldOn: "cap:c", slotKeys: ["lock:b"] });
  expect(slots).toEqual(["lock:b", "cap:c"]);
  expect(await explained(operations(null), { job: job({}), now }, null)).toBeNull();
});
