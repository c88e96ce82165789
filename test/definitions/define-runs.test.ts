import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type DataTask, defineDataGraph, readGraph } from "../../src/define/define-data-graph.ts";
import type { Job } from "../../src/define/context.ts";
import { checkApps } from "../../src/define/check.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { checkMoment, defineFanOut } from "../../src/define/define-fan-out.ts";
import { defineGraph, type GraphOptions } from "../../src/define/define-graph.ts";
import { defineJob, definitionOf } from "../../src/define/define-job.ts";
import { defineSweep } from "../../src/define/define-sweep.ts";
import { graphVersionOf, type TaskDefinition } from "../../src/define/definition.ts";
import { PermanentError } from "../../src/define/errors.ts";
import { describe as line } from "../../src/define/problem.ts";
import { sql } from "../../src/define/query.ts";
import type { InRun } from "../../src/machine/run.ts";

type Defined = Pick<Job<never>, "id" | "enqueue">;
/** As `check` finds them. */
const problemsOf = (job: Defined): readonly string[] =>
  checkApps([defineApp({ name: "a", jobs: [job] })], "dev").map(line);

// Defined in each test: what runs while a file is loaded is no part of a test, and `mutate` leaves it out.
const each = (id = "each") => defineJob({ id, payload: z.object({ id: z.string() }), run: () => {} });
const rows = () => ({ each: each(), key: () => "k", payload: () => ({ id: "1" }) });
const fanOut = (more: object = {}) => defineFanOut({ id: "f", from: () => sql`select 1`, ...rows(), ...more });
const sweep = (more: object = {}) =>
  defineSweep({ id: "w", due: () => sql`select 1`, maxLateness: "1m", ...rows(), ...more });
const graph = (tasks: GraphOptions<never, "stop">["tasks"], more: object = {}) =>
  defineGraph({ id: "g", version: 3, ...more, tasks });
const dataGraph = (more: object = {}) =>
  defineDataGraph({ id: "d", version: 3, graph: () => [], run: (given) => given.task, ...more });
const none = { run: () => null };

describe("what a fan-out and a sweep are without more words", () => {
  test("a fan-out is paged by id, written when it is due, and tried twelve times", () => {
    const target = each();
    const definition = definitionOf(fanOut({ each: target }));
    expect(definition.problems).toEqual([]);
    expect(definition.makes).toEqual([definitionOf(target)]);
    expect(definition.body).toMatchObject({ is: "fanOut", by: "id", materializeBeforeMs: 0, stillWanted: null });
    expect(definition).toMatchObject({
      timeoutMs: 840_000,
      retry: { maxAttempts: 12, capMs: 60_000 },
      lane: "default",
    });
  });

  test("a sweep is paged by id, 500 rows a page and 10 pages a job", () => {
    const target = each();
    const definition = definitionOf(sweep({ each: target }));
    expect(definition.problems).toEqual([]);
    expect(definition.makes).toEqual([definitionOf(target)]);
    expect(definition.body).toMatchObject({
      is: "sweep",
      by: "id",
      batchSize: 500,
      maxIterations: 10,
      maxLatenessMs: 60_000,
    });
    expect(definition.timeoutMs).toBe(840_000);
  });

  test("both take another column, and limits of their own", () => {
    const limits = { by: "email", timeout: "1m", lane: "mail", retention: "8d", lease: "30s" };
    const expected = { timeoutMs: 60_000, lane: "mail", retentionMs: 691_200_000, leaseMs: 30_000 };
    for (const made of [fanOut(limits), sweep(limits)]) {
      expect(definitionOf(made)).toMatchObject({ ...expected, problems: [], body: { by: "email" } });
    }
    expect(definitionOf(fanOut({ retry: { maxAttempts: 2 } })).retry.maxAttempts).toBe(2);
  });

  test.each<[object]>([
    [{ batchSize: 1, maxIterations: 1, maxLateness: "1ms" }],
    [{ batchSize: 1_000, maxIterations: 1_000 }],
  ])("a sweep takes the bounds %j", (more) => {
    expect(problemsOf(sweep(more))).toEqual([]);
  });

  test.each<[string, () => Defined, readonly string[]]>([
    [
      "a fan-out",
      () => fanOut({ id: "F", materializeBefore: "2d" }),
      ['job "F": id "F" must be', 'fan-out "F": materializeBefore "2d" must be at most 1d'],
    ],
    [
      "a sweep",
      () => sweep({ id: "W", batchSize: 0, maxIterations: 1_001, maxLateness: "0ms" }),
      [
        'job "W": id "W" must be',
        'sweep "W": batchSize 0 must be a whole number from 1 to 1000',
        'sweep "W": maxIterations 1001 must be a whole number from 1 to 1000',
        'sweep "W": maxLateness "0ms" must be at least 1ms',
      ],
    ],
    [
      "a fan-out that tolerates",
      () => fanOut({ tolerate: 1.5 }),
      ['fan-out "f": tolerate 1.5 must be a share from 0 to 1; write 0.05 for 5 %'],
    ],
    [
      "what follows",
      () => fanOut({ then: each("close"), on: "always" }),
      [
        'fan-out "f": on "always" is not one of the choices; use "success" or "failure" or "end"',
        'fan-out "f": thenPayload (missing) is what "close" takes as its payload; make it from the summary',
      ],
    ],
    [
      "what follows nothing",
      () => graph((task) => void task("a", none), { on: "end" }),
      ['graph "g": on "end" has no `then`'],
    ],
    [
      "a sweep that is a run",
      () => sweep({ tolerate: -0.1, batchSize: 5 }),
      [
        'sweep "w": tolerate -0.1 must be a share from 0 to 1',
        'sweep "w": batchSize 5 is of a sweep without a run; leave it out beside tolerate and then',
      ],
    ],
  ])("every problem of %s is found", (_, made, expected) => {
    expect(problemsOf(made())).toEqual(expected.map((text) => expect.stringContaining(text)));
  });

  test("materializeBefore goes from none to a day", () => {
    expect(problemsOf(fanOut({ materializeBefore: "0s" }))).toEqual([]);
    expect(definitionOf(fanOut({ materializeBefore: "1d" })).body).toMatchObject({ materializeBeforeMs: 86_400_000 });
  });

  test("their payload is none, or a moment", async () => {
    const moment = { moment: { scheduledFor: "2026-03-01T08:00:00Z", day: "2026-03-01", timezone: "UTC" } };
    expect(await checkMoment(null)).toEqual({ ok: true, value: null });
    expect(await checkMoment(moment)).toEqual({ ok: true, value: moment });
    const refused = { ok: false, issues: [{ path: "", message: "this job takes no payload: pass none" }] };
    expect(await checkMoment({ id: 7 })).toEqual(refused);
    expect(await definitionOf(fanOut()).check("now")).toEqual(refused);
    expect(await definitionOf(sweep()).check("now")).toEqual(refused);
  });
});

