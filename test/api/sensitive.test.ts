import { expect, test } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";
import { redact } from "../../src/api/redacted.ts";
import { marksToKeep, SensitiveSchema, sensitiveKinds } from "../../src/api/sensitive.ts";
import type { JobDefinition } from "../../src/define/definition.ts";

const secret = z.string().meta({ sensitive: true });
const hidden = "[hidden]";
const tree = z.object({
  name: z.string(),
  pin: secret,
  get below() {
    return z.array(tree).optional();
  },
});

const quoting = ["result", "error", "errorMessage", "message", "output", "stack", "cause", "log", "sentence"];
const definition = (schema: unknown) => ({ id: "pay", schema, seal: null, body: {} }) as unknown as JobDefinition;
const kindsOf = (schema: unknown) => sensitiveKinds([definition(schema)]);
/** By today's schema, and the same by what is kept of it once the kind is gone. */
function shown(schema: unknown, payload: unknown): unknown {
  const kept = JSON.parse(JSON.stringify(marksToKeep([definition(schema)]))) as ReturnType<typeof marksToKeep>;
  const [now, later] = [kindsOf(schema), sensitiveKinds([]).with(kept)].map(
    (kinds) => (redact({ kind: "pay", payload }, kinds) as { payload: unknown }).payload,
  );
  expect(later).toEqual(now);
  return now;
}

test.each<[string, z.ZodType, unknown, unknown]>([
  ["a member", z.object({ a: secret, b: z.string() }), { a: "S", b: "b" }, { a: hidden, b: "b" }],
  [
    "a member of a member",
    z.object({ a: z.object({ b: secret, c: z.number() }) }),
    { a: { b: "S", c: 1 } },
    { a: { b: hidden, c: 1 } },
  ],
  ["a member that may be left out", z.object({ a: secret.optional() }), { a: "S" }, { a: hidden }],
  ["null, which quotes nothing", z.object({ a: secret.nullable() }), { a: null }, { a: null }],
  ["a member with a default", z.object({ a: secret.default("x") }), { a: "S" }, { a: hidden }],
  ["a member that is turned into another form", z.object({ a: secret.transform(Number) }), { a: "1" }, { a: hidden }],
  [
    "items of an array",
    z.object({ a: z.array(z.object({ b: secret, c: z.string() })) }),
    { a: [{ b: "S", c: "c" }] },
    { a: [{ b: hidden, c: "c" }] },
  ],
  ["one item of a tuple", z.object({ a: z.tuple([z.string(), secret]) }), { a: ["b", "S"] }, { a: ["b", hidden] }],
  [
    "the rest of a tuple",
    z.object({ a: z.tuple([z.string()]).rest(secret) }),
    { a: ["b", "S", "S"] },
    { a: ["b", hidden, hidden] },
  ],
  ["values of a record", z.record(z.string(), secret), { a: "S", b: "S" }, { a: hidden, b: hidden }],
  ["members by a pattern", z.looseRecord(z.string().regex(/^x/), secret), { xa: "S" }, { xa: hidden }],
  [
    "names of a record",
    z.object({ a: z.record(secret, z.number()), b: z.string() }),
    { a: { S: 1 }, b: "b" },
    { a: hidden, b: "b" },
  ],
  [
    "members beyond those that are named",
    z.object({ a: z.string() }).catchall(secret),
    { a: "a", b: "S" },
    { a: "a", b: hidden },
  ],
  [
    "either of two forms",
    z.object({ a: z.union([z.object({ b: secret }), z.object({ c: z.string() })]) }),
    { a: { b: "S", c: "c" } },
    { a: { b: hidden, c: "c" } },
  ],
  [
    "a form that a member chooses",
    z.discriminatedUnion("t", [z.object({ t: z.literal("card"), no: secret }), z.object({ t: z.literal("cash") })]),
    { t: "card", no: "S" },
    { t: "card", no: hidden },
  ],
  [
    "both of two forms",
    z.object({ a: secret }).and(z.object({ b: z.string() })),
    { a: "S", b: "b" },
    { a: hidden, b: "b" },
  ],
  [
    "a schema with an id",
    z.object({ a: z.string().meta({ id: "Iban", sensitive: true }), b: z.string() }),
    { a: "S", b: "b" },
    { a: hidden, b: "b" },
  ],
  [
    "what is inside of a schema with an id",
    z.object({ a: z.object({ b: secret, c: z.string() }).meta({ id: "a/b~c" }) }),
    { a: { b: "S", c: "c" } },
    { a: { b: hidden, c: "c" } },
  ],
  [
    "a tree, at each depth",
    tree,
    { name: "a", pin: "S", below: [{ name: "b", pin: "S", below: [{ name: "c", pin: "S" }] }] },
    { name: "a", pin: hidden, below: [{ name: "b", pin: hidden, below: [{ name: "c", pin: hidden }] }] },
  ],
  [
    "a member that has the name of a method",
    z.object({ a: secret, toString: z.string() }),
    { a: "S", toString: "b" },
    { a: hidden, toString: "b" },
  ],
])("hides %s", (_, schema, payload, seen) => {
  expect(shown(schema, payload)).toEqual(seen);
});

