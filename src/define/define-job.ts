import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type Blackout, checkBlackouts } from "./blackout.ts";
import { type Batching, withRule } from "./batch.ts";
import type { BatchContext, BatchJob, BatchResult, Context, Job, SettledJob } from "./context.ts";
import type { Duration } from "../calendar/duration.ts";
import type { JobBody, JobDefinition } from "./definition.ts";
import { boundClient } from "../machine/client.ts";
import type { Json } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { TaskSize } from "../machine/launcher.ts";
import type { Tx } from "../machine/transaction.ts";
import { itemOf, itemsOf } from "./new-job.ts";
import { checkPayload } from "./payload.ts";
import { type Debounce, debounceFrom } from "./debounce.ts";
import { ProblemList } from "./problem.ts";
import { sealFrom } from "./sealed-by.ts";
import { contractRange, checkId, readChoice, readDuration } from "./setting.ts";
import { circuitFrom, type CircuitOptions } from "./circuit.ts";
import { concurrencyFrom, type Concurrency, type ConcurrencyInAll } from "./concurrency.ts";
import { type Limit, type LimitUse, limitsFrom, slotGroupsFrom } from "./limit.ts";
import { rateFrom, type RateOptions } from "./rate.ts";
import { retryFrom, type RetryOptions } from "./retry.ts";
import { sizeFrom } from "./task-size.ts";
import { type Sharing, turnsFrom } from "./turn.ts";

/** What bounds a job. Every field has a default. */
export interface JobLimits<P> extends Sharing<P> {
  /** After this time `ctx.signal` aborts and the attempt has failed. Default 30s; at most 14m30s on Lambda. */
  readonly timeout?: Duration;
  /** Default 4 attempts, exponential from 1s. */
  readonly retry?: RetryOptions;
  /** How many jobs of this kind run at once in all processes together; exact. Default: no cap. */
  readonly concurrency?: Concurrency<P>;
  /** How many jobs of this kind start in a time in all processes together; never more. The others wait in order. Default: no rate. */
  readonly rate?: RateOptions<P>;
  /** Limits that it shares with other kinds: `defineLimit`. With its own cap, rate and lock at most 4. Default: none. */
  readonly limits?: readonly LimitUse<P>[];
  /** When the jobs of this kind wait because what they call is down. Default: they go on, and use up their attempts. */
  readonly circuit?: CircuitOptions;
  /** When none of its jobs starts; what runs goes on. Those that are due then wait, and start in their order afterwards. Default: never. */
  readonly blackouts?: readonly Blackout[];
  /** The queue and workers it runs on: `default`, or a name in the `lanes` of its app. */
  readonly lane?: string;
  /** `fargate` runs each job in a task of its own: for hours, or for more memory than a function has. */
  readonly runOn?: "lambda" | "fargate";
  /** CPU and memory of the task of a job on Fargate. Default: 512 and 1,024. */
  readonly size?: TaskSize;
  /** Variables that the handler reads from `process.env`: `check` refuses a stage that does not give them to its lane. */
  readonly environment?: readonly string[];
  /** Secrets that the handler reads by `ctx.secret(name)`, likewise. */
  readonly secrets?: readonly string[];
  /** What to do when an outside call was sent and its result is unknown. Default: retry. */
  readonly onAmbiguous?: "retry" | "park";
  /** How long the row, and with it the key, is kept after the end. Default 30d, at least 7d. */
  readonly retention?: Duration;
  /** After this time without a heartbeat the job counts as lost and is run again. Default 20s. */
  readonly lease?: Duration;
  /**
   * Only one job with this lock runs at a time; another becomes SKIPPED `lock-held`. The lock has no time of its own: it ends
   * with the attempt that holds it, and a lost attempt hands it on to the next one of its job. Default name: the job's id.
   */
  readonly lock?: { readonly name?: string };
  /**
   * The name of a key of the stage: payloads and results are encrypted before they leave the process, and only workers that may use
   * the key can read them. An error's text is then not kept; its code is.
   */
  readonly seal?: string;
  /** SQL only: runs in the transaction that writes the outcome, also of a rescue or a cancel. Not for a try that a stopping worker gives back. */
  onSettled?(payload: P, settled: SettledJob, tx: Tx): Promise<void>;
}

/** What may be set for the job that starts a run or writes other jobs. */
export type StarterLimits = Pick<JobLimits<never>, "lane" | "timeout" | "retry" | "retention" | "lease">;

/** What bounds a task of a graph: it has no payload of its own, so no cap and no rate by key. */
export interface TaskLimits extends Omit<
  JobLimits<never>,
  "onSettled" | "concurrency" | "rate" | "limits" | "fairness" | "priority" | "seal"
> {
  readonly limits?: readonly Limit[];
  readonly concurrency?: number | ConcurrencyInAll;
  readonly rate?: Omit<RateOptions<never>, "key">;
}

