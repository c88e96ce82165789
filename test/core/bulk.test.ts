import { describe, expect, test } from "vitest";
import { runBulkPage } from "../../src/core/admin/run-bulk.ts";
import { defineApp } from "../../src/core/define/define-app.ts";
import { defineSchedule } from "../../src/core/define/define-schedule.ts";
import { defineJob } from "../../src/core/define/define-job.ts";
import { registry } from "../../src/core/define/definition.ts";
import type { JobId } from "../../src/core/job/job.ts";
import { noAftermath } from "../../src/core/ports/aftermath.ts";
import type { Bulk } from "../../src/core/ports/bulk.ts";
import type { Operations } from "../../src/core/ports/operations.ts";
import type { Store } from "../../src/core/ports/ports.ts";
import { installDefinitions } from "../../src/core/scheduler/install-schedules.ts";
import { world } from "./world.ts";

const aBulk: Bulk = {
  id: "b",
  action: "retry",
  search: {},
  caller: "ada",
  state: "RUNNING",
  next: "900",
  matched: { count: 3, isMore: false },
  paceMs: 0,
  dueAt: 1_000,
  canary: null,
  changed: 0,
  takenAlong: 0,
  refused: 0,
  createdAt: 0,
  updatedAt: 0,
  finishedAt: null,
};
const wanted = { state: "wanted", jobs: [] } as const;
const ids = (...all: readonly (string | number)[]): readonly JobId[] => all.map((id) => String(id) as JobId);
const left = (lane: string) => ({ ...noAftermath, leftToRelay: [lane] });

interface Given {
  /** The pages of the jobs that match: one for each call, then none. */
  readonly pages?: readonly { readonly ids: readonly JobId[]; readonly next: string | null }[];
  /** Moved by `retry` and `cancel`, of those asked for and beside them. */
  readonly moves?: (asked: readonly JobId[]) => readonly JobId[];
  /** Moved by `retryPaced`. */
  readonly paced?: (asked: readonly JobId[]) => readonly JobId[];
  /** What `sendCanaries` and `advanceBackfill` answer. */
  readonly goesOn?: boolean;
  readonly over?: Partial<Operations>;
}

/** One page of a bulk action: what it asked of the store and of operations, in order. */
async function paged(bulk: Partial<Bulk> | null, given: Given = {}) {
  const { pages = [], moves = (asked) => asked, paced = (asked) => asked, goesOn = true } = given;
  const calls: unknown[][] = [];
  const note = <T>(answer: T, ...call: unknown[]): Promise<T> => (calls.push(call), Promise.resolve(answer));
  let at = 0;
  const operations = {
    takeBulk: (owner: string) => note(bulk === null ? null : { ...aBulk, ...bulk }, "takeBulk", owner),
    bulkPage: ({ search, next }: Bulk, limit: number) =>
      note(pages[at++] ?? { ids: [], next: null }, "bulkPage", search, next, limit),
    advanceBulk: (_id: string, _owner: string, page: object) => note(true, "advanceBulk", page),
    advanceBackfill: (_id: string, _owner: string, page: object) => note(goesOn, "advanceBackfill", page),
    sendCanaries: (_id: string, _owner: string, sent: object) => note(goesOn, "sendCanaries", sent),
    retryPaced: (asked: readonly JobId[], how: object) =>
      note({ ids: paced(asked), aftermath: left("paced") }, "retryPaced", asked, how),
    stopBulk: (id: string) => note(true, "stopBulk", id),
    ...given.over,
  } as unknown as Operations;
  const store: Partial<Store> = {
    inRuns: async () => new Map(),
    retry: (asked, by) => note({ ids: moves(asked), aftermath: noAftermath }, "retry", asked, by),
    cancel: (asked, by) =>
      note(
        { rows: moves(asked).map((jobId) => ({ jobId }) as never), aftermath: noAftermath },
        "cancel",
        asked,
        by?.caller,
      ),
    relay: async ({ lane }) => (calls.push(["relay", lane]), []),
  };
  const ports = world((base) => ({ store: Object.assign({}, base.store, store) }));
  const isDone = await runBulkPage(ports, registry([]), operations, { owner: "pass", stage: "test" });
  return { isDone, calls: calls.slice(1), names: calls.slice(1).map(([name]) => name) };
}

test("where no bulk action is open nothing is asked", async () => {
  expect(await paged(null)).toMatchObject({ isDone: false, calls: [] });
});

