import { expect, test } from "vitest";
import { explanationOf } from "../../src/api/explained.ts";
import type { ApiOptions } from "../../src/api/options.ts";
import type { Bounds } from "../../src/api/scope.ts";
import type { JobId, JobView } from "../../src/machine/job.ts";
import { insightStub } from "../support/insight-stub.ts";

const now = Date.parse("2026-11-23T12:00:00Z");
const lane: Bounds = { kinds: new Set(["mail"]), hasLane: (name) => name === "slow" };

test("what a job waits for is named to a caller only where it lies within its scope, and its slot is looked up by its key", async () => {
  const slots: (string | null)[] = [];
  const options = (facts: object | null, job: JobView) =>
    ({
      ports: { store: { job: () => Promise.resolve(job) } },
      insight: insightStub({
        waiting: () => facts,
        records: () => [
          { id: "7", kind: "mail" },
          { id: "8", kind: "pay" },
        ],
        slot: (key: string) => (slots.push(key), [{ key, holders: [] }]),
      }),
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
    now,
    failedFirst: null,
    started: null,
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
    (await explanationOf(options(facts, job(of)), "1" as JobId, within))?.waitsFor;
  expect(await waitsFor(null)).toEqual(["7", "8", "9"]);
  expect(await waitsFor(lane)).toEqual(["7"]);
  expect(slots).toEqual([]);
  await waitsFor(null, { slotKeys: ["cap:a", "lock:b"] });
  await waitsFor(null, { heldOn: "cap:c", slotKeys: ["lock:b"] });
  expect(slots).toEqual(["lock:b", "cap:c"]);
  expect(await explanationOf(options(null, job({})), "1" as JobId, null)).toBeNull();
});
