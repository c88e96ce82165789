import type { Duration } from "../calendar/duration.ts";
import type { Batched, BatchRule, Json } from "../machine/job.ts";
import type { BatchBody, BatchContext, BatchJob } from "./context.ts";
import type { JobBody, JobDefinition } from "./definition.ts";
import { PermanentError } from "./errors.ts";
import { checkedKeyOf } from "./new-job.ts";
import type { ProblemList } from "./problem.ts";
import { contractRange, readCount, readDuration } from "./setting.ts";

/** Index up to 100 documents of a tenant by one call, 2 seconds after the first at the latest: `{ max: 100, wait: "2s", key: (doc) => doc.tenant }`. */
export interface Batching<P> {
  /** Jobs of a call at most: it starts at once when so many wait. 2 to 1,000. Default 100. */
  readonly max?: number;
  /** How long a job waits for others at most: up to `5m`. Default `1s`. */
  readonly wait?: Duration;
  /** Only jobs of one key share a call: 1 to 200 characters without NUL. Computed at the enqueue. Default: all of the kind. */
  readonly key?: (payload: P) => string;
}

/** What its rule was written as, and what stands beside it. */
type Given = Readonly<Partial<Record<"batch" | "run" | "runBatch" | "debounce" | "runOn" | "retry", unknown>>>;

const fields = ["max", "wait", "key"];

/** A body of `runBatch` with its rule; any other body as it is. */
export function withRule(given: Given, body: JobBody, problems: ProblemList): JobBody {
  const { batch: of = {}, run, debounce, runOn } = given;
  if (body.is !== "batch") {
    if (given.batch !== undefined)
      problems.add("batch", of, "needs runBatch", "write runBatch(jobs, ctx) and no run, or leave batch out");
    return body;
  }
  if (given.batch === undefined || typeof of !== "object" || of === null || Array.isArray(of))
    problems.add("batch", given.batch, "must be an object beside runBatch", 'write { max: 100, wait: "2s" }');
  if (run !== undefined) problems.add("run", "(function)", "stands beside runBatch", "keep one of them");
  if (debounce !== undefined)
    problems.add("debounce", debounce, "makes one job of many calls, batch one call of many jobs", "keep one of them");
  if (runOn === "fargate")
    problems.add("runOn", runOn, "starts a task for each job, and a batch is one call", "leave it out");
  const { budget }: { budget?: unknown } = Object(given.retry);
  if (budget !== undefined)
    problems.add("retry.budget", budget, "gives each job a time of its own, and a call has many", "leave it out");
  const { max, wait, key }: { max?: unknown; wait?: unknown; key?: unknown } = Object(of);
  const other = Object.keys(Object(of)).find((name) => !fields.includes(name));
  if (other !== undefined) problems.add(`batch.${other}`, "(a value)", "is not known", `use ${fields.join(", ")}`);
  if (key !== undefined && typeof key !== "function")
    problems.add("batch.key", key, "must be a function of the payload", "write (payload) => payload.tenant");
  const rule: BatchRule = {
    key: typeof key === "function" ? (payload) => key(payload) as string : () => "all",
    max: readCount(problems, "batch.max", max, { ...contractRange("batch"), min: 2 }),
    waitMs: readDuration(problems, "batch.wait", wait, { ...contractRange("batchWaitMs"), min: 0 }),
  };
  return { ...body, rule };
}

/** Null: each of its jobs is a call of its own. */
export const batchRuleOf = (definition: JobDefinition | undefined): BatchRule | null =>
  definition?.body.is === "batch" ? definition.body.rule : null;

/** @throws InvalidPayload when `batch.key` throws for it or answers no key. */
export const batchedFor = (id: string, rule: BatchRule, payload: unknown): Batched => ({
  ...rule,
  key: checkedKeyOf(id, "batch.key", () => rule.key(payload)),
});

/**
 * Calls it once. @returns how each of its jobs ended, in their order.
 * @throws PermanentError `INVALID_RESULT` when the handler did not say that of each of them.
 */
export async function callBatch(
  { id, body }: { readonly id: string; readonly body: BatchBody },
  jobs: readonly BatchJob<unknown>[],
  context: BatchContext,
): Promise<readonly PromiseSettledResult<Json | void>[]> {
  const ends: unknown = await body.run(jobs, context);
  if (ends === undefined) return jobs.map(() => ({ status: "fulfilled", value: undefined }));
  const isRight = Array.isArray(ends) && ends.length === jobs.length && ends.every(isEnd);
  if (isRight) return ends;
  const list: readonly unknown[] | null = Array.isArray(ends) ? ends : null;
  const place = list?.length === jobs.length ? list.findIndex((end) => !isEnd(end)) : null;
  const wrong = place === null ? "" : `, and number ${place + 1} is no such result`;
  const what = list === null ? `a value of type ${typeof ends}` : `${list.length} values`;
  const rule = "return one result of Promise.allSettled for each job in their order, or nothing";
  throw new PermanentError(`runBatch of "${id}" returned ${what} for ${jobs.length} jobs${wrong}: ${rule}`, {
    code: "INVALID_RESULT",
  });
}

const isEnd = (end: unknown): end is PromiseSettledResult<Json | void> =>
  typeof end === "object" && end !== null && "status" in end && ["fulfilled", "rejected"].includes(String(end.status));