/** A void payload needs no schema. */
export type NoPayload = StandardSchemaV1<void, void>;
/** What `enqueue` takes: the schema's input. */
export type PayloadIn<S extends StandardSchemaV1> = StandardSchemaV1.InferInput<S>;
/** What a handler gets: the schema's output, with its defaults. */
export type PayloadOut<S extends StandardSchemaV1> = StandardSchemaV1.InferOutput<S>;
/** What a handler may return. */
export type JobResult = Json | BatchResult | void;

/** What kinds of both forms have. */
export interface JobFields<S extends StandardSchemaV1> extends JobLimits<PayloadOut<S>> {
  /** Unique among all apps of a stage, and never reused for something else: rows carry it. */
  readonly id: string;
  /** Any Standard Schema, for example `z.object({ ... })`. Left out: the job takes no payload. */
  readonly payload?: S;
  /** The idempotency key of a payload: a second job of the same kind and key is not made. */
  key?(payload: PayloadOut<S>): string;
}

export interface JobOptions<S extends StandardSchemaV1> extends JobFields<S> {
  /** Many calls, one start: some time after the last of them. Default: each call makes a job. */
  readonly debounce?: Debounce<PayloadIn<S>, PayloadOut<S>>;
  /** What it returns is the job's result. Throw `PermanentError` or `RetryLater` to choose what follows a failure. */
  run(payload: PayloadOut<S>, ctx: Context): Promise<JobResult> | JobResult;
  readonly batch?: never;
  readonly runBatch?: never;
}

/** A kind whose jobs are run many at a time, each with its own outcome. */
export interface BatchJobOptions<S extends StandardSchemaV1> extends Omit<JobFields<S>, "runOn" | "size"> {
  /** How many, and how long they wait for each other. */
  readonly batch: Batching<PayloadOut<S>>;
  /**
   * Gets 1 to `max` jobs of one batch key. Returns nothing when all succeeded, or what `Promise.allSettled` gives for them, in their order:
   * a rejected job is judged as one whose `run` threw. When it throws, all have failed with that error.
   */
  runBatch(jobs: readonly BatchJob<PayloadOut<S>>[], ctx: BatchContext): Promise<BatchEnds> | BatchEnds;
  readonly run?: never;
  readonly debounce?: never;
}

/** How the jobs of one call ended. */
export type BatchEnds = readonly PromiseSettledResult<JobResult>[] | void;

/**
 * Defines a kind of job. Never throws: problems are collected, and `check` shows all of them together.
 * A handler's payload has passed the schema, with defaults applied.
 */
export function defineJob<S extends StandardSchemaV1 = NoPayload>(
  options: JobOptions<S> | BatchJobOptions<S>,
): Job<PayloadIn<S>> {
  return jobOf<PayloadIn<S>>(definitionFrom(options, bodyOf(options)));
}

/** The schema has validated the payloads before these are called. */
const bodyOf = <S extends StandardSchemaV1>(options: JobOptions<S> | BatchJobOptions<S>): JobBody =>
  options.runBatch === undefined
    ? { is: "handler", run: async (payload, context) => toJson(await options.run(payload, context)) }
    : {
        is: "batch",
        rule: { key: () => "all", max: 1, waitMs: 0 },
        run: async (jobs, context) => await options.runBatch(jobs, context),
      };

/**
 * Where a job keeps its definition: not enumerable, so that a job prints and compares by its id. The same for every copy of
 * Belfry in the process; the number changes when copies cannot work together.
 */
const definitionKey: unique symbol = Symbol.for("belfry.definition@1");

/** The typed job of a definition. Every `define` function of a job ends here. */
export function jobOf<I>(definition: JobDefinition): Job<I> {
  const job: Job<I> = {
    id: definition.id,
    async enqueue(payload, options = {}) {
      const { tx, cell } = options;
      const [enqueued] = await boundClient().enqueue(definition, [itemOf(definition.id, payload, options)], {
        tx,
        cell,
      });
      if (enqueued === undefined) throw new Error(`enqueue of "${definition.id}" got no answer for its one job`);
      return enqueued;
    },
    async enqueueAll(items, options = {}) {
      const { tx, cell } = options;
      return await boundClient().enqueue(definition, itemsOf(definition.id, items, options), { tx, cell });
    },
  };
  return Object.defineProperty(job, definitionKey, { value: definition });
}

/** The same, of a definition and what was found and made beside it. */
export const jobWith = <I>(
  base: JobDefinition,
  { found }: ProblemList,
  more: Required<Pick<JobDefinition, "makes">> & Partial<Pick<JobDefinition, "check">>,
): Job<I> => jobOf({ ...base, ...more, problems: [...base.problems, ...found] });

