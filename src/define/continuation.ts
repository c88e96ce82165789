import type { Job } from "./context.ts";
import { definitionFrom, definitionOf, type StarterLimits } from "./define-job.ts";
import type { JobDefinition, RunEnds } from "./definition.ts";
import type { Json, RunId } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { type Continuation, continuationKey, type RunEnd } from "../machine/run.ts";
import type { ProblemList } from "./problem.ts";
import { readChoice } from "./setting.ts";

/** How a run ended. */
export interface RunSummary {
  readonly runId: RunId;
  readonly outcome: "DONE" | "FAILED" | "CANCELED";
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly canceled: number;
  readonly skipped: number;
  readonly startedAt: Date;
  readonly endedAt: Date;
}

/** The job that follows a run. `From`: what the summary says beside the figures. */
export interface ThenOptions<N, From> {
  /** Written once for each run, with the key `then:RUN`, after an end that `on` names. */
  readonly then?: Job<N>;
  /** Its payload. May be left out for a job that takes none. */
  thenPayload?(summary: RunSummary & From): NoInfer<N>;
  /** `success` (default): only a run that is DONE. `end`: also one that is FAILED or CANCELED. */
  readonly on?: "success" | "end";
}

interface Followed<N, From> extends ThenOptions<N, From>, Pick<StarterLimits, "lane" | "retention"> {
  readonly id: string;
}

/** What the run keeps of it, and the job that its end writes. `fromOf` reads what the run was started with. */
export function continuationFrom<N, From>(
  problems: ProblemList,
  options: Followed<N, From>,
  fromOf: (input: Json) => From | Promise<From>,
): { readonly continuation: RunEnds["continuation"]; readonly makes: readonly JobDefinition[] } {
  const { then, thenPayload, id, lane, retention } = options;
  const on = readChoice(problems, "on", options.on, { choices: ["success", "end"], fallback: "success" });
  if (then === undefined) {
    for (const field of ["thenPayload", "on"] as const)
      if (options[field] !== undefined)
        problems.add(field, options[field], "has no `then`", "name the job that follows");
    return { continuation: null, makes: [] };
  }
  const next = definitionOf(then);
  if (thenPayload === undefined && next.schema !== null)
    problems.add("thenPayload", thenPayload, `is what "${next.id}" takes as its payload`, "make it from the summary");
  const retry = { maxAttempts: contractLimits.starterAttemptsDefault, cap: "1m" } as const;
  const limits = { ...(lane === undefined ? {} : { lane }), ...(retention === undefined ? {} : { retention }) };
  const writer: JobDefinition = {
    ...definitionFrom(
      { ...limits, retry, id: `${id}.then` },
      {
        is: "handler",
        async run(payload, ctx) {
          const end = payload as RunEnd;
          const summary = { ...summaryOf(end), ...(await fromOf(end.input)) };
          // Without `thenPayload` the job takes none.
          const own = thenPayload?.call(options, summary) as N;
          await ctx.enqueue(then, own, { key: continuationKey(end.runId) });
        },
      },
    ),
    check: (payload) =>
      typeof (payload as Partial<RunEnd> | null)?.runId === "string"
        ? { ok: true, value: payload }
        : { ok: false, issues: [{ path: "", message: "the end of a run writes this job: enqueue none" }] },
    makes: [next],
  };
  const {
    id: kind,
    retry: { maxAttempts },
    leaseMs,
    retentionMs,
  } = writer;
  const continuation: Continuation = { job: next.id, kind, on, lane: writer.lane, leaseMs, maxAttempts, retentionMs };
  return { continuation, makes: [writer] };
}

const summaryOf = ({ input: _input, startedAt, endedAt, ...figures }: RunEnd): RunSummary => ({
  ...figures,
  startedAt: new Date(startedAt),
  endedAt: new Date(endedAt),
});
