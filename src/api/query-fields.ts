/** Fields of queries: how each is read from text, and (`as`) what a client sees of it in the document. */
import { z } from "zod";
import { formatDuration, parseDuration } from "../calendar/duration.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { JobId } from "../machine/job.ts";

/** A whole number, as a text of the query; a client sees a number. */
const upTo = (max: number) =>
  z
    .string(`must be a whole number from 1 to ${max}`)
    .regex(new RegExp(String.raw`^[1-9]\d{0,${String(max).length - 1}}$`), `must be a whole number from 1 to ${max}`)
    .transform(Number)
    .refine((value) => value <= max, `must be at most ${max}`);

const wholeAs = (max: number) => ({ type: "integer", minimum: 1, maximum: max });

export const whole = (max: number, usual: number, description: string) =>
  upTo(max)
    .default(usual)
    .meta({ description, as: { ...wholeAs(max), default: usual } });

export const maybeWhole = (max: number, description: string) =>
  upTo(max)
    .optional()
    .meta({ description, as: wholeAs(max) });

/** One rule for all lists: `max` rows a page at most. */
export const limit = (usual: number, max: number = contractLimits.listRowsMax) => whole(max, usual, "Rows of a page.");

/** Of any length that surely fits the 64 bits of the database. */
const idPattern = /^[1-9]\d{0,17}$/;
export const id = z
  .string("must be a number like 42")
  .regex(idPattern, "must be a number like 42")
  .transform((value) => value as JobId)
  .meta({ description: "Its number.", as: { type: "string", pattern: idPattern.source } });

export const text = (max: number, description?: string) =>
  z
    .string("must be a text")
    .min(1, "must not be empty")
    .max(max, `must have at most ${max} characters`)
    .meta({ description });

/** The name of something that is defined: a kind, a lane, an app, a schedule, a zone. */
export const nameText = (description?: string) => text(contractLimits.idCharactersMax, description);

/** The page of a list that is ordered by id. */
export const pageFields = (usual: number) => ({ cursor: id.optional(), limit: limit(usual) });

export const instant = z.iso
  .datetime({ offset: true, error: "must be a time with its offset: 2026-11-21T08:00:00Z" })
  .transform((value) => Date.parse(value))
  .meta({ as: { type: "string", format: "date-time", description: "With Z or its offset." } });

/** What `parseDuration` reads, as long as its milliseconds are exact. */
const durationPattern = String.raw`^(\d{1,12}(\.\d{1,6})?(ms|s)|\d{1,8}(\.\d{1,6})?(m|h|d))$`;

/** A number and a unit, as milliseconds; a client sees the form. */
export const durationUpTo = (maxMs: number, description: string) =>
  z
    .string("must be a text")
    .transform((value, context) => {
      const ms = parseDuration(value);
      if (ms !== null && ms <= maxMs) return ms;
      context.addIssue(
        ms === null
          ? 'must be a number and a unit: "500ms", "30s", "10m", "2h" or "1d"'
          : `must be at most ${formatDuration(maxMs)}`,
      );
      return z.NEVER;
    })
    .meta({ description, as: { type: "string", pattern: durationPattern } });

/** The time between two of them: itself, or by how many a second have. */
export const paceUpTo = (maxMs: number, description: string) =>
  z
    .string("must be a text")
    .transform((value) => value.replace(/^([1-9]\d{0,2})\/s$/, (_, rate) => `${Math.round(1_000 / Number(rate))}ms`))
    .pipe(durationUpTo(maxMs, description))
    .meta({ description, as: { type: "string", pattern: `^([1-9]\\d{0,2}/s|${durationPattern.slice(1, -1)})$` } });

/** Yes or no: in a query as a text, in a body also as JSON has it. */
export const isTrue = (description: string) =>
  z
    .union([z.boolean(), z.enum(["true", "false"])], "must be true or false")
    .transform((value) => String(value) === "true")
    .meta({ description, as: { type: "boolean" } });

/** Several of these: in a query with commas between them, in a body also as an array. */
export const someOf = <const T extends readonly [string, ...string[]]>(values: T, description: string) =>
  z
    .union([z.string(), z.array(z.string())], `must be one or more of ${values.join(", ")}`)
    .transform((value) => (typeof value === "string" ? value.split(",") : value).map((each) => each.toUpperCase()))
    .pipe(z.array(z.enum(values)).min(1, "must name one"))
    .meta({ description, as: { type: "array", items: { type: "string", enum: values }, minItems: 1 } });

/** Of a request that makes something: the same one makes nothing further. */
export const requestKey = text(
  contractLimits.keyCharactersMax,
  "Unique in the stage, kept for a week: the same request makes nothing further.",
).optional();

/** Several names, in a body. */
export const textsOf = (max: number, description: string) =>
  z
    .array(text(200).regex(/^[^,]+$/, "must have no comma"))
    .min(1, "must name one")
    .max(max, `must name at most ${max}`)
    .describe(description);

/** The same in a query, with commas between them. */
export const commaTextsOf = (max: number, description: string, pattern = "^[^,]+$") =>
  z
    .string("must be a text")
    .transform((value) => value.split(","))
    .pipe(textsOf(max, description))
    .meta({
      description,
      as: {
        type: "array",
        items: { type: "string", minLength: 1, maxLength: 200, pattern },
        minItems: 1,
        maxItems: max,
      },
    });
