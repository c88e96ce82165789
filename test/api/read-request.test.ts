import { Hono } from "hono";
import { expect, test } from "vitest";
import { z } from "zod";
import type { HttpProblem } from "../../src/api/problem.ts";
import { occurrencesQuery, pageOf, readBody, readPath, readQuery } from "../../src/api/query.ts";
import { someOf, whole } from "../../src/api/query-fields.ts";

const thrown = (run: () => unknown): HttpProblem => {
  try {
    return expect.fail(`it was read: ${JSON.stringify(run())}`);
  } catch (error) {
    return error as HttpProblem;
  }
};

const issuesOf = (error: unknown): string =>
  (error as HttpProblem).issues.map(({ path, message }) => `${path}: ${message}`).join("; ");

/** What a schema says about a body: its value, or its issues in one line. */
function body(schema: z.ZodType, sent: unknown): unknown {
  try {
    return readBody(sent, schema);
  } catch (error) {
    return issuesOf(error);
  }
}

const long = "x".repeat(60);
const only = z.strictObject;

test.each<[string, z.ZodType, unknown, unknown]>([
  ["a text in place of an object", only({}), "x", '(root): must be an object, not "x"'],
  ["a member that is missing", only({ a: z.string() }), {}, "a: is missing"],
  ["a choice that is missing", only({ a: z.enum(["x", "y"]) }), {}, "a: is missing"],
  [
    "a rule of its own for what is missing",
    only({ a: z.union([z.string(), z.number()], "must be a text or a number") }),
    {},
    "a: must be a text or a number",
  ],
  ["another choice", only({ a: z.enum(["x", "y"]) }), { a: "z" }, 'a: must be one of x, y, not "z"'],
  ["a number in place of a text", only({ a: z.string() }), { a: 5 }, "a: must be a text, not 5"],
  ["a text in place of a number", only({ a: z.number() }), { a: "5" }, 'a: must be a number, not "5"'],
  ["a fraction", only({ a: z.int() }), { a: 1.5 }, "a: must be a whole number, not 1.5"],
  ["null, of which nothing is shown", only({ a: z.boolean() }), { a: null }, "a: must be true or false"],
  ["an object, of which nothing is shown", only({ a: z.array(z.string()) }), { a: {} }, "a: must be a list"],
  ["a type without a name here", only({ a: z.bigint() }), { a: "5" }, 'a: must be of the type bigint, not "5"'],
  ["a place in a list", only({ a: z.array(z.string()) }), { a: ["x", 5] }, "a.1: must be a text, not 5"],
  ["too small a number", only({ a: z.number().min(3) }), { a: 2 }, "a: must be at least 3, not 2"],
  ["too large a number", only({ a: z.number().max(3) }), { a: 4 }, "a: must be at most 3, not 4"],
  ["a name of another form", z.record(z.string().regex(/^a/), z.number()), { b: 1 }, "b: has a name of another form"],
  ["another form", only({ a: z.string().regex(/^a/) }), { a: "b" }, 'a: must be of the documented form, not "b"'],
  ["a rule without words", only({ a: z.string().refine(() => false) }), { a: "b" }, "a: Invalid input"],
  ["a rule that does not say must", only({ a: z.string().refine(() => false, "is late") }), { a: "b" }, "a: is late"],
  ["a text of 60 characters", only({ a: z.number() }), { a: long }, `a: must be a number, not "${long}"`],
  ["a text of 61 characters", only({ a: z.number() }), { a: `${long}x` }, `a: must be a number, not "${long}..."`],
  ["two at once", only({ a: z.string(), b: z.string() }), {}, "a: is missing; b: is missing"],
])("a body with %s", (_what, schema, sent, message) => {
  expect(body(schema, sent)).toBe(message);
});

const inner = only({ state: z.string().optional() });

test.each<[string, z.ZodType, unknown, string]>([
  ["like another", only({ kind: z.string() }).partial(), { kinf: 1 }, "kinf: is not known here: did you mean kind?"],
  ["like none", only({ kind: z.string() }).partial(), { other: 1 }, "other: is not known here"],
  [
    "like two",
    only({ fromA: z.string(), fromB: z.string() }).partial(),
    { fromC: 1 },
    "fromC: is not known here: did you mean fromA or fromB?",
  ],
  ["in a member", only({ a: inner }), { a: { stat: 1 } }, "a.stat: is not known here: did you mean state?"],
  [
    "in a member that may be left out",
    only({ a: inner.optional() }),
    { a: { stat: 1 } },
    "a.stat: is not known here: did you mean state?",
  ],
  [
    "in a member with a default",
    only({ a: inner.default({}) }),
    { a: { stat: 1 } },
    "a.stat: is not known here: did you mean state?",
  ],
  [
    "in what may be left out at its root",
    inner.optional(),
    { stat: 1 },
    "stat: is not known here: did you mean state?",
  ],
  ["in a list", only({ a: z.array(inner) }), { a: [{ stat: 1 }] }, "a.0.stat: is not known here"],
  ["of 100 characters", only({}), { ["n".repeat(100)]: 1 }, `${"n".repeat(100)}: is not known here`],
  ["of 101 characters", only({}), { [`${"n".repeat(100)}o`]: 1 }, `${"n".repeat(100)}: is not known here`],
])("an unknown name %s", (_what, schema, sent, message) => {
  expect(body(schema, sent)).toBe(message);
});

