import type { Pool } from "pg";

/** What a judge may look at: the final tables, and the folder with the targets' own ledgers. */
export interface Evidence {
  readonly db: Pool;
  readonly ledgers: string;
}

export interface Check {
  readonly name: string;
  readonly pass: boolean;
  /** Says how fast, not whether: on a machine that is too busy it may fail without a broken promise. */
  readonly isTimed?: true;
  /** Figures when it holds; the first few offenders when it does not. */
  readonly detail: string;
}

/** Knows one example: when its effects are complete, and whether they are as promised. */
export interface Judge {
  readonly name: string;
  /** The kinds of jobs that belong to it. */
  readonly kinds: readonly string[];
  /** Its schedules, for lateness. */
  readonly schedules: readonly string[];
  /** What people do, once the system runs; the effects are only then on their way. */
  begin?(api: string): Promise<void>;
  progress(evidence: Evidence): Promise<{ readonly done: boolean; readonly line: string }>;
  checks(evidence: Evidence): Promise<readonly Check[]>;
}

/** A check that holds when no row is guilty; the first few are shown, by the name of each. */
export function noneOf(name: string, offenders: readonly string[], detail: string): Check;
export function noneOf<T>(name: string, offenders: readonly T[], detail: string, nameOf: (each: T) => string): Check;
export function noneOf<T>(
  name: string,
  offenders: readonly T[],
  detail: string,
  nameOf: (each: T) => string = String,
): Check {
  if (offenders.length === 0) return { name, pass: true, detail };
  const shown = offenders.slice(0, 5).map(nameOf).join(", ");
  const rest = offenders.length > 5 ? ` and ${offenders.length - 5} more` : "";
  return { name, pass: false, detail: `${offenders.length} not: ${shown}${rest}` };
}

/** A check of how fast, not whether. */
export const timed = (check: Check): Check => ({ ...check, isTimed: true });
