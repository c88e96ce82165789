import type { Context } from "hono";
import { z } from "zod";
import { formatDuration, parseDuration } from "../core/calendar/duration.ts";
import type { JobId } from "../core/job/job.ts";
import { contractLimits } from "../core/job/contract-limits.ts";
import type { OccurrencePlace } from "../core/ports/schedule.ts";
import { Problem } from "./problem.ts";

export const limit = (max: number, usual: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,4}$/, `must be a whole number from 1 to ${max}`)
    .transform(Number)
    .refine((value) => value <= max, `must be at most ${max}`)
    .default(usual);

/** A job's number fits 64 bits; a longer one would be an error inside the database. */
const isId = (value: string): boolean => /^[1-9]\d{0,18}$/.test(value) && BigInt(value) < 2n ** 63n;
export const id = z
  .string()
  .refine(isId, "must be a job's number, like 42")
  .transform((value) => value as JobId);

export const text = (max: number) => z.string().min(1).max(max);

/** `nominalAt~localTime~fold~timezone`, as the page before gave it. */
const place = text(200)
  .transform((value) => /^(\d{1,15})~([-\dT:]{1,32})~([01])~([\w/+-]{1,64})$/.exec(value))
  .refine((parts) => parts !== null, "must be the nextCursor of the page before")
  .transform((parts): OccurrencePlace => {
    const [, nominalAt, localTime = "", fold, timezone = ""] = parts ?? [];
    return { nominalAt: Number(nominalAt), localTime, fold: Number(fold), timezone };
  });

export const occurrencesQuery = z.strictObject({
  limit: limit(contractLimits.listRowsMax, 50),
  cursor: place.optional(),
});

export const schedulesQuery = z.strictObject({
  limit: limit(contractLimits.schedulesMax, contractLimits.schedulesMax),
  cursor: text(contractLimits.idCharactersMax).optional(),
});

export const newJobBody = z.strictObject({
  kind: z.string(),
  payload: z.unknown().optional(),
  key: text(contractLimits.keyCharactersMax).optional(),
  delay: z
    .string()
    .transform(parseDuration)
    .refine((ms) => ms !== null, 'must be a number and a unit: "500ms", "30s", "10m", "2h" or "1d"')
    .refine(
      (ms) => (ms ?? 0) <= contractLimits.delayMsMax,
      `must be at most ${formatDuration(contractLimits.delayMsMax)}`,
    )
    .transform((ms) => ms ?? 0)
    .optional(),
  dueAt: z.iso
    .datetime({ offset: true, error: "must be a time with its offset: 2026-11-21T08:00:00Z" })
    .transform((value) => new Date(value))
    .optional(),
});

/** The parameters in the path. @throws Problem 400 */
export function readPath<T>(c: Context, schema: z.ZodType<T>): T {
  return readWith(schema, storable(c.req.param(), ""), (path) => path);
}

/** Query parameters; an unknown one, or one that comes twice, is refused: a filter must not be ignored. */
export function readQuery<T>(c: Context, schema: z.ZodType<T>): T {
  const twice = Object.entries(c.req.queries())
    .find(([, values]) => values.length > 1)?.[0]
    .slice(0, 100);
  if (twice !== undefined) {
    const issue = { path: `?${twice}`, message: "comes twice: several values go into one, with commas between them" };
    throw new Problem(400, "invalid-request", `${issue.path}: ${issue.message}`, { issues: [issue] });
  }
  return readWith(schema, storable(c.req.query(), "?"), (path) => `?${path.replace(/\.\d+$/, "")}`);
}

/** Postgres stores no NUL, so nothing that has one can be found there. */
function storable(values: Readonly<Record<string, string>>, prefix: string): Readonly<Record<string, string>> {
  const bad = Object.entries(values).find((entry) => entry.some((text) => text.includes("\0")));
  if (bad === undefined) return values;
  const path = `${prefix}${bad[0].replaceAll("\0", "\u{FFFD}").slice(0, 100)}`;
  const message = "holds a NUL character: remove it";
  throw new Problem(400, "not-storable", `${path} ${message}`, { issues: [{ path, message }] });
}

export function readBody<T>(body: unknown, schema: z.ZodType<T>): T {
  return readWith(schema, body, (path) => path || "(root)");
}

function readWith<T>(schema: z.ZodType<T>, value: unknown, named: (path: string) => string): T {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  const issues = result.error.issues.flatMap((issue) => {
    const at = issue.path.map(String);
    if (issue.code !== "unrecognized_keys") return [{ path: named(at.join(".")), message: messageOf(issue) }];
    return issue.keys.map((key) => ({
      path: named([...at, key].join(".").slice(0, 100)),
      message: "is not known here",
    }));
  });
  const detail = issues.map(({ path, message }) => `${path}: ${message}`).join("; ");
  throw new Problem(400, "invalid-request", detail, { issues });
}

/** The rule and what was given instead, as far as it is one short value. */
function messageOf(issue: z.core.$ZodIssue): string {
  const rule = issue.code === "invalid_value" ? `must be one of ${issue.values.join(", ")}` : issue.message;
  const { input } = issue;
  const isShown = rule.startsWith("must ") && (typeof input === "string" || typeof input === "number");
  return isShown ? `${rule}, not ${JSON.stringify(shortened(input))}` : rule;
}

const shortened = (value: string | number): string | number =>
  typeof value === "string" && value.length > 60 ? `${value.slice(0, 60)}...` : value;