describe("a graph", () => {
  test.each([1, 1_000_000])("may have the version %i", (version) => {
    const made = graph((task) => void task("a", none), { version });
    expect(definitionOf(made)).toMatchObject({ problems: [], body: { version, onFailure: "skip-downstream" } });
  });

  test("without a version, which only plain JavaScript can write, has the first", () => {
    expect(definitionOf(graph((task) => void task("a", none), { version: undefined })).body).toMatchObject({
      version: 1,
    });
  });

  test.each<[string, GraphOptions<never, "stop">["tasks"], object, readonly string[]]>([
    ["no version", () => {}, { version: 0 }, ['graph "g": version 0 must be a whole number from 1 to 1000000']],
    ["no id", () => {}, { id: "G" }, ['job "G": id "G" must be']],
    [
      "a task declared twice",
      (task) => {
        task("a", none);
        task("a", none);
      },
      {},
      ['graph "g": task "a" "a" is declared twice; rename one of them'],
    ],
    [
      "a predecessor of another graph, and one that hides the input",
      (task) => {
        const a = task("a", none);
        task("b", { ...none, after: { first: a } });
        task("c", { ...none, after: { input: a, other: { ...a } } });
      },
      {},
      [
        'graph "g": task "c" after "input" hides the run\'s input; use another name',
        'graph "g": task "c" after.other {"name":"a"} is not a task of this graph; declare it before this one',
        'graph "g": tasks.2.after "a" is named twice by "c"',
      ],
    ],
    [
      "a task's own limits",
      (task) => void task("a", { ...none, concurrency: 0 }),
      {},
      ['job "g.a": concurrency 0 must be a whole number from 1'],
    ],
  ])("with %s has these problems", (_, tasks, more, expected) => {
    expect(problemsOf(graph(tasks, more))).toEqual(expected.map((text) => expect.stringContaining(text)));
  });

  test("calls onSettled with the input of its schema, or with the stored one where it no longer fits", async () => {
    const seen: unknown[] = [];
    const made = graph(
      (task) => void task("a", { ...none, onSettled: async (input: unknown) => void seen.push(input) }),
      { input: z.object({ size: z.number().default(3) }) },
    );
    const [task] = definitionOf(made).makes ?? [];
    for (const input of [{}, { size: "big" }]) await task?.onSettled?.(input, {} as never, {} as never);
    expect(seen).toEqual([{ size: 3 }, { size: "big" }]);
  });
});

