import { type Rate, windowMsOf } from "../admission/rate.ts";
import type { Duration } from "../calendar/duration.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { ProblemList } from "./problem.ts";
import { contractRange, readCount, readDuration, readOptions } from "./setting.ts";

/** A hundred starts a second: `{ limit: 100, per: "1s" }`. Never more in any second, in all processes together. */
export interface RateOptions<P> {
  /** Starts in `per`, 1 to 10,000. A retry is a start too. */
  readonly limit: number;
  /** From `1s` to `24h`. */
  readonly per: Duration;
  /**
   * How many may start at one moment after a quiet time, 1 to 1,000; it should divide `limit`. Default: `limit`, or the largest
   * up to 100 by which 99 % of it is left.
   */
  readonly burst?: number;
  /** For each key by itself. Computed once, when a job is made: 1 to 200 characters without NUL. Default: all jobs of the kind. */
  readonly key?: (payload: P) => string;
}

const fields = ["limit", "per", "burst", "key"];
const example = 'write { limit: 100, per: "1s" }';
/** Of `limit`, what has to be left by a burst that does not divide it. */
const leftMin = 0.95;

export function rateFrom<P>(given: RateOptions<P> | undefined, problems: ProblemList): Rate | null {
  if (given === undefined) return null;
  const of = readOptions(problems, "rate", given, { fields, example });
  if (of === null) return null;
  const { limit: starts, per, burst: atOnce, key } = of;
  for (const [field, value] of Object.entries({ limit: starts, per }))
    if (value === undefined) problems.add(`rate.${field}`, value, "is needed", example);
  const limit = readCount(problems, "rate.limit", starts, contractRange("rate"));
  const perMs = readDuration(problems, "rate.per", per, contractRange("ratePerMs"));
  if (key !== undefined && typeof key !== "function") {
    const rule = "must be a function of the payload that answers a text";
    problems.add("rate.key", key, rule, "write (payload) => payload.customer, or leave it out");
    return null;
  }
  if (limit === null || perMs === null) return null;
  const fallback = Math.floor(limit / Math.ceil(limit / contractLimits.burstDefaultMax));
  const most = Math.min(limit, contractLimits.slotsPerKeyMax);
  const burst = readCount(problems, "rate.burst", atOnce, { min: 1, max: most, fallback });
  const left = (burst * perMs) / windowMsOf({ limit, perMs, burst });
  if (left < limit * leftMin) {
    const rule = `leaves ${Math.floor(left)} of ${limit}: ${burst} start in each of ${Math.floor(limit / burst)} equal windows of whole ms`;
    problems.add("rate.burst", burst, rule, "choose a burst that divides the limit, or a larger one");
  }
  const keyOf = key as ((payload: unknown) => string) | undefined;
  return { limit, perMs, burst, key: keyOf === undefined ? null : (payload) => keyOf(payload) };
}