const query = (schema: z.ZodType, search: string): Promise<unknown> =>
  asked("/", `/?${search}`, (c) => readQuery(c, schema));

/** What a handler reads of a request, or the issues that it throws. */
async function asked(route: string, path: string, read: (c: Parameters<typeof readQuery>[0]) => unknown) {
  const api = new Hono();
  let found: unknown;
  api.get(route, (c) => {
    found = read(c);
    return c.text("");
  });
  api.onError((error, c) => {
    found = issuesOf(error);
    return c.text("");
  });
  await api.request(`http://127.0.0.1${path}`);
  return found;
}

const states = someOf(["ON", "OFF"], "Those.");
const lists = only({
  plain: states,
  maybe: states.optional(),
  usual: states.default(["ON"]),
  one: z.string().optional(),
}).partial();
const nul = "holds a NUL character: remove it";

test.each<[string, unknown]>([
  ["", { usual: ["ON"] }],
  ["one=a", { one: "a", usual: ["ON"] }],
  ["one=a&one=b", "?one: comes twice and takes one value"],
  ["one=a&plain=on&one=b", "?one: comes twice and takes one value"],
  ["plain=on,off", { plain: ["ON", "OFF"], usual: ["ON"] }],
  ["plain=on&plain=off", { plain: ["ON", "OFF"], usual: ["ON"] }],
  ["pl%61in=on&plain=off", { plain: ["ON", "OFF"], usual: ["ON"] }],
  ["maybe=on&maybe=off", { maybe: ["ON", "OFF"], usual: ["ON"] }],
  ["usual=on&usual=off", { usual: ["ON", "OFF"] }],
  ["plain=x", '?plain: must be one of ON, OFF, not "X"'],
  ["other=1", "?other: is not known here"],
  ["other=1&other=2", "?other: comes twice and takes one value"],
  ["toString=1&toString=2", "?toString: comes twice and takes one value"],
  ["__proto__=1", "?__proto__: is not known here"],
  ["__%70roto__=1", "?__proto__: is not known here"],
  ["__proto__=1&__proto__=2", "?__proto__: is not known here"],
  [`${"n".repeat(100)}o=1&${"n".repeat(100)}o=2`, `?${"n".repeat(100)}: comes twice and takes one value`],
  ["one=%00", `?one: ${nul}`],
  ["one=a%00b", `?one: ${nul}`],
  ["o%00ne=a", `?o\u{FFFD}ne: ${nul}`],
])("the query %s", async (search, read) => {
  expect(await query(lists, search)).toEqual(read);
});

test("a query whose schema is no plain object takes each name once", async () => {
  const pair = lists.transform(({ one = "none" }) => one);
  expect(await query(pair, "one=a")).toBe("a");
  expect(await query(pair, "plain=on&plain=off")).toBe("?plain: comes twice and takes one value");
});

test("a parameter of the path is named as it is", async () => {
  const read = (path: string) => asked("/jobs/:id", path, (c) => readPath(c, only({ id: whole(9, 1, "Its number.") })));
  expect(await read("/jobs/7")).toEqual({ id: 7 });
  expect(await read("/jobs/x")).toBe('id: must be a whole number from 1 to 9, not "x"');
  expect(await read("/jobs/%00")).toBe(`id: ${nul}`);
});

test.each<[string, unknown]>([
  [
    "1764000000000~2025-11-24T16:00:00~0~Europe/Berlin",
    { nominalAt: 1_764_000_000_000, localTime: "2025-11-24T16:00:00", fold: 0, timezone: "Europe/Berlin" },
  ],
  ["1~-1:2~1~Etc/GMT+3", { nominalAt: 1, localTime: "-1:2", fold: 1, timezone: "Etc/GMT+3" }],
  ["1~2~2~UTC", '?cursor: must be the nextCursor of the page before, not "1~2~2~UTC"'],
  ["", '?cursor: must be the nextCursor of the page before, not ""'],
])("the cursor %s", async (cursor, read) => {
  const found = await query(occurrencesQuery, `cursor=${encodeURIComponent(cursor)}`);
  expect(found).toEqual(typeof read === "string" ? read : { limit: 50, cursor: read });
});

test("a page has a cursor only where there is more", () => {
  const cursorOf = (last: number): string => `after ${last}`;
  expect(pageOf([1, 2, 3], 2, cursorOf)).toEqual({ rows: [1, 2], nextCursor: "after 2" });
  expect(pageOf([1, 2], 2, cursorOf)).toEqual({ rows: [1, 2], nextCursor: null });
  expect(pageOf([], 2, cursorOf)).toEqual({ rows: [], nextCursor: null });
});

test("what is refused is refused as a whole: status, code and each issue", () => {
  expect(thrown(() => readBody({ a: 1 }, only({ b: z.string() })))).toMatchObject({
    status: 400,
    code: "invalid-request",
    message: "b: is missing; a: is not known here: did you mean b?",
    issues: [
      { path: "b", message: "is missing" },
      { path: "a", message: "is not known here: did you mean b?" },
    ],
  });
});
