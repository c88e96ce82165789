import { type Duration } from "../calendar/duration.ts";
import type { Job } from "./context.ts";
import { continuationFrom, type ThenOptions } from "./continuation.ts";
import { definitionFrom, definitionOf, jobWith, type StarterLimits } from "./define-job.ts";
import type { JobDefinition, PayloadCheck, RunEnds } from "./definition.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { isMomentPayload, type Moment, readMoment } from "./moment.ts";
import { ProblemList } from "./problem.ts";
import type { Query } from "./query.ts";
import { contractRange, present, readDuration, readShare } from "./setting.ts";

/** What a run of jobs from rows makes of those that fail. */
export interface RunEndOptions {
  /**
   * The share of its jobs, 0 to 1, that may fail or be canceled while the run ends DONE: `0.05` of 178 are 8. They stay dead
   * letters, to redrive. 1: the run never fails by its jobs. Kept with each run. Default 0.
   */
  readonly tolerate?: number;
}

/** For what occurrence it ran. */
export interface OfMoment {
  readonly moment: Moment;
}

/** What such a definition says of the end of its runs, and the jobs that makes. */
export function rowsEndFrom<N>(
  problems: ProblemList,
  options: RunEndOptions & ThenOptions<N, OfMoment> & StarterLimits & { readonly id: string },
): { readonly ends: RunEnds; readonly makes: readonly JobDefinition[] } {
  const { continuation, makes } = continuationFrom(problems, options, (input) => {
    const moment = readMoment(input);
    if (moment === null) throw new TypeError(`the run of "${options.id}" has no moment as its input`);
    return { moment };
  });
  return { ends: { tolerate: readShare(problems, "tolerate", options.tolerate), continuation }, makes };
}

/** The limits are those of the job that writes the targets. A new attempt continues after the last written page. */
export interface FanOutOptions<R, I, N = void> extends StarterLimits, RunEndOptions, ThenOptions<N, OfMoment> {
  readonly id: string;
  /** One job for each row. A `sql` query is read in keyset pages; an iterable is read again from its start after a crash. */
  from(occurrence: Moment): Query<R> | AsyncIterable<R>;
  /** The column a query is paged by: never null, in an order that does not change. Rows of one value come in one page. Default `id`. */
  readonly by?: string;
  /** Makes a repeated page harmless: a row whose key has a job gets no second one. */
  key(row: NoInfer<R>, occurrence: Moment): string;
  readonly each: Job<I>;
  payload(row: NoInfer<R>, occurrence: Moment): NoInfer<I>;
  /** How long before the nominal time, when they are due, the targets are written. */
  readonly materializeBefore?: Duration;
  /** Evaluated before a target is claimed: false makes it SKIPPED `no longer wanted`. */
  stillWanted?(row: NoInfer<R>): Promise<boolean> | boolean;
}

/** Defines one job per row. Its job opens a run and writes its targets page by page; the last page seals it. */
export function defineFanOut<R, I, N = void>(options: FanOutOptions<R, I, N>): Job<void> {
  const problems = new ProblemList(`fan-out "${options.id}"`);
  const early = { ...contractRange("materializeBeforeMs"), min: 0, fallback: 0 };
  const materializeBeforeMs = readDuration(problems, "materializeBefore", options.materializeBefore, early);
  const each = definitionOf(options.each, `fan-out "${options.id}": each`);
  const { ends, makes } = rowsEndFrom(problems, options);
  const { stillWanted } = options;
  // Row types exist only in the public signature.
  const base = definitionFrom(
    { ...starterLimits, ...limitsOf(options), id: options.id },
    {
      is: "fanOut",
      ends,
      from: (occurrence) => options.from(occurrence),
      by: options.by ?? "id",
      key: (row, occurrence) => options.key(row as R, occurrence),
      each,
      payload: (row, occurrence) => options.payload(row as R, occurrence),
      stillWanted: stillWanted === undefined ? null : (row) => stillWanted.call(options, row as R),
      materializeBeforeMs,
    },
  );
  return jobWith(base, problems, { makes: [each, ...makes], check: checkMoment });
}

/** Refuses any other payload, because a fan-out or sweep reads only its moment. */
export const checkMoment = async (payload: unknown): Promise<PayloadCheck> =>
  isMomentPayload(payload)
    ? { ok: true, value: payload }
    : { ok: false, issues: [{ path: "", message: "this job takes no payload: pass none" }] };

/** Retry for about six minutes of database outage, because a target that is never written is never notified. */
export const starterLimits = {
  timeout: "14m",
  retry: { maxAttempts: contractLimits.starterAttemptsDefault, cap: "1m" },
} as const satisfies StarterLimits;

export const limitsOf = ({ lane, timeout, retry, retention, lease }: StarterLimits): StarterLimits =>
  present({ lane, timeout, retry, retention, lease });