test.each<[string, z.ZodType, unknown, unknown]>([
  ["a text in place of an object", z.object({ a: secret }), "S", hidden],
  ["an array in place of an object", z.object({ a: secret }), ["S"], hidden],
  [
    "an object in place of an array",
    z.object({ a: z.array(secret), b: z.string() }),
    { a: { x: "S" }, b: "b" },
    { a: hidden, b: "b" },
  ],
  ["a text in place of an array", z.object({ a: z.array(secret) }), { a: "S" }, { a: hidden }],
  ["nothing", z.object({ a: secret }), null, null],
])("hides what is of another form than its schema, as of an older release: %s", (_, schema, payload, seen) => {
  expect(shown(schema, payload)).toEqual(seen);
});

test("a schema of zod/mini marks as well", () => {
  const own = mini.string().register(z.globalRegistry, { sensitive: true });
  expect(shown(mini.object({ a: own, b: mini.string() }), { a: "S", b: "b" })).toEqual({ a: hidden, b: "b" });
});

test("a kind is sensitive only if its schema marks something", () => {
  const marks = (schema: unknown): boolean => kindsOf(schema).has("pay");
  expect(marks(z.object({ a: secret }))).toBe(true);
  expect(marks(tree)).toBe(true);
  expect(marks(z.object({ a: z.string().meta({ sensitive: false }) }))).toBe(false);
  expect(marks(z.object({ a: z.array(z.string()) }))).toBe(false);
  expect(marks({ "~standard": { vendor: "other", validate: () => ({ value: null }) } })).toBe(false);
  expect(marks(undefined)).toBe(false);
});

test("what names a part that is not there is hidden", () => {
  const schema = new SensitiveSchema({ properties: { a: { $ref: "#/$defs/gone" }, b: {} } });
  expect(schema.hide({ a: "S", b: "b" })).toEqual({ a: hidden, b: "b" });
});

test("schemas that name each other end", () => {
  const schema = new SensitiveSchema({
    $defs: {
      a: { anyOf: [{ $ref: "#/$defs/b" }, { properties: { pin: { sensitive: true } } }] },
      b: { $ref: "#/$defs/a" },
    },
    $ref: "#/$defs/a",
  });
  expect(schema.hide({ pin: "S", other: "o" })).toEqual({ pin: hidden, other: "o" });
});

// Made in each test: what runs while a file is loaded is no part of a test, and `mutate` leaves it out.
const pay = () => kindsOf(z.object({ a: secret })).with([{ kind: "mail", marks: {} }]);

test.each<[string, unknown, unknown]>([
  [
    "a list of jobs, each by its own kind",
    [
      { kind: "pay", payload: { a: "S" } },
      { kind: "mail", payload: { a: "a" }, result: "r" },
    ],
    [
      { kind: "pay", payload: { a: hidden } },
      { kind: "mail", payload: { a: "a" }, result: "r" },
    ],
  ],
  [
    "a job that is a member",
    { job: { kind: "pay", input: { a: "S" } }, isNew: true },
    { job: { kind: "pay", input: { a: hidden } }, isNew: true },
  ],
  [
    "a schedule, which names its kind in its job",
    { id: "s", job: { kind: "pay" }, last: { result: "S" } },
    { id: "s", job: { kind: "pay" }, last: { result: hidden } },
  ],
  [
    "a job inside of another's run, by its own kind",
    { kind: "mail", jobs: [{ kind: "pay", result: "S" }], result: "r" },
    { kind: "mail", jobs: [{ kind: "pay", result: hidden }], result: "r" },
  ],
  [
    "attempts, by the kind of their job",
    { kind: "pay", attempts: [{ error: { code: "X", message: "S" } }] },
    { kind: "pay", attempts: [{ error: { code: "X", message: hidden } }] },
  ],
  [
    "an error without a message",
    { kind: "pay", error: { code: "X", message: null } },
    { kind: "pay", error: { code: "X", message: null } },
  ],
  ["an error of an unknown form", { kind: "pay", error: { code: "X", text: "S" } }, { kind: "pay", error: hidden }],
  ["an error that is a text", { kind: "pay", error: "S" }, { kind: "pay", error: hidden }],
  ["the details of a failure", { kind: "pay", failure: { stack: "S" } }, { kind: "pay", failure: null }],
  [
    "what is null already",
    { kind: "pay", result: null, error: null, payload: null },
    { kind: "pay", result: null, error: null, payload: null },
  ],
  [
    "every text that may quote it",
    Object.fromEntries([["kind", "pay"], ...quoting.map((name) => [name, "S"])]),
    Object.fromEntries([["kind", "pay"], ...quoting.map((name) => [name, hidden])]),
  ],
  [
    "what was searched for, of whichever kind",
    { kind: "mail", filter: { kind: "mail", text: "S", payload: { "a.b": "S" } } },
    { kind: "mail", filter: { kind: "mail", text: hidden, payload: { "a.b": hidden } } },
  ],
  ["a filter without a text", { filter: { lane: "a" } }, { filter: { lane: "a" } }],
  ["no filter", { filter: null }, { filter: null }],
  ["the hash of a payload, of whichever kind", { payload: { hmac: "f00" } }, { payload: hidden }],
  [
    "and no payload that has a member of that name",
    { payload: { hmac: "f00", b: 1 } },
    { payload: { hmac: "f00", b: 1 } },
  ],
  [
    "a job whose kind is no text",
    { kind: 5, job: { kind: "pay" }, result: "S" },
    { kind: 5, job: { kind: "pay" }, result: hidden },
  ],
  ["nothing of what has no kind", { job: null, result: "r", error: "e" }, { job: null, result: "r", error: "e" }],
  ["nothing of a job whose kind is no text", { job: { kind: 5 }, result: "r" }, { job: { kind: 5 }, result: "r" }],
  ["no hash of anything else", { detail: { hmac: "f00" } }, { detail: { hmac: "f00" } }],
  ["no filter that is a text", { filter: "a" }, { filter: "a" }],
  ["an error without a code", { kind: "pay", error: { message: "S" } }, { kind: "pay", error: hidden }],
  [
    "what is inside of a job, by its kind where none is named",
    { kind: "pay", last: { job: { kind: 5 }, result: "S" } },
    { kind: "pay", last: { job: { kind: 5 }, result: hidden } },
  ],
])("an answer hides %s", (_, answer, seen) => {
  expect(redact(answer, pay())).toEqual(seen);
});