describe("a page of jobs", () => {
  test.each([
    ["cancel", 0, 100],
    ["cancel", 1_000, 100],
    ["retry", 0, 500],
    ["retry", 1, 500],
    ["retry", 120, 500],
    ["retry", 121, 495],
    ["retry", 1_000, 60],
    ["retry", 7_000, 8],
    ["retry", 40_000, 1],
    ["retry", 60_000, 1],
    ["retry", 60_001, 1],
    ["retry", 3_600_000, 1],
  ] as const)("of a %s with a pace of %d ms has at most %d", async (action, paceMs, most) => {
    const { calls } = await paged({ action, paceMs, search: { lane: "a" } });
    expect(calls[0]).toEqual(["bulkPage", { lane: "a" }, "900", most]);
  });

  test("without any asks nothing of the store", async () => {
    const { isDone, calls } = await paged({}, { pages: [{ ids: [], next: "400" }] });
    expect(isDone).toBe(true);
    expect(calls.slice(1)).toEqual([["advanceBulk", { next: "400", changed: 0, takenAlong: 0, refused: 0 }]]);
  });

  test("is changed at once, and counted: what moved, what came along, what did not move", async () => {
    const pages = [{ ids: ids(1, 2, 3), next: null }];
    const counted = ["advanceBulk", { next: null, changed: 2, takenAlong: 3, refused: 1 }];
    for (const action of ["retry", "cancel"] as const) {
      const { isDone, calls } = await paged({ action }, { pages, moves: () => ids(1, 2, 7, 8, 9) });
      expect(isDone).toBe(true);
      const how = action === "retry" ? { caller: "ada" } : "ada";
      expect(calls.slice(1)).toEqual([[action, ids(1, 2, 3), how], counted]);
    }
  });

  test("with a pace is changed by it, and only those of runs are retried at once", async () => {
    for (const paceMs of [1, 1_000]) {
      const pages = [{ ids: ids(1, 2, 3), next: "1" }];
      const { calls } = await paged({ paceMs }, { pages, paced: () => ids(1, 3) });
      expect(calls.slice(1)).toEqual([
        ["retryPaced", ids(1, 2, 3), { caller: "ada", dueAt: 1_000, paceMs }],
        ["relay", "paced"],
        ["retry", ids(2), { caller: "ada" }],
        ["advanceBulk", { next: "1", changed: 3, takenAlong: 0, refused: 0 }],
      ]);
    }
  });
});

describe("the jobs that go first", () => {
  const search = { lane: "a", fingerprints: ["f", "g"] } as unknown as Bulk["search"];
  const one = (id: number) => ({ ids: ids(id), next: String(id) });

  test("are the newest of each group that is named, or one of all", async () => {
    const both = await paged({ search, canary: wanted }, { pages: [one(8), one(5)] });
    expect(both.isDone).toBe(true);
    expect(both.calls).toEqual([
      ["bulkPage", { lane: "a", fingerprints: ["f"] }, "900", 1],
      ["bulkPage", { lane: "a", fingerprints: ["g"] }, "900", 1],
      ["retry", ids(8, 5), { caller: "ada" }],
      ["sendCanaries", { jobs: ids(8, 5), takenAlong: 0 }],
    ]);
    const all = await paged({ search: { lane: "a" }, canary: wanted }, { pages: [one(8)] });
    expect(all.calls[0]).toEqual(["bulkPage", { lane: "a" }, "900", 1]);
    expect(all.calls.at(-1)).toEqual(["sendCanaries", { jobs: ids(8), takenAlong: 0 }]);
  });

  test("are looked for on as many pages as there are", async () => {
    const pages = [{ ids: [], next: "700" }, { ids: [], next: "300" }, one(2)];
    const { calls } = await paged({ canary: wanted }, { pages });
    expect(calls.slice(0, 3).map(([, , next]) => next)).toEqual(["900", "700", "300"]);
    expect(calls.at(-1)).toEqual(["sendCanaries", { jobs: ids(2), takenAlong: 0 }]);
  });

  test("are none when nothing matches: then nothing is retried, and the change is told so", async () => {
    const { isDone, calls } = await paged({ canary: wanted }, { goesOn: false });
    expect(isDone).toBe(false);
    expect(calls.slice(1)).toEqual([["sendCanaries", { jobs: [], takenAlong: 0 }]]);
  });

  test("are those that moved; what came along is counted beside them", async () => {
    const pages = [one(8), one(5)];
    const { calls } = await paged({ search, canary: wanted }, { pages, moves: () => ids(5, 6, 7) });
    expect(calls.at(-1)).toEqual(["sendCanaries", { jobs: ids(5), takenAlong: 2 }]);
  });

  test("are looked for again in the next round when another process moved all of them", async () => {
    const { isDone, names } = await paged({ canary: wanted }, { pages: [one(8)], moves: () => [], goesOn: false });
    expect([isDone, names]).toEqual([true, ["bulkPage", "retry"]]);
  });

  test.each(["out", "passed", "failed"] as const)("are not looked for when they are %s", async (state) => {
    const { names } = await paged({ canary: { state, jobs: [] } }, { pages: [one(8)] });
    expect(names).toEqual(["bulkPage", "retry", "advanceBulk"]);
  });
});

