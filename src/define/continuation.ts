import type { Job } from "./context.ts";
import { definitionFrom, definitionOf, type StarterLimits } from "./define-job.ts";
import type { JobDefinition, RunEnds } from "./definition.ts";
import type { Json } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { type Continuation, continuationKey, type RunEnd, runEndChoices, type RunResult } from "../machine/run.ts";
import type { ProblemList } from "./problem.ts";
import type { Tx } from "../machine/transaction.ts";
import { sealOf } from "./sealed-by.ts";
import { present, readChoice } from "./setting.ts";

/** How a run ended. */
export interface RunSummary extends RunResult {
  readonly startedAt: Date;
  readonly endedAt: Date;
}

/** What follows a run. `From`: what the summary says beside the figures. */
export interface ThenOptions<N, From> {
  /** Written once for each run, with the key `then:RUN`, after an end that `on` names. */
  readonly then?: Job<N>;
  /** Its payload. May be left out for a job that takes none. */
  thenPayload?(summary: RunSummary & From): NoInfer<N>;
  /**
   * Writes of your own in the transaction of the job that the end writes, in which `then` is written too: exactly once in effect.
   * What it throws is a failed attempt of that job.
   */
  onSettled?(summary: RunSummary & From, tx: Tx): Promise<void>;
  /** Which end is followed. `success`: DONE. `failure`: FAILED. `end`: any. Default `success`, and `end` without `then`. */
  readonly on?: "success" | "failure" | "end";
}

interface Followed<N, From> extends ThenOptions<N, From>, Pick<StarterLimits, "lane" | "retention"> {
  readonly id: string;
  /** Of a graph, whose input is part of what its end writes. */
  readonly seal?: string;
}

/** What the run keeps of it, and the job that its end writes. `fromOf` reads what the run was started with. */
export function continuationFrom<N, From>(
  problems: ProblemList,
  options: Followed<N, From>,
  fromOf: (input: Json) => From | Promise<From>,
): { readonly continuation: RunEnds["continuation"]; readonly makes: readonly JobDefinition[] } {
  const { then, thenPayload, onSettled, id, lane, retention, seal } = options;
  const fallback = then === undefined ? "end" : "success";
  const on = readChoice(problems, "on", options.on, { choices: runEndChoices, fallback });
  if (then === undefined && thenPayload !== undefined)
    problems.add("thenPayload", thenPayload, "has no `then`", "name the job that follows");
  if (then === undefined && onSettled === undefined) {
    if (options.on !== undefined)
      problems.add("on", options.on, "has no `then`", "name the job that follows, or write onSettled");
    return { continuation: null, makes: [] };
  }
  const next = then === undefined ? null : definitionOf(then, `job "${id}": then`);
  if (next !== null && thenPayload === undefined && next.schema !== null)
    problems.add("thenPayload", thenPayload, `is what "${next.id}" takes as its payload`, "make it from the summary");
  const retry = { maxAttempts: contractLimits.starterAttemptsDefault, cap: "1m" } as const;
  const writer: JobDefinition = {
    ...definitionFrom(
      { ...present({ lane, retention }), ...sealOf({ id, seal }), retry, id: `${id}.then` },
      {
        is: "handler",
        async run(payload, ctx) {
          const end = payload as RunEnd;
          const summary = { ...summaryOf(end), ...(await fromOf(end.input)) };
          const follow = async (): Promise<void> => {
            // Without `thenPayload` the job takes none.
            const own = thenPayload?.call(options, summary) as N;
            if (then !== undefined) await ctx.enqueue(then, own, { key: continuationKey(end.runId) });
          };
          if (onSettled === undefined) return await follow();
          await ctx.tx(async (tx) => {
            await onSettled.call(options, summary, tx);
            await follow();
          });
        },
      },
    ),
    check: (payload) =>
      typeof (payload as Partial<RunEnd> | null)?.runId === "string"
        ? { ok: true, value: payload }
        : { ok: false, issues: [{ path: "", message: "the end of a run writes this job: enqueue none" }] },
    makes: next === null ? [] : [next],
  };
  const { id: kind, leaseMs, retentionMs } = writer;
  const { maxAttempts } = writer.retry;
  const job = next?.id ?? kind;
  const continuation: Continuation = { job, kind, on, lane: writer.lane, leaseMs, maxAttempts, retentionMs };
  return { continuation, makes: [writer] };
}

const summaryOf = ({ input: _input, startedAt, endedAt, ...figures }: RunEnd): RunSummary => ({
  ...figures,
  startedAt: new Date(startedAt),
  endedAt: new Date(endedAt),
});
