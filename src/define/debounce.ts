import type { Duration } from "../calendar/duration.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { DebounceRule, Debounced, Json, Keep } from "../machine/job.ts";
import type { AppDefinition, JobDefinition } from "./definition.ts";
import { InvalidPayload } from "./errors.ts";
import { checkedKeyOf } from "./new-job.ts";
import { checkedJson } from "./payload.ts";
import { type Problem, ProblemList } from "./problem.ts";
import { readDuration, readOptions } from "./setting.ts";

/**
 * Reindex a document 5 seconds after the last edit, at the latest a minute after the first: `{ key: (doc) => doc.id, for: "5s", max: "1m" }`.
 * A call joins the job of its key while that waits: one start for all of them. Once it was started, the next call begins another.
 */
export interface Debounce<I, O> {
  /** Whose calls are one. Computed once a call: 1 to 200 characters without NUL. */
  readonly key: (payload: O) => string;
  /** It is due so long after the last call: `1s` to `15m`. */
  readonly for: Duration;
  /** And so long after the first one at the latest: from `for` to `24h`. Default 10 times `for`. The same as `for` throttles: one start in each `for`. */
  readonly max?: Duration;
  /**
   * Which payload it has: that of the last call or of the first, or what a function makes of what it has and the next one, as
   * `enqueue` takes them. The function holds the key's lock: it must answer at once. Default `last`.
   */
  readonly keep?: "last" | "first" | ((kept: I, next: I) => I);
}

interface Beside {
  readonly id: string;
  readonly debounce?: unknown;
  readonly key?: unknown;
  readonly seal?: string | undefined;
}

const fields = ["key", "for", "max", "keep"];
const defaultTimes = 10;

export function debounceFrom(
  { id, debounce, key: ownKey, seal }: Beside,
  { check, body }: Pick<JobDefinition, "check" | "body">,
  problems: ProblemList,
): DebounceRule | null {
  if (debounce === undefined) return null;
  const example = 'write { key: (payload) => payload.id, for: "5s" }';
  const of = readOptions(problems, "debounce", debounce, { fields, example });
  if (of === null) return null;
  const { key, for: quiet, max, keep = "last" } = of;
  if (ownKey !== undefined)
    problems.add("debounce", "(object)", "is not for a job with a key", "leave one of them out");
  if (body.is !== "handler")
    problems.add("debounce", body.is, "is for jobs with a handler of their own", "leave it out");
  if (typeof key !== "function")
    problems.add("debounce.key", key, "must be a function of the payload", "write (payload) => payload.id");
  if (quiet === undefined) problems.add("debounce.for", quiet, "is needed", 'write { for: "5s" }');
  const { debounceForMsMin: min, debounceForMsMax, debounceMaxMsMax } = contractLimits;
  const forMs = readDuration(problems, "debounce.for", quiet, { min, max: debounceForMsMax, fallback: min });
  const bounds = { min: forMs, max: debounceMaxMsMax, fallback: defaultTimes * forMs };
  const maxMs = readDuration(problems, "debounce.max", max, bounds);
  if (typeof keep !== "function" && keep !== "last" && keep !== "first")
    problems.add("debounce.keep", keep, 'must be "last", "first" or a function', "write (kept, next) => payload");
  if (typeof keep === "function" && seal !== undefined)
    problems.add("debounce.keep", "(function)", "cannot read what is sealed", 'use "last" or "first"');
  if (typeof key !== "function") return null;
  return {
    key: (payload) => key(payload) as string,
    forMs,
    maxMs,
    keep: typeof keep === "function" ? merging(id, check, keep as Merge) : (keep as Keep),
  };
}

type Merge = (kept: Json, next: Json) => unknown;

/** What the function answers is a payload like any other. */
const merging =
  (id: string, check: JobDefinition["check"], merge: Merge): Keep =>
  (kept, next) => {
    const refused = (message: string) => new InvalidPayload(id, [{ path: "debounce.keep", message }]);
    let payload: Json;
    try {
      payload = checkedJson(id, merge(kept, next));
    } catch (error) {
      throw refused(`threw: ${error instanceof Error ? error.message : String(error)}`);
    }
    const checked = check(payload);
    if (checked instanceof Promise)
      throw refused(
        "answers a payload whose schema checks asynchronously: it holds a lock, so use one that answers at once",
      );
    if (!checked.ok) throw new InvalidPayload(id, checked.issues);
    return payload;
  };

/** @throws InvalidPayload when `debounce.key` throws for it or answers no key, RangeError for an option that has no meaning then. */
export function debouncedFor(
  id: string,
  debounce: DebounceRule,
  payload: unknown,
  asked: { readonly key?: unknown; readonly delayMs?: unknown; readonly dueAt?: unknown },
): Debounced {
  const other = (["key", "delayMs", "dueAt"] as const).find((name) => asked[name] !== undefined);
  if (other !== undefined) {
    const name = other === "delayMs" ? "delay" : other;
    throw new RangeError(`${name} of "${id}" is ${String(asked[other])}; its debounce decides that: leave it out`);
  }
  return { ...debounce, key: checkedKeyOf(id, "debounce.key", () => debounce.key(payload)) };
}

/** A time of a schedule, a row of a fan-out and a follower has a job of its own, so none of them can join another. */
export const checkDebounce = (apps: readonly AppDefinition[]): readonly Problem[] =>
  apps.flatMap(({ jobs, schedules }) =>
    [
      ...schedules.map(({ id, job }) => ({ what: `schedule "${id}"`, field: "run", made: [job] })),
      ...jobs.map(({ id, makes = [] }) => ({ what: `job "${id}"`, field: "each or then", made: makes })),
    ].flatMap(({ what, field, made }) => {
      const problems = new ProblemList(what);
      for (const { id } of made.filter(({ debounce }) => debounce !== null))
        problems.add(field, id, "has debounce, and each job made here is one of its own", "enqueue it in a handler");
      return problems.found;
    }),
  );
