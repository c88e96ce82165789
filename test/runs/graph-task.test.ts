import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineDataGraph, defineGraph, defineJob } from "../../src/core/index.ts";
import type { Context } from "../../src/core/define/context.ts";
import { definitionOf } from "../../src/core/define/define-job.ts";
import type { JobDefinition, TaskBody } from "../../src/core/define/definition.ts";
import type { Json, RunId } from "../../src/core/job/job.ts";
import { type InRun, type NewRun, noAftermath } from "../../src/core/ports/ports.ts";
import { type GraphDefinition, isGraph, isTaken, planRun, runTask, startGraph } from "../../src/core/work/run-graph.ts";
import { attemptOf } from "./attempt.ts";

const input = z.object({ day: z.string(), size: z.number().min(1, "must be 1 or more").default(7) });

/** Three tasks and their order; `isDay` is the condition of the second. */
function graphsOf(isDay: (day: string) => boolean | Promise<boolean> = () => true) {
  const plain = defineGraph({
    id: "plain",
    version: 3,
    input,
    onFailure: "continue",
    tasks(task) {
      const a = task("a", { run: (given) => ({ size: given.input.size }) });
      const b = task("b", { after: { a }, when: (given) => isDay(given.input.day), run: (given) => given.a ?? null });
      task("c", { after: { b, a }, join: "any", run: () => null });
    },
  });
  const data = defineDataGraph({
    id: "data",
    version: 4,
    input,
    graph: ({ day }) => [{ name: "c", after: ["b", "a"], join: "any" }, { name: "a" }, { name: day, after: ["a"] }],
    when: (given) => isDay(given.input.day),
    run: (given) => given.task,
  });
  const steady = defineDataGraph({ id: "steady", version: 1, graph: () => [{ name: "a" }], run: () => null });
  return { plain: graphOf(plain), data: graphOf(data), steady: graphOf(steady) };
}

function graphOf(job: Parameters<typeof definitionOf>[0]): GraphDefinition {
  const definition = definitionOf(job);
  if (!isGraph(definition)) throw new Error(`"${definition.id}" is no graph`);
  return definition;
}

const inRun = (task: string | null, given: Json = { day: "b" }): InRun => ({
  runId: "9" as RunId,
  kind: "plain",
  key: "monday",
  version: 3,
  input: given,
  task,
  row: null,
  outputs: {},
});

const options = { stage: "test", key: "monday", trace: "t", starterId: null, parentId: null };
const edgesOf = ({ tasks }: NewRun) =>
  tasks.map(({ task, join, after, hasCondition, job }) => [task, join, after, hasCondition, job.kind]);

describe("the plan of a run", () => {
  test("has the tasks of the graph in their order, each with its predecessors' places", async () => {
    const run = await planRun(graphsOf().plain, { day: "b" }, options);
    expect(run).toMatchObject({ kind: "plain", key: "monday", version: 3, onFailure: "continue", sealed: true });
    expect(run.input).toEqual({ day: "b" });
    expect(run.shape).toMatch(/^[0-9a-f]{16}$/);
    expect(edgesOf(run)).toEqual([
      ["a", "all", [], false, "plain.a"],
      ["b", "all", [0], true, "plain.b"],
      ["c", "any", [1, 0], false, "plain.c"],
    ]);
  });

  test("has the tasks that the data names, every one with the condition of all", async () => {
    const run = await planRun(graphsOf().data, { day: "b" }, options);
    expect(edgesOf(run)).toEqual([
      ["c", "any", [2, 1], true, "data.task"],
      ["a", "all", [], true, "data.task"],
      ["b", "all", [1], true, "data.task"],
    ]);
    expect(edgesOf(await planRun(graphsOf().steady, null, options))).toEqual([["a", "all", [], false, "steady.task"]]);
  });

  test("is none when its data, or the input it is made of, does not fit", async () => {
    await expect(planRun(graphsOf().data, { day: 7 }, options)).rejects.toMatchObject({
      message: 'the input does not fit graph "data"',
      code: "INVALID_PAYLOAD",
    });
    await expect(planRun(graphsOf().data, { day: "x" }, options)).rejects.toMatchObject({ code: "INVALID_GRAPH" });
  });

  test("becomes a run in the success of the job that planned it", async () => {
    const started: NewRun[] = [];
    const aftermath = { ...noAftermath, runs: ["9" as RunId] };
    const store = {
      startRun: async (run: NewRun) => {
        started.push(run);
        const known = { created: true, sealed: true, cursor: null, input: run.input, parentId: null };
        return { ...known, runId: "9" as RunId, aftermath };
      },
    };
    for (const key of ["monday", null]) {
      const steady = defineDataGraph({ id: "steady", version: 1, graph: () => [{ name: "a" }], run: () => null });
      const { scope, context, results, left } = attemptOf(steady, { claimed: { key }, store });
      await startGraph(scope, context);
      expect([results, left]).toEqual([[{ runId: "9", tasks: 1 }], [aftermath]]);
    }
    expect(started.map(({ key, starterId, parentId }) => [key, starterId, parentId])).toEqual([
      ["monday", "7", null],
      ["job:7", "7", null],
    ]);
  });

  test("is no matter of a job that is no graph", async () => {
    const { scope, context } = attemptOf(defineJob({ id: "push", run: () => {} }), { store: {} });
    await expect(startGraph(scope, context)).rejects.toThrow(new TypeError('"push" does not plan runs'));
  });
});

