import { expect, test } from "vitest";
import type { HttpProblem } from "../../src/api/problem.ts";
import { graphOf, startableKind } from "../../src/api/startable-kind.ts";
import { unknownRoute } from "../../src/api/unknown-route.ts";
import type { Registry } from "../../src/core/define/definition.ts";

const job = (id: string, is: string, makes?: readonly object[]) => ({ id, body: { is }, ...(makes && { makes }) });
const defined = [
  job("hello", "run"),
  job("fan", "fanOut", [job("part", "run")]),
  job("steps", "graph", [job("first", "run"), job("second", "run")]),
  job("bare", "dataGraph"),
];
const more = defined.flatMap(({ makes = [] }) => makes as typeof defined);
const registry = { jobs: new Map([...defined, ...more].map((each) => [each.id, each])) } as unknown as Registry;

const refused = (kind: string): unknown => {
  try {
    return startableKind(registry, kind).id;
  } catch (error) {
    const { code, message, issues, extra } = error as HttpProblem;
    return { code, message, issues, extra };
  }
};

test("a task of a graph is started with its graph, and each other kind by itself", () => {
  for (const kind of ["hello", "fan", "part", "steps", "bare"]) {
    expect(graphOf(registry, kind)).toBeNull();
    expect(refused(kind)).toBe(kind);
  }
  for (const kind of ["first", "second"]) {
    expect(graphOf(registry, kind)).toBe("steps");
    expect(refused(kind)).toEqual({
      code: "not-startable",
      message: `"${kind}" is a task of the graph "steps": enqueue "steps" instead`,
      issues: [{ path: "kind", message: 'is a task: start its graph "steps"' }],
      extra: { near: ["steps"] },
    });
  }
});

const far = "no definition has a similar name";

test.each([
  ["helo", "helo", "did you mean hello?", ["hello"]],
  ["steps2", "steps2", "did you mean steps?", ["steps"]],
  ["fax", "fax", "did you mean fan?", ["fan"]],
  ["nothing-like-it", "nothing-like-it", far, []],
  [`n${"x".repeat(99)}`, `n${"x".repeat(99)}`, far, []],
  [`n${"x".repeat(100)}`, `n${"x".repeat(99)}`, far, []],
])("the kind %s is not defined", (kind, shown, hint, near) => {
  expect(refused(kind)).toEqual({
    code: "unknown-kind",
    message: `no job is defined as "${shown}": ${hint}`,
    issues: [{ path: "kind", message: "is not defined in the running apps" }],
    extra: { near },
  });
});

const routes = [
  { method: "GET", path: "/jobs" },
  { method: "POST", path: "/jobs" },
  { method: "GET", path: "/jobs/:id" },
  { method: "POST", path: "/jobs/:id/cancel" },
  { method: "PUT", path: "/locks/:name" },
] as const;

test.each([
  ["DELETE", "/jobs", "GET, POST, HEAD, OPTIONS"],
  ["POST", "/jobs/7", "GET, HEAD, OPTIONS"],
  ["GET", "/jobs/7/cancel", "POST, OPTIONS"],
  ["GET", "/locks/a.b", "PUT, OPTIONS"],
])("%s %s: the path has %s", (method, path, allow) => {
  const { code, message, headers } = unknownRoute(routes, { method, path });
  expect([code, message, headers]).toEqual([
    "method-not-allowed",
    `${path} has no ${method}: it has ${allow}`,
    { allow },
  ]);
});

test.each([
  ["/job", "did you mean /jobs? "],
  ["/lock/7", "did you mean /locks? "],
  ["/nothing-like-it", ""],
  ["/jobs/7/other", "did you mean /jobs? "],
  ["*", ""],
])("there is no %s", (path, hint) => {
  const { code, message, headers } = unknownRoute(routes, { method: "GET", path });
  expect([code, message, headers]).toEqual([
    "no-such-route",
    `there is no ${path}: ${hint}the resources are /jobs, /locks; /openapi.json describes them, docs/api.md shows each`,
    {},
  ]);
});