/** The plain data behind a job. @param field that names it. @throws TypeError for what no `define` function made. */
export function definitionOf(
  job: { readonly id: string; readonly [definitionKey]?: JobDefinition },
  field = "it",
): JobDefinition {
  // From JavaScript it may be missing.
  const definition = (job as typeof job | undefined)?.[definitionKey];
  if (definition !== undefined) return definition;
  if (typeof job?.id !== "string") throw new TypeError(`${field} must be a job: make it with defineJob`);
  const hint = "if it was, another version of belfry made it: npm ls belfry";
  throw new TypeError(`"${job.id}" is not a job: make it with defineJob (${hint})`);
}

interface DefinitionOptions<S extends StandardSchemaV1> extends JobLimits<PayloadOut<S>> {
  readonly id: string;
  readonly payload?: S | undefined;
  readonly key?: ((payload: PayloadOut<S>) => string) | undefined;
  readonly debounce?: Debounce<PayloadIn<S>, PayloadOut<S>> | undefined;
  readonly batch?: Batching<PayloadOut<S>> | undefined;
  /** What it is sealed for. Default: its id. */
  readonly sealScope?: string;
}

/** The typed functions become functions of unknown: `check` validates the payload before they are called. */
export function definitionFrom<S extends StandardSchemaV1>(
  options: DefinitionOptions<S>,
  body: JobBody,
): JobDefinition {
  const problems = new ProblemList(`job "${options.id}"`);
  checkId(problems, "id", options.id);
  const { key, onSettled } = options;
  const limits = boundsFrom(options, problems);
  if (body.is === "task" && limits.concurrencyByKey !== null)
    problems.add(
      "concurrency.perKey",
      limits.concurrencyByKey.perKey,
      "is not for a task: it has no payload",
      "use max",
    );
  if (body.is === "task" && limits.rate !== null && limits.rate.key !== null)
    problems.add("rate.key", limits.rate.key.name, "is not for a task: it has no payload", "leave it out");
  checkBlackouts(options, problems);
  const check: JobDefinition["check"] = (payload) => checkPayload(options.payload, payload);
  return {
    id: options.id,
    ...limits,
    retry: retryFrom(options.retry, problems),
    check,
    debounce: debounceFrom(options, { check, body }, problems),
    key: key === undefined ? null : (payload) => key.call(options, payload),
    schema: options.payload ?? null,
    body: withRule(options, body, problems),
    onSettled: onSettled === undefined ? null : (payload, settled, tx) => onSettled.call(options, payload, settled, tx),
    seal: sealFrom(options, problems),
    slotGroups: slotGroupsFrom({ id: options.id, ...limits }, problems),
    problems: problems.found,
  };
}

/** A batch result is JSON; only an interface cannot say so. */
const toJson = (result: JobResult): Json | void => result as Json | void;

function boundsFrom<P>(options: JobLimits<P> & { readonly id: string }, problems: ProblemList) {
  const runOn = readChoice(problems, "runOn", options.runOn, { choices: ["lambda", "fargate"], fallback: "lambda" });
  return {
    lane: options.lane ?? "default",
    runOn,
    size: sizeFrom(options.size, runOn, problems),
    environment: options.environment,
    secrets: options.secrets,
    timeoutMs: timeoutFrom(options.timeout, runOn, problems),
    leaseMs: readDuration(problems, "lease", options.lease, {
      ...contractRange("leaseMs"),
      because: `${contractLimits.heartbeatsPerLease} heartbeats have to fit into it`,
    }),
    retentionMs: readDuration(problems, "retention", options.retention, contractRange("retentionMs")),
    onAmbiguous: readChoice(problems, "onAmbiguous", options.onAmbiguous, {
      choices: ["retry", "park"],
      fallback: "retry",
    }),
    ...concurrencyFrom<P>(options.concurrency, problems),
    rate: rateFrom<P>(options.rate, problems),
    blackouts: options.blackouts,
    circuit: circuitFrom(options.id, options.circuit, problems),
    lock: lockFrom(options, problems),
    limits: limitsFrom<P>(options.limits, problems),
    turns: turnsFrom<P>(options, problems),
  };
}

function timeoutFrom(timeout: Duration | undefined, runOn: "lambda" | "fargate", problems: ProblemList): number {
  const bounds =
    runOn === "fargate"
      ? { min: 1, max: contractLimits.fargateTimeoutMsMax }
      : { min: 1, max: contractLimits.lambdaTimeoutMsMax, because: "on Lambda", whenTooLong: 'use runOn: "fargate"' };
  return readDuration(problems, "timeout", timeout, { ...bounds, fallback: contractLimits.timeoutMsDefault });
}

function lockFrom<P>(options: JobLimits<P> & { readonly id: string }, problems: ProblemList): JobDefinition["lock"] {
  if (options.lock === undefined) return null;
  const name = options.lock.name ?? options.id;
  if (name.length === 0 || name.length > contractLimits.lockNameCharactersMax) {
    problems.add(
      "lock.name",
      name,
      `must be 1 to ${contractLimits.lockNameCharactersMax} characters`,
      "choose a shorter name",
    );
  }
  return { name };
}
