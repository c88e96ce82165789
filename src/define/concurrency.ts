import { contractLimits } from "../machine/contract-limits.ts";
import type { JobDefinition } from "./definition.ts";
import type { ProblemList } from "./problem.ts";
import { readCount, refuseOthers } from "./setting.ts";

/**
 * A number, or `max`: of all jobs of the kind. `perKey`: of those with one `key`, which is computed once, when a job is made: 1 to 200
 * characters without NUL. A job waits until it has a place under each; of one key the earliest due goes first.
 */
export type Concurrency<P> = number | ConcurrencyInAll | ConcurrencyByKey<P>;

/** The undefined fields make `perKey` without `key` an error of the compiler. */
export interface ConcurrencyInAll {
  readonly max: number;
  readonly perKey?: undefined;
  readonly key?: undefined;
}

/** Five at a time for each customer: `{ perKey: 5, key: ({ customer }) => customer }`. */
export interface ConcurrencyByKey<P> {
  readonly max?: number;
  readonly perKey: number;
  readonly key: (payload: P) => string;
}

const fields = ["max", "perKey", "key"];

export function concurrencyFrom<P>(
  given: Concurrency<P> | undefined,
  problems: ProblemList,
): Pick<JobDefinition, "concurrency" | "concurrencyByKey"> {
  const none = { concurrency: null, concurrencyByKey: null };
  const countOf = (field: string, value: unknown, max: number) =>
    readCount(problems, field, value, { min: 1, max, fallback: null });
  // A definition in JavaScript may give anything.
  const of: unknown = given;
  if (typeof of !== "object" || of === null)
    return { ...none, concurrency: countOf("concurrency", of, contractLimits.slotsMax) };
  const { max, perKey, key } = of as { max?: unknown; perKey?: unknown; key?: unknown };
  refuseOthers(problems, of, fields, "concurrency.");
  if (max === undefined && perKey === undefined)
    problems.add("concurrency", of, "has neither max nor perKey", "say how many: 5, or { perKey: 5, key: ... }");
  const concurrency = countOf("concurrency.max", max, contractLimits.slotsMax);
  if (perKey === undefined && key === undefined) return { ...none, concurrency };
  const places = countOf("concurrency.perKey", perKey, contractLimits.slotsPerKeyMax);
  if (perKey === undefined)
    problems.add("concurrency.perKey", perKey, "is needed beside key", "say how many of one key");
  if (typeof key !== "function") {
    const rule = "must be a function of the payload that answers a text";
    problems.add("concurrency.key", key, rule, "write (payload) => payload.customer, or leave perKey out");
    return { ...none, concurrency };
  }
  if (places !== null && concurrency !== null && places > concurrency) {
    problems.add("concurrency.perKey", places, `must not be more than max, ${concurrency}`, "leave out one of the two");
  }
  const keyOf = key as (payload: unknown) => string;
  return {
    concurrency,
    concurrencyByKey: places === null ? null : { perKey: places, key: (payload) => keyOf(payload) },
  };
}