/** The task of a graph, by its name. */
function taskOf({ body }: GraphDefinition, name: string): JobDefinition {
  const found = body.is === "graph" ? body.tasks.find((task) => task.name === name)?.definition : body.task;
  if (found === undefined) throw new Error(`no task "${name}"`);
  return found;
}

/** Runs one task of the run, or of none. */
async function ran(graph: GraphDefinition, run: InRun | undefined, name = "b"): Promise<Json | void> {
  const definition = taskOf(graph, name);
  const { scope, context } = attemptOf(defineJob({ id: definition.id, run: () => {} }), { store: {} });
  const job = { ...scope.job, kind: definition.id, ...(run === undefined ? {} : { run }) };
  return await runTask({ ...scope, job }, definition.body as TaskBody, context satisfies Context);
}

const invalid = (field: string) => ({
  message: `the input of run 9 does not fit graph "plain" any more: ${field}`,
  code: "INVALID_PAYLOAD",
});

describe("a task", () => {
  test("runs with the run's input, its defaults applied", async () => {
    expect(await ran(graphsOf().plain, inRun("a"), "a")).toEqual({ size: 7 });
    expect(await ran(graphsOf(() => true).data, inRun("a"))).toBe("a");
  });

  test("by itself is refused with what to do", async () => {
    await expect(ran(graphsOf().plain, undefined)).rejects.toThrow(
      new Error('"plain.b" is a task: start its graph instead of enqueueing it by itself'),
    );
  });

  test("whose condition has changed since the claim fails for good", async () => {
    for (const isDay of [() => false, async () => false])
      await expect(ran(graphsOf(isDay).plain, inRun("b"))).rejects.toMatchObject({
        message: "its condition changed its mind after the claim",
        code: "WHEN_CHANGED",
      });
    const { plain } = graphsOf(() => Promise.reject(new Error("no answer")));
    await expect(ran(plain, inRun("b"))).rejects.toThrow("no answer");
    expect(await ran(graphsOf(() => false).plain, inRun("a"), "a")).toEqual({ size: 7 });
  });

  test("whose input no longer fits fails for good, with the first field that does not", async () => {
    const { plain } = graphsOf();
    const size = "size must be 1 or more";
    await expect(ran(plain, inRun("a", { day: "b", size: 0 }), "a")).rejects.toMatchObject(invalid(size));
    await expect(ran(plain, inRun("a", { day: 7, size: 0 }), "a")).rejects.toMatchObject({
      message: expect.stringContaining("any more: day ") as string,
    });
  });
});

describe("a branch", () => {
  test.each<[string, "plain" | "data" | "steady", string | null, boolean]>([
    ["its condition", "plain", "b", false],
    ["its condition", "data", "b", false],
    ["no condition", "plain", "a", true],
    ["no condition", "steady", "a", true],
    ["a name that this release does not know", "plain", "gone", true],
    ["no name", "plain", null, true],
  ])("with %s, of %s, task %s, is taken when the condition says so, else %s", async (_, graph, task, otherwise) => {
    for (const isDay of [() => true, async () => true])
      expect(await isTaken(graphsOf(isDay)[graph], inRun(task))).toBe(true);
    for (const isDay of [() => false, async () => false])
      expect(await isTaken(graphsOf(isDay)[graph], inRun(task))).toBe(otherwise);
  });

  test("whose condition or input fails is taken, so that its attempt shows why", async () => {
    const throwing = (): boolean => {
      throw new Error("no answer");
    };
    expect(await isTaken(graphsOf(throwing).plain, inRun("b"))).toBe(true);
    expect(await isTaken(graphsOf(() => Promise.reject(new Error("no answer"))).data, inRun("b"))).toBe(true);
    expect(await isTaken(graphsOf(() => false).plain, inRun("b", { day: 7 }))).toBe(true);
  });

  test("without a condition is taken before its input is looked at: the schema may wait for something", async () => {
    let checks = 0;
    const counted = z.object({}).refine(() => (checks += 1) > 0);
    const graph = definitionOf(
      defineGraph({ id: "counted", version: 1, input: counted, tasks: (task) => void task("a", { run: () => null }) }),
    );
    if (!isGraph(graph)) throw new Error("it is a graph");
    expect(await isTaken(graph, inRun("a"))).toBe(true);
    expect(checks).toBe(0);
  });
});
