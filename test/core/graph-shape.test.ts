import { describe, expect, test } from "vitest";
import { checkGraph, findCycle, type GraphTask, shapeHash } from "../../src/define/graph-shape.ts";
import { describe as line, ProblemList } from "../../src/define/problem.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";

const task = (name: string, after: readonly string[] = [], join: GraphTask["join"] = "all"): GraphTask => ({
  name,
  after,
  join,
});
const problemsOf = (...tasks: readonly GraphTask[]): readonly string[] => {
  const problems = new ProblemList("graph");
  checkGraph(problems, tasks);
  return problems.found.map(line);
};

describe("the hash of a graph's shape", () => {
  // Runs keep it in their row: another value would call every open run changed.
  test.each<[string, readonly GraphTask[], string]>([
    ["no task", [], "ab3e7c0b92ca2f0e"],
    ["one task", [task("a")], "575461d560c91448"],
    ["a chain", [task("a"), task("b", ["a"])], "b74c91a8ad0370e5"],
    ["a diamond", [task("a"), task("b", ["a"]), task("c", ["a"]), task("d", ["b", "c"], "any")], "4c45f39e0897fd0d"],
    ["other letters", [task("날씨"), task("😀", ["날씨"], "allDone")], "6590c849c70831cf"],
  ])("of %s stays what it was", (_, tasks, hash) => {
    expect(shapeHash(tasks)).toBe(hash);
  });

  test("does not depend on the order of tasks, nor on that of predecessors", () => {
    const written = [task("a"), task("b"), task("c", ["a", "b"])];
    const otherwise = [task("c", ["b", "a"]), task("b"), task("a")];
    expect(shapeHash(otherwise)).toBe(shapeHash(written));
  });

  test.each<[string, readonly GraphTask[]]>([
    ["a name", [task("a"), task("c", ["a"])]],
    ["a join", [task("a"), task("b", ["a"], "any")]],
    ["how many it needs", [task("a"), task("b", ["a"], { atLeast: 1 })]],
    ["an edge", [task("a"), task("b")]],
  ])("changes with %s", (_, tasks) => {
    expect(shapeHash(tasks)).not.toBe(shapeHash([task("a"), task("b", ["a"])]));
  });
});

describe("a graph is refused with task, value and rule", () => {
  const nameRule = "must be text of 1 to 128 characters without control characters; rename it";
  test.each<[string, readonly GraphTask[], readonly string[]]>([
    ["no name", [task("")], [`graph: tasks.0.name "" ${nameRule}`]],
    ["a long name", [task("n".repeat(129))], [`graph: tasks.0.name "${"n".repeat(116)}... ${nameRule}`]],
    ["a null name", [task(null as unknown as string)], [`graph: tasks.0.name null ${nameRule}`]],
    ["a list as name", [task(["a"] as unknown as string)], [`graph: tasks.0.name ["a"] ${nameRule}`]],
    ["half a surrogate pair", [task("\uD83D")], [String.raw`graph: tasks.0.name "\ud83d" ${nameRule}`]],
    ["a new line", [task("a\nb")], [String.raw`graph: tasks.0.name "a\nb" ${nameRule}`]],
    ["a name used twice", [task("a"), task("a")], ['graph: tasks.1.name "a" is used twice; rename one of them']],
    [
      "an unknown predecessor, and no cycle beside it",
      [task("a", ["b"]), task("b", ["a", "x"])],
      ['graph: tasks.1.after "x" is not a task of this graph ("b" waits for it); add it, or remove the edge'],
    ],
    ["itself before it", [task("a", ["a"])], ['graph: tasks.0.after "a" would wait for itself; remove the edge']],
    [
      "a predecessor named twice",
      [task("a"), task("b", ["a", "a"])],
      ['graph: tasks.1.after "a" is named twice by "b"; name it once'],
    ],
    [
      "an unknown join",
      [task("a", [], "most" as "all")],
      ['graph: tasks.0.join "most" is not one of the choices; use "all" or "any" or "allDone"'],
    ],
    [
      "more than its predecessors to succeed, and none of them",
      [task("a", [], { atLeast: 1 }), task("b", ["a"], { atLeast: 2 }), task("c", ["a"], { atLeast: 0 })],
      [
        'graph: tasks.0.join {"atLeast":1} needs predecessors, and this task has none; name them in after',
        "graph: tasks.1.join.atLeast 2 must be a whole number from 1 to 1, the number of its predecessors; change it",
        "graph: tasks.2.join.atLeast 0 must be a whole number from 1 to 1, the number of its predecessors; change it",
      ],
    ],
    [
      "a join with another word",
      [task("a"), task("b", ["a"], { atLeast: 1, of: 2 } as GraphTask["join"])],
      ["graph: tasks.1.join.of 2 is not known; use atLeast"],
    ],
    [
      "a cycle",
      [task("a", ["b"]), task("b", ["a"])],
      ['graph: tasks "a -> b -> a" is a cycle: none of these could ever start; remove one of these edges'],
    ],
  ])("%s", (_, tasks, expected) => {
    expect(problemsOf(...tasks)).toEqual(expected);
  });

  test.each(["n", "n".repeat(128), "with spaces", "날씨 😀"])("but not for the name %j", (name) => {
    expect(problemsOf(task(name))).toEqual([]);
  });

  test("of more than 50,000 tasks, and then of nothing else", () => {
    const nameless = Array<GraphTask>(contractLimits.tasksMax + 1).fill(task(""));
    expect(problemsOf(...nameless)).toEqual(["graph: tasks 50001 must be at most 50000 tasks; split the graph"]);
    const most = Array.from({ length: contractLimits.tasksMax }, (_, at) => task(`t${at}`));
    expect(problemsOf(...most)).toEqual([]);
  });

  test("of more than 500,000 edges together, and then of nothing else", () => {
    const sources = Array.from({ length: 500 }, (_, at) => task(`s${at}`));
    const after = sources.map(({ name }) => name);
    const wide = [...sources, ...Array.from({ length: 1_000 }, (_, at) => task(`t${at}`, after))];
    expect(problemsOf(...wide)).toEqual([]);
    expect(problemsOf(...wide, task("", ["s0"]))).toEqual([
      "graph: tasks 500001 must have at most 500000 edges together; put a task between wide levels",
    ]);
  });
});

describe("a cycle", () => {
  test.each<[string, readonly GraphTask[], readonly string[] | null]>([
    ["is none without tasks", [], null],
    ["is none in a chain", [task("a"), task("b", ["a"]), task("c", ["b"])], null],
    ["is none in a diamond", [task("d", ["b", "c"]), task("b", ["a"]), task("c", ["a"]), task("a")], null],
    ["is a task after itself", [task("a", ["a"])], ["a", "a"]],
    [
      "is shown in the direction of its edges",
      [task("a", ["c"]), task("b", ["a"]), task("c", ["b"])],
      ["a", "b", "c", "a"],
    ],
    [
      "is found beside a chain",
      [task("r"), task("s", ["r"]), task("t", ["s"]), task("a", ["b"]), task("b", ["a"])],
      ["a", "b", "a"],
    ],
    ["leaves out what only comes after it", [task("t", ["a"]), task("a", ["b"]), task("b", ["a"])], ["a", "b", "a"]],
    ["leaves out what comes before it", [task("r"), task("a", ["r", "b"]), task("b", ["a"])], ["a", "b", "a"]],
  ])("%s", (_, tasks, expected) => {
    expect(findCycle(tasks)).toEqual(expected);
  });
});