test("graphs have a version of their shape, other jobs have none", () => {
  const made = [graph(() => {}), dataGraph(), fanOut(), sweep(), each()];
  expect(made.map((job) => graphVersionOf(definitionOf(job)))).toEqual([3, 3, null, null, null]);
});

describe("a graph as data", () => {
  test("finds the problems of its job, of itself and of its task", () => {
    expect(problemsOf(dataGraph({ id: "D", version: 0.5, concurrency: 0 }))).toEqual([
      expect.stringContaining('job "D": id "D" must be'),
      expect.stringContaining('graph "D": version 0.5 must be a whole number'),
      expect.stringContaining('job "D.task": id "D.task" must be'),
      expect.stringContaining('job "D.task": concurrency 0 must be'),
    ]);
  });

  test("gives a task its name, the input and the outputs of those that succeeded", () => {
    const [task] = (definitionOf(dataGraph()).makes ?? []) as readonly TaskDefinition[];
    const of = (state: string, result: unknown) => ({ state, result });
    const outputs = { a: of("SUCCESS", 1), b: of("FAILED", null), c: of("SUCCESS", null), d: of("SKIPPED", null) };
    const given = task?.body.given({ task: "t", outputs } as unknown as InRun, { size: 3 }, { n: 1 });
    expect(given).toStrictEqual({ task: "t", payload: { n: 1 }, input: { size: 3 }, outputs: { a: 1, c: null } });
  });

  test("has its tasks read, with the defaults", () => {
    expect(readGraph("d", [{ name: "a" }, { name: "b", after: ["a"], join: "any" }])).toEqual([
      { name: "a", after: [], join: "all", payload: null },
      { name: "b", after: ["a"], join: "any", payload: null },
    ]);
    expect(readGraph("d", [])).toEqual([]);
  });

  test("says before a run what its start would fail for", async () => {
    const graph = (tasks: readonly DataTask<{ n: number }>[]) =>
      defineDataGraph({ id: "d", version: 1, taskPayload: z.object({ n: z.number() }), graph: () => tasks, ...none });
    expect(await graph([{ name: "a", payload: { n: 1 } }]).checkTasks()).toEqual({ tasks: 1 });
    await expect(graph([{ name: "a", after: ["a"], payload: { n: 1 } }]).checkTasks()).rejects.toThrow(
      /"a" would wait/,
    );
    await expect(graph([{ name: "a", payload: { n: "1" } as never }]).checkTasks()).rejects.toMatchObject({
      code: "INVALID_GRAPH",
      message: expect.stringMatching(/tasks\.0\.payload\.n /),
    });
    await expect(graph([{ name: "a" }]).checkTasks()).rejects.toThrow(/tasks\.0\.payload null/);
  });

  const fix = 'must be a list of tasks; return [{ name: "a" }, { name: "b", after: ["a"] }]';
  const noName = "must be text; name the task";
  const noList = "must be a list of task names; name the predecessors";
  test.each<[string, unknown, readonly string[]]>([
    ["no list", null, [`tasks null ${fix}`]],
    ["an object", { name: "a" }, [`tasks {"name":"a"} ${fix}`]],
    ["what is no task", [null, "a", 7], [0, 1, 2].map((at) => `tasks.${at}.name (missing) ${noName}`)],
    ["a number as name", [{ name: 7 }], [`tasks.0.name 7 ${noName}`]],
    ["a text as predecessors", [{ name: "a", after: "b" }], [`tasks.0.after "b" ${noList}`]],
    ["a number as predecessor", [{ name: "a", after: ["b", 7] }], [`tasks.0.after ["b",7] ${noList}`]],
    [
      "an unknown join, and nothing of its shape",
      [{ name: "a", after: ["x"], join: "most" }],
      ['tasks.0.join "most" is not one of the choices; use "all" or "any" or "allDone"'],
    ],
    [
      "an unknown predecessor",
      [{ name: "a", after: ["x"] }],
      ['tasks.0.after "x" is not a task of this graph ("a" waits for it); add it, or remove the edge'],
    ],
  ])("is refused for %s", (_, tasks, expected) => {
    const read = () => readGraph("d", tasks);
    expect(read).toThrow(PermanentError);
    expect(read).toThrow(
      expect.objectContaining({
        code: "INVALID_GRAPH",
        message: expected.map((text) => `graph "d": ${text}`).join("\n"),
      }),
    );
  });
});