describe("a backfill", () => {
  const minute = 60_000;
  const begun = Date.UTC(2031, 4, 6, 7, 8, 9);
  const work = defineJob({ id: "work", run: () => {} });

  /** Of a schedule each minute the ten times since an hour ago; the first `broken` have no payload. */
  async function filled(
    over: Partial<Bulk["search"]>,
    how: { broken?: number; fault?: Error; wrote?: { added: number; again: number } } = {},
  ) {
    const calls: unknown[][] = [];
    const payload = ({ scheduledFor }: { scheduledFor: Date }) => {
      if (scheduledFor.getTime() < begun - (60 - (how.broken ?? 0)) * minute) throw new Error("no such day");
    };
    const schedule = defineSchedule({ id: "s", cron: "* * * * *", timezone: "UTC", run: work, payload } as never);
    const definitions = registry([defineApp({ name: "test", jobs: [work], schedules: [schedule] })]);
    const ports = world(({ store }) => ({
      store: Object.assign({}, store, {
        backfill: async (...call: Parameters<Store["backfill"]>) => how.wrote ?? (await store.backfill(...call)),
        scheduleFacts: async (id: string) => {
          if (how.fault !== undefined) throw how.fault;
          const facts = await store.scheduleFacts(id);
          const { row } = facts ?? {};
          return facts === null || row == null ? facts : { ...facts, row: { ...row, decidedUntil: begun } };
        },
      }),
    }));
    await installDefinitions(ports, definitions, { stage: "test" });
    const search = { scheduleId: "s", dueFrom: begun - 60 * minute, dueTo: begun - 50 * minute, ...over };
    const operations = {
      takeBulk: async () => ({ ...aBulk, action: "backfill", search, paceMs: 5_000 }),
      advanceBackfill: async (id: string, owner: string, page: object) => {
        calls.push([id, owner, page]);
        return true;
      },
      stopBulk: async (id: string) => calls.push([id, "stopped"]) > 0,
    } as unknown as Operations;
    const isDone = await runBulkPage(ports, definitions, operations, { owner: "pass", stage: "test" });
    return { isDone, calls, ports };
  }

  test("plans its times with its pace, also before the ledger, and says how many in the end", async () => {
    const { isDone, calls, ports } = await filled({});
    expect(isDone).toBe(true);
    expect(calls).toEqual([
      ["b", "pass", { changed: 10, refused: 0, isLast: false }],
      ["b", "pass", { changed: 0, refused: 0, isLast: true }],
    ]);
    const due = ports.store.tables.inStates("PENDING", "QUEUED").map(({ dueAt }) => dueAt);
    expect(due.slice(1).map((each, n) => each - (due[n] ?? 0))).toEqual(Array.from({ length: 9 }, () => 5_000));
  });

  test("counts times that had no row and times that had one", async () => {
    const { calls } = await filled({}, { wrote: { added: 3, again: 4 } });
    expect(calls.map(([, , page]) => page)).toEqual([
      { changed: 7, refused: 0, isLast: false },
      { changed: 0, refused: 0, isLast: true },
    ]);
  });

  test("counts the times without a payload as refused", async () => {
    const { calls, ports } = await filled({}, { broken: 3 });
    expect(calls.map(([, , page]) => page)).toEqual([
      { changed: 7, refused: 0, isLast: false },
      { changed: 0, refused: 3, isLast: true },
    ]);
    expect(ports.lines.filter(({ level }) => level === "error")).toHaveLength(3);
  });

  test("of a schedule that is gone is stopped, and any other failure is thrown", async () => {
    const gone = await filled({ scheduleId: "none" });
    expect([gone.isDone, gone.calls]).toEqual([true, [["b", "stopped"]]]);
    expect(gone.ports.lines.map(({ message }) => message)).toEqual([
      "a backfill ended early: its schedule was changed",
    ]);
    await expect(filled({}, { fault: new Error("away") })).rejects.toThrow("away");
  });
});
