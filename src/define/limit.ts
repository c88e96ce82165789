import { contractLimits } from "../machine/contract-limits.ts";
import type { SlotGroup } from "../machine/job.ts";
import type { Limited } from "./definition.ts";
import { slotGroupsOf } from "./new-job.ts";
import { type Problem, ProblemList } from "./problem.ts";
import { rateFrom, type RateOptions } from "./rate.ts";
import { checkId, readCount, refuseOthers } from "./setting.ts";

/** What the jobs that name a limit share. At least one of the two. */
export interface LimitOptions {
  /** How many of them start in a time. `ctx.limit(name)` takes a start of it too. */
  readonly rate?: Omit<RateOptions<never>, "key">;
  /** How many of them run at once. */
  readonly concurrency?: number;
  /** Both for each key by itself, which the job computes: `limits: [{ limit: stripe, key: ({ customer }) => customer }]`. Default false. */
  readonly byKey?: boolean;
}

/** A limit as `defineLimit` made it. */
export interface Limit {
  readonly is: "limit";
  readonly name: string;
  /** @internal */
  readonly limited: Limited;
  /** @internal */
  readonly problems: readonly Problem[];
}

/** A limit, or one by key with the key of a job: 1 to 200 characters without NUL, computed once, when the job is made. */
export type LimitUse<P> = Limit | { readonly limit: Limit; readonly key: (payload: P) => string };

const fields = ["rate", "concurrency", "byKey"];

/**
 * Defines a limit that kinds share: a job that has it in its `limits` waits until each of them lets it start. Never throws: `check`
 * shows its problems.
 */
export function defineLimit(name: string, options: LimitOptions): Limit {
  const problems = new ProblemList(`limit "${name}"`);
  checkId(problems, "name", name);
  refuseOthers(problems, options, fields);
  if (options.rate === undefined && options.concurrency === undefined)
    problems.add("rate", undefined, "is needed, or concurrency", 'write { rate: { limit: 100, per: "1s" } }');
  if (options.rate !== undefined && "key" in options.rate)
    problems.add("rate.key", options.rate.key, "belongs to the job", "write byKey: true here");
  const max = options.byKey === true ? contractLimits.slotsPerKeyMax : contractLimits.slotsMax;
  const places = readCount(problems, "concurrency", options.concurrency, { min: 1, max, fallback: null });
  const rate = rateFrom<never>(options.rate, problems);
  const key = options.byKey === true ? noKey : null;
  return {
    is: "limit",
    name,
    limited: {
      id: `@${name}`,
      concurrency: key === null ? places : null,
      concurrencyByKey: key === null || places === null ? null : { perKey: places, key },
      rate: rate === null ? null : { ...rate, key },
      lock: null,
    },
    problems: problems.found,
  };
}

/** Until a job says. */
const noKey = (): string => "";

export function limitsFrom<P>(uses: readonly LimitUse<P>[] | undefined, problems: ProblemList): readonly Limited[] {
  if (uses === undefined) return [];
  const limits = (Array.isArray(uses) ? uses : [uses]).flatMap((use: unknown) => limitFrom(use, problems));
  for (const { id } of limits.filter((each, at) => limits.findIndex(({ id }) => id === each.id) < at))
    problems.add("limits", id.slice(1), "is named twice", "leave one out");
  return limits;
}

/** A definition in JavaScript may give anything. */
function limitFrom(use: unknown, problems: ProblemList): Limited | [] {
  const { limit, key } = (isLimit(use) ? { limit: use } : (use ?? {})) as { limit?: unknown; key?: unknown };
  if (!isLimit(limit)) {
    addNoLimit(use, problems);
    return [];
  }
  problems.found.push(...limit.problems);
  const { limited } = limit;
  const isByKey = (limited.concurrencyByKey ?? limited.rate?.key ?? null) !== null;
  if (isByKey !== (typeof key === "function")) {
    const rule = isByKey ? "is by key, and its key is no function of the payload" : "is not by key";
    const fix = isByKey ? "write { limit, key: (payload) => payload.customer }" : "name the limit alone";
    problems.add(`limits ${limit.name}`, key, rule, fix);
    return [];
  }
  if (typeof key !== "function") return limited;
  const keyOf = (payload: unknown): string => (key as (payload: unknown) => string)(payload);
  return {
    ...limited,
    concurrencyByKey: limited.concurrencyByKey && { ...limited.concurrencyByKey, key: keyOf },
    rate: limited.rate && { ...limited.rate, key: keyOf },
  };
}

/** Those that an app names, which need no key. */
export function limitsOfApp(limits: readonly Limit[], problems: ProblemList): readonly Limited[] {
  const given: readonly unknown[] = Array.isArray(limits) ? limits : [limits];
  for (const each of given) {
    if (isLimit(each)) problems.found.push(...each.problems);
    else addNoLimit(each, problems);
  }
  return given.filter(isLimit).map(({ limited }) => limited);
}

const addNoLimit = (value: unknown, problems: ProblemList): void =>
  problems.add("limits", value, "must be limits", "write limits: [stripe], with what defineLimit made");

const isLimit = (value: unknown): value is Limit =>
  typeof value === "object" && value !== null && "is" in value && value.is === "limit";

/** Adds a problem above `unitsPerJobMax`: a job that waits for many keys is looked at once for each. */
export function slotGroupsFrom(
  bounds: Parameters<typeof slotGroupsOf>[0],
  problems: ProblemList,
): readonly SlotGroup[] {
  const groups = slotGroupsOf(bounds);
  const { unitsPerJobMax: most } = contractLimits;
  const rule = `needs ${groups.length} units with those of concurrency, rate and lock; at most ${most}`;
  if (groups.length > most)
    problems.add("limits", groups.map(({ key }) => key).join(", "), rule, "leave some out, or share a limit");
  return groups;
}
