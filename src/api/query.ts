import type { Context } from "hono";
import { z } from "zod";
import { closest } from "./closest.ts";
import { HttpProblem, invalidField } from "./problem.ts";

/** A page of the rows that were found, of which one more than `limit` was asked for. */
export function pageOf<T>(
  found: readonly T[],
  limit: number,
  cursorOf: (last: T) => string,
): { readonly rows: readonly T[]; readonly nextCursor: string | null } {
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return { rows, nextCursor: last === undefined ? null : cursorOf(last) };
}

export const pageBefore = "The `nextCursor` of the page before.";

/** The parameters in the path. @throws HttpProblem 400 */
export function readPath<T>(c: Context, schema: z.ZodType<T>): T {
  return readWith(schema, storable(c.req.param(), ""), (path) => path);
}

/**
 * Query parameters; an unknown one, or one that comes twice, is refused: a filter must not be ignored. Lists are written with
 * commas, and some clients repeat the name instead.
 */
export function readQuery<T>(c: Context, schema: z.ZodType<T>): T {
  const { searchParams } = new URL(c.req.url);
  const names = [...searchParams.keys()];
  // An object would swallow a parameter of this name.
  if (names.includes("__proto__")) throw invalidField("?__proto__", "is not known here");
  const repeated = names.filter((name, index) => names.indexOf(name) !== index);
  const twice = repeated.find((name) => !isList(schema, name))?.slice(0, 100);
  if (twice !== undefined) throw invalidField(`?${twice}`, "comes twice and takes one value");
  const lists = Object.fromEntries(repeated.map((name) => [name, searchParams.getAll(name).join(",")]));
  return readWith(schema, storable({ ...c.req.query(), ...lists }, "?"), (path) => `?${path.replace(/\.\d+$/, "")}`);
}

function isList(schema: z.ZodType, name: string): boolean {
  const field = schema instanceof z.ZodObject ? required(schema.shape[name]) : undefined;
  const as = field instanceof z.ZodType ? (field.meta()?.["as"] as { type?: unknown } | undefined) : undefined;
  return as?.type === "array";
}

/** A field without what makes it optional. */
function required(schema: unknown): unknown {
  let field = schema;
  while (field instanceof z.ZodOptional || field instanceof z.ZodDefault) field = field.unwrap();
  return field;
}

/** Postgres stores no NUL, so nothing that has one can be found there. */
function storable(values: Readonly<Record<string, string>>, prefix: string): Readonly<Record<string, string>> {
  const bad = Object.entries(values).find((entry) => entry.some((text) => text.includes("\0")));
  if (bad === undefined) return values;
  const path = `${prefix}${bad[0].replaceAll("\0", "\u{FFFD}").slice(0, 100)}`;
  const message = "holds a NUL character: remove it";
  throw new HttpProblem("not-storable", `${path} ${message}`, { issues: [{ path, message }] });
}

export function readBody<T>(body: unknown, schema: z.ZodType<T>): T {
  return readWith(schema, body, (path) => path || "(root)");
}

function readWith<T>(schema: z.ZodType<T>, value: unknown, named: (path: string) => string): T {
  const result = schema.safeParse(value, { reportInput: true, error: ruleOf });
  if (result.success) return result.data;
  const issues = result.error.issues.flatMap((issue) => {
    const at = issue.path.map(String);
    if (issue.code !== "unrecognized_keys") return [{ path: named(at.join(".")), message: messageOf(issue) }];
    return issue.keys.map((key) => {
      const near = closest(key, namesIn(schema, issue.path));
      const message = near.length === 0 ? "is not known here" : `is not known here: did you mean ${near.join(" or ")}?`;
      return { path: named([...at, key].join(".").slice(0, 100)), message };
    });
  });
  const detail = issues.map(({ path, message }) => `${path}: ${message}`).join("; ");
  throw new HttpProblem("invalid-request", detail, { issues });
}

function namesIn(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  let field = required(schema);
  for (const name of [...path, null]) {
    if (!(field instanceof z.ZodObject)) return [];
    const shape: Readonly<Record<PropertyKey, unknown>> = field.shape;
    if (name === null) return Object.keys(shape);
    field = required(shape[name]);
  }
  return [];
}

const typeNames: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** Where a schema has no words of its own. */
function ruleOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "invalid_type") return `must be ${typeNames[issue.expected] ?? `of the type ${issue.expected}`}`;
  if (issue.code === "too_small") return `must be at least ${issue.minimum}`;
  if (issue.code === "too_big") return `must be at most ${issue.maximum}`;
  if (issue.code === "invalid_key") return "has a name of another form";
  if (issue.code === "invalid_format") return "must be of the documented form";
  return undefined;
}

/** The rule and what was given instead, as far as it is one short value. */
function messageOf(issue: z.core.$ZodIssue): string {
  const { input } = issue;
  if (input === undefined && (issue.code === "invalid_type" || issue.code === "invalid_value")) return "is missing";
  const rule = issue.code === "invalid_value" ? `must be one of ${issue.values.join(", ")}` : issue.message;
  const shown = rule.startsWith("must ") ? shownOf(input) : null;
  return shown === null ? rule : `${rule}, not ${shown}`;
}

function shownOf(input: unknown): string | null {
  if (typeof input === "string") return JSON.stringify(input.length > 60 ? `${input.slice(0, 60)}...` : input);
  return typeof input === "number" ? JSON.stringify(input) : null;
}
