import { describe, expect, test } from "vitest";
import { isRerunnable, rerunRun } from "../../src/core/admin/run-control.ts";
import { defineFanOut, defineGraph, defineJob } from "../../src/core/index.ts";
import { contractLimits } from "../../src/core/job/contract-limits.ts";
import type { JobId, NewJob, RunId } from "../../src/core/job/job.ts";
import { noAftermath } from "../../src/core/ports/aftermath.ts";
import type { Store } from "../../src/core/ports/ports.ts";
import { registryFor, world } from "../core/world.ts";

async function* none() {}
const plain = defineJob({ id: "plain", run: () => {} });
const graph = defineGraph({ id: "graph", version: 1, tasks: (task) => void task("a", { run: () => null }) });
const fanOut = defineFanOut({
  id: "fan-out",
  from: none,
  key: () => "k",
  each: plain,
  payload: () => undefined,
});
const known = registryFor(plain, graph, fanOut);

interface Given {
  readonly kind?: string;
  readonly key?: string;
  /** Keys that a run or a job has already. */
  readonly taken?: (key: string) => boolean;
  /** Of those keys, what has it: else a run that the query shows. */
  readonly by?: "job" | "another";
}

/** Reruns run 4 over a store that only answers: what it asked. */
async function rerun({ kind = "fan-out", key = "d1", taken = () => false, by }: Given = {}) {
  const calls: unknown[][] = [];
  const jobs: NewJob[] = [];
  const left = (lane: string) => ({ ...noAftermath, leftToRelay: [lane] });
  const run = { id: "4", kind, key, version: 3, input: { n: 1 }, onFailure: "stop" };
  const store = {
    run: async (id: string) => (id === "4" ? run : null),
    runs: async (filter: { key: string }) => {
      calls.push(["runs", filter]);
      return by === undefined && taken(filter.key) ? [run] : [];
    },
    insert: async (all: readonly NewJob[]) => {
      jobs.push(...all);
      const created = !(by === "job" && taken(all[0]?.key ?? ""));
      return { results: [{ id: "9" as JobId, created, isConflict: false }], aftermath: left("inserted") };
    },
    startRun: async (planned: { key: string; parentId: string; starterId: string | null }) => {
      calls.push(["startRun", planned.key, planned.parentId, planned.starterId]);
      return { runId: "5", created: !(by !== "job" && taken(planned.key)), aftermath: left("started") };
    },
    relay: async ({ lane }: { lane: string }) => (calls.push(["relay", lane]), []),
  };
  const ports = world((base) => ({ store: Object.assign({}, base.store, store as unknown as Partial<Store>) }));
  const id = await rerunRun(ports, known, "4" as RunId, { stage: "test" }).catch((error: unknown) => String(error));
  return { id, calls, jobs };
}

test("graphs and fan-outs of this release can be run again, and nothing else", () => {
  expect(["plain", "graph", "fan-out", "none"].map((kind) => isRerunnable(known, kind))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

test.each(["plain", "none"])("a run of %s is refused", async (kind) => {
  expect((await rerun({ kind })).id).toContain(`run 4 of "${kind}" cannot be run again here`);
});

test("a run that does not exist is refused", async () => {
  const ports = world();
  await expect(rerunRun(ports, known, "4" as RunId, { stage: "test" })).rejects.toThrow("run 4 does not exist");
});

describe("the next run", () => {
  test("of a graph has the first free number behind the key, is linked, and its jobs go out", async () => {
    const taken = (key: string) => key !== "d1#4";
    const { id, calls } = await rerun({ kind: "graph", key: "d1#2", taken });
    expect(id).toBe("5");
    const tries = ["d1#2", "d1#3", "d1#4"].map((key) => ["startRun", key, "4", null]);
    expect(calls).toEqual([...tries, ["relay", "started"]]);
  });

  test("of a key that has such a number inside keeps it", async () => {
    const { calls } = await rerun({ kind: "graph", key: "team#7/daily#2", taken: (key) => key === "team#7/daily#2" });
    expect(calls.map(([, key]) => key)).toEqual(["team#7/daily#2", "team#7/daily#3", "started"]);
  });

  test("of a fan-out is begun by a job that is due now, and both are relayed", async () => {
    const { id, calls, jobs } = await rerun();
    expect(id).toBe("5");
    expect(jobs).toMatchObject([
      { kind: "fan-out", key: "d1#2", payload: null, dueAt: null, delayMs: 0, slotKeys: [] },
    ]);
    expect(calls).toEqual([
      ["runs", { kinds: ["fan-out"], key: "d1#2", limit: 1 }],
      ["startRun", "d1#2", "4", "9"],
      ["relay", "inserted"],
      ["relay", "started"],
    ]);
  });

  test("of a fan-out passes by a number that a run or a job has", async () => {
    const taken = (key: string) => key === "d1#2";
    const ofRun = await rerun({ taken });
    expect([ofRun.id, ofRun.jobs.map(({ key }) => key)]).toEqual(["5", ["d1#3"]]);
    const ofJob = await rerun({ taken, by: "job" });
    expect([ofJob.id, ofJob.jobs.map(({ key }) => key)]).toEqual(["5", ["d1#2", "d1#3"]]);
    expect(ofJob.calls.filter(([name]) => name === "startRun")).toHaveLength(1);
  });

  test("of a fan-out that another process makes at the same moment is an error", async () => {
    const { id } = await rerun({ taken: () => true, by: "another" });
    expect(id).toContain('run "d1#2" of "fan-out" was made by another process');
  });

  test.each(["graph", "fan-out"])("of a %s has at most so many before it", async (kind) => {
    const most = contractLimits.rerunsMax;
    const last = await rerun({ kind, taken: (key) => key !== `d1#${most}` });
    expect(last.id).toBe("5");
    expect((await rerun({ kind, taken: () => true })).id).toContain(`run 4 was run again ${most} times`);
  });
});
