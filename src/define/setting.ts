/**
 * Reads one setting of a definition. A bad value adds a problem and is replaced by the default, so that it does not hide
 * the next problem.
 */
import { formatDuration, parseDuration } from "../calendar/duration.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { ProblemList } from "./problem.ts";

interface CountBounds<T> {
  readonly min: number;
  readonly max: number;
  readonly fallback: T;
}

interface DurationBounds<T> extends CountBounds<T> {
  /** Added to the rule: why the bound is there. */
  readonly because?: string;
  /** What to do when it is too long, if that is more than choosing a shorter one. */
  readonly whenTooLong?: string;
}

type Limits = typeof contractLimits;
type Measure = { [K in keyof Limits]: K extends `${infer Name}Max` ? Name : never }[keyof Limits];

/** The bounds of one name in `contractLimits`: for `agingMs` from `agingMsMin`, or 1, to `agingMsMax`, and `agingMsDefault`, or null. */
export const contractRange = <Name extends Measure>(
  name: Name,
): CountBounds<`${Name}Default` extends keyof Limits ? number : null> => {
  const limits: Readonly<Record<string, number>> = contractLimits;
  const [min = 1, max, fallback = null] = ["Min", "Max", "Default"].map((end) => limits[name + end]);
  return { min, max, fallback } as ReturnType<typeof contractRange<Name>>;
};

/** @returns milliseconds. */
export function readDuration<T>(
  problems: ProblemList,
  field: string,
  value: unknown,
  bounds: DurationBounds<T>,
): number | T {
  if (value === undefined) return bounds.fallback;
  const ms = parseDuration(value);
  if (ms === null) {
    problems.add(
      field,
      value,
      "is not a duration",
      'write a number and a unit, like "500ms", "30s", "5m", "2h" or "1d"',
    );
    return bounds.fallback;
  }
  const because = bounds.because === undefined ? "" : ` (${bounds.because})`;
  if (ms < bounds.min) {
    problems.add(field, value, `must be at least ${formatDuration(bounds.min)}${because}`, "use a longer one");
    return bounds.fallback;
  }
  if (ms > bounds.max) {
    const fix = bounds.whenTooLong ?? "use a shorter one";
    problems.add(field, value, `must be at most ${formatDuration(bounds.max)}${because}`, fix);
    return bounds.fallback;
  }
  return ms;
}

/** Options as an object, with a problem for each field that is not one of `fields`; null for anything else, which a definition in JavaScript may give. */
export function readOptions(
  problems: ProblemList,
  field: string,
  value: unknown,
  { fields, example }: { readonly fields: readonly string[]; readonly example: string },
): Readonly<Record<string, unknown>> | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    problems.add(field, value, "must be an object", example);
    return null;
  }
  refuseOthers(problems, value, fields, `${field}.`);
  return { ...value };
}

export function refuseOthers(problems: ProblemList, value: object, fields: readonly string[], path = ""): void {
  for (const [name, other] of Object.entries(value))
    if (!fields.includes(name)) problems.add(`${path}${name}`, other, "is not known", `use ${fields.join(", ")}`);
}

export function readCount<T>(problems: ProblemList, field: string, value: unknown, bounds: CountBounds<T>): number | T {
  if (value === undefined) return bounds.fallback;
  if (Number.isInteger(value) && Number(value) >= bounds.min && Number(value) <= bounds.max) return Number(value);
  problems.add(
    field,
    value,
    `must be a whole number from ${bounds.min} to ${bounds.max}`,
    "change it, or leave it out for the default",
  );
  return bounds.fallback;
}

/** A share of a whole, 0 to 1. */
export function readShare(problems: ProblemList, field: string, value: unknown): number {
  if (value === undefined) return 0;
  if (typeof value === "number" && value >= 0 && value <= 1) return value;
  problems.add(field, value, "must be a share from 0 to 1", "write 0.05 for 5 %, or leave it out: then none");
  return 0;
}

export function readChoice<const T extends string>(
  problems: ProblemList,
  field: string,
  value: unknown,
  { choices, fallback }: { readonly choices: readonly T[]; readonly fallback: T },
): T {
  if (value === undefined) return fallback;
  const choice = choices.find((each) => each === value);
  if (choice === undefined) {
    problems.add(field, value, "is not one of the choices", `use ${choices.map((each) => `"${each}"`).join(" or ")}`);
  }
  return choice ?? fallback;
}

/** Without the members that are undefined, which an optional member must not be. */
export const present = <T extends object>(of: T): { readonly [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined)) as Partial<T> as never;

/** Ids end up in queue names, metric dimensions, addresses and SQL: one narrow form for all of them. */
export function checkId(
  problems: ProblemList,
  field: string,
  id: unknown,
  charactersMax: number = contractLimits.idCharactersMax,
): void {
  if (typeof id === "string" && id.length <= charactersMax && /^[a-z][a-z0-9]*(?:[-._][a-z0-9]+)*$/.test(id)) return;
  const rule = `must be 1 to ${charactersMax} characters: small letters and digits, parts joined by "-", "." or "_", a letter first`;
  problems.add(field, id, rule, "rename it");
}
