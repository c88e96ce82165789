import { describe, expect, test } from "vitest";
import { defineFanOut, defineGraph, defineJob } from "../../src/core/index.ts";
import type { JobId, RunId } from "../../src/core/job/job.ts";
import { reasons } from "../../src/core/job/reasons.ts";
import { type InRun, noAftermath } from "../../src/core/ports/ports.ts";
import { evaluateConditions } from "../../src/core/work/conditions.ts";
import type { WorkerScope } from "../../src/core/work/worker-scope.ts";
import { registryFor, sum, world } from "./world.ts";

const push = defineJob({ id: "push", run: () => {} });
async function* noRows(): AsyncIterable<string> {}
const rows = { from: noRows, key: (row: string) => row, each: push, payload: () => undefined };
const registry = registryFor(
  push,
  defineFanOut({ ...rows, id: "every" }),
  defineFanOut({
    ...rows,
    id: "asking",
    stillWanted(row) {
      if (row === "broken") throw new Error("no answer");
      return row !== "left";
    },
  }),
  defineGraph({
    id: "branches",
    version: 1,
    tasks(task) {
      task("plain", { run: () => null });
      task("taken", { when: () => true, run: () => null });
      task("left", { when: () => false, run: () => null });
      task("broken", {
        when: () => {
          throw new Error("no answer");
        },
        run: () => null,
      });
    },
  }),
);

const inRun = (kind: string, more: Partial<InRun>): InRun => ({
  runId: "1" as RunId,
  kind,
  key: "k",
  version: 1,
  input: null,
  task: null,
  row: null,
  outputs: {},
  ...more,
});

/** Asks about these jobs, by id. */
async function asked(jobs: Readonly<Record<string, InRun | null>>) {
  const skips: [string, readonly string[]][] = [];
  let reads = 0;
  const ports = world((base) => ({
    store: Object.assign({}, base.store, {
      inRuns: async (ids: readonly JobId[]) => {
        reads += 1;
        return new Map(ids.flatMap((id) => (jobs[id] == null ? [] : [[id, jobs[id]] as const])));
      },
      skip: async (messages: readonly { jobId: JobId }[], { reason }: { reason: string }) => {
        skips.push([reason, messages.map(({ jobId }) => jobId)]);
        return { ids: messages.map(({ jobId }) => jobId), aftermath: noAftermath };
      },
    }),
  }));
  const items = Object.keys(jobs).map((id) => ({
    messageId: `m${id}`,
    message: { jobId: id as JobId, generation: 1, trace: "" },
  }));
  const { wanted, giveBack } = await evaluateConditions({ ports, registry } as unknown as WorkerScope, items);
  return { wanted: wanted.map(({ messageId }) => messageId), giveBack, skips, reads, ports };
}

describe("the condition of a job that a message names", () => {
  test.each<[string, InRun | null, string]>([
    ["no run", null, "wanted"],
    ["a run whose kind this release does not know", inRun("gone", {}), "wanted"],
    ["a run whose kind is a plain job now", inRun("push", { row: "left" }), "wanted"],
    ["a fan-out that asks nothing", inRun("every", { row: "left" }), "wanted"],
    ["a row that is still wanted", inRun("asking", { row: "here" }), "wanted"],
    ["a row that is no longer wanted", inRun("asking", { row: "left" }), reasons.noLongerWanted],
    ["a row whose question fails", inRun("asking", { row: "broken" }), "given back"],
    ["a task without a condition", inRun("branches", { task: "plain" }), "wanted"],
    ["a branch that is taken", inRun("branches", { task: "taken" }), "wanted"],
    ["a branch that is not taken", inRun("branches", { task: "left" }), reasons.notTaken],
    ["a branch whose condition fails, for the attempt to show it", inRun("branches", { task: "broken" }), "wanted"],
    ["a task that this release does not know", inRun("branches", { task: "gone" }), "wanted"],
  ])("of %s: %s", async (_, run, expected) => {
    const { wanted, giveBack, skips, ports } = await asked({ 7: run });
    const isSkipped = expected !== "wanted" && expected !== "given back";
    expect({ wanted, giveBack, skips }).toEqual({
      wanted: expected === "wanted" ? ["m7"] : [],
      giveBack: expected === "given back" ? ["m7"] : [],
      skips: isSkipped ? [[expected, ["7"]]] : [],
    });
    expect(sum(ports.measured, "job.refused")).toBe(isSkipped ? 1 : 0);
    expect(ports.lines.map(({ message }) => message)).toEqual(
      expected === "given back" ? ["a condition could not be asked; the message is given back"] : [],
    );
  });

  test("of many: one read, and one statement for each reason", async () => {
    const left = inRun("asking", { row: "left" });
    const branch = inRun("branches", { task: "left" });
    const { wanted, giveBack, skips, reads, ports } = await asked({
      1: left,
      2: branch,
      3: null,
      4: left,
      5: inRun("asking", { row: "broken" }),
      6: left,
      7: branch,
    });
    expect({ wanted, giveBack, reads }).toEqual({ wanted: ["m3"], giveBack: ["m5"], reads: 1 });
    expect(skips).toEqual([
      [reasons.noLongerWanted, ["1", "4", "6"]],
      [reasons.notTaken, ["2", "7"]],
    ]);
    expect(sum(ports.measured, "job.refused")).toBe(5);
  });

  test("of none asks nothing", async () => {
    expect(await asked({})).toMatchObject({ wanted: [], giveBack: [], skips: [], reads: 0 });
  });
});