const mark = { sensitive: true };

test.each<[string, ConstructorParameters<typeof SensitiveSchema>[0], unknown, unknown]>([
  [
    "a value that one of its forms marks as a whole",
    { anyOf: [mark, { properties: { b: mark } }] },
    { b: "S", c: "c" },
    hidden,
  ],
  ["a tuple without a rest, and what is behind it", { prefixItems: [mark] }, ["S", "b"], [hidden, "b"]],
  ["an array that may be an object too", { anyOf: [{ items: mark }, { properties: { b: mark } }] }, ["S"], [hidden]],
  [
    "an object that may be an array too",
    { anyOf: [{ items: mark }, { properties: { b: mark } }] },
    { b: "S", c: "c" },
    { b: hidden, c: "c" },
  ],
  [
    "each of several that hold together",
    { allOf: [{ properties: { a: mark } }, { properties: { b: mark } }] },
    { a: "S", b: "S", c: "c" },
    { a: hidden, b: hidden, c: "c" },
  ],
  ["nothing of what is not there", { properties: { b: mark } }, undefined, undefined],
])("a schema hides %s", (_, schema, value, seen) => {
  const own = new SensitiveSchema(schema);
  const kept = new SensitiveSchema(JSON.parse(JSON.stringify(own.kept())) as typeof schema);
  expect([own.hide(value), kept.hide(value)]).toEqual([seen, seen]);
});

test("what is kept of a schema says its marks and no more, so that other changes keep nothing new", () => {
  const kept = (schema: z.ZodType): unknown => JSON.parse(JSON.stringify(marksToKeep([definition(schema)])));
  const first = kept(z.object({ a: secret, b: z.string() }));
  expect(first).toEqual([{ kind: "pay", marks: { properties: { a: { sensitive: true } } } }]);
  expect(kept(z.object({ c: z.array(z.number()).optional(), a: secret.describe("a card") }))).toEqual(first);
  expect(kept(z.object({ b: z.string() }))).toEqual([{ kind: "pay", marks: {} }]);
  expect(kept(z.object({ b: z.string() }).catchall(secret))).toEqual([
    { kind: "pay", marks: { properties: { b: {} }, additionalProperties: { sensitive: true } } },
  ]);
});

test("a kind is hidden by all marks that it has or had, one that never had any by none, and an unknown one as a whole", () => {
  const kinds = kindsOf(z.object({ pan: secret, card: z.string() })).with([
    { kind: "pay", marks: { properties: { card: { sensitive: true } } } },
    { kind: "mail", marks: {} },
    { kind: "gone", marks: { properties: { pin: { sensitive: true } } } },
  ]);
  const seen = (kind: string) =>
    redact({ kind, payload: { pan: "S", card: "S", pin: "S", to: "t" }, result: "S" }, kinds);
  expect(seen("pay")).toMatchObject({ payload: { pan: hidden, card: hidden, to: "t" }, result: hidden });
  expect(seen("gone")).toMatchObject({ payload: { pin: hidden, to: "t" }, result: hidden });
  expect(seen("mail")).toMatchObject({ payload: { pin: "S" }, result: "S" });
  expect(seen("never")).toMatchObject({ payload: hidden, result: hidden });
});
