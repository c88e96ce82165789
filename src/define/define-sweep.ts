import { type Duration } from "../calendar/duration.ts";
import type { Job } from "./context.ts";
import type { ThenOptions } from "./continuation.ts";
import type { JobDefinition, RunEnds } from "./definition.ts";
import { checkMoment, limitsOf, type OfMoment, rowsEndFrom, type RunEndOptions } from "./define-fan-out.ts";
import type { Moment } from "./moment.ts";
import { definitionFrom, definitionOf, jobWith, type StarterLimits } from "./define-job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { ProblemList } from "./problem.ts";
import type { Query } from "./query.ts";
import { readCount, readDuration } from "./setting.ts";

/**
 * The limits are those of the sweep's own jobs. With `tolerate` or `then` the jobs of one time are a run, which one job writes: it has no
 * `batchSize` and no `maxIterations` then.
 */
export interface SweepOptions<R, I, N = void> extends StarterLimits, RunEndOptions, ThenOptions<N, OfMoment> {
  readonly id: string;
  /** The due rows. They are read in keyset pages, so that rows whose job still runs do not block the next ones. */
  due(occurrence: Moment): Query<R>;
  /** The column it is paged by: unique, in an order that does not change. Default `id`. */
  readonly by?: string;
  /** A row whose key has a job gets no second one. */
  key(row: NoInfer<R>): string;
  readonly each: Job<I>;
  payload(row: NoInfer<R>): NoInfer<I>;
  /** Rows in one page and transaction. Default 500. */
  readonly batchSize?: number;
  /** Pages of one job; the next job continues after them. Default 10. */
  readonly maxIterations?: number;
  /** A sweep that starts later than this after its nominal time raises an alarm. */
  readonly maxLateness: Duration;
}

/**
 * Defines a sweep: at each time, one keyed job for every due row. Bounded: a continuation job does the remaining rows, so one
 * minute's rows never delay the next minute's.
 */
export function defineSweep<R, I, N = void>(options: SweepOptions<R, I, N>): Job<void> {
  const problems = new ProblemList(`sweep "${options.id}"`);
  const size = { min: 1, max: contractLimits.insertRowsMax, fallback: contractLimits.sweepBatchDefault };
  const rounds = { min: 1, max: contractLimits.batchesIterationsMax, fallback: contractLimits.sweepIterationsDefault };
  const batchSize = readCount(problems, "batchSize", options.batchSize, size);
  const maxIterations = readCount(problems, "maxIterations", options.maxIterations, rounds);
  const late = { min: 1, max: contractLimits.delayMsMax, fallback: contractLimits.delayMsMax };
  const maxLatenessMs = readDuration(problems, "maxLateness", options.maxLateness, late);
  const { ends, makes } = endsOf(problems, options);
  const each = definitionOf(options.each, `sweep "${options.id}": each`);
  // Row types exist only in the public signature.
  const base = definitionFrom(
    { timeout: "14m", ...limitsOf(options), id: options.id },
    {
      is: "sweep",
      ends,
      due: (occurrence) => options.due(occurrence),
      by: options.by ?? "id",
      key: (row) => options.key(row as R),
      each,
      payload: (row) => options.payload(row as R),
      batchSize,
      maxIterations,
      maxLatenessMs,
    },
  );
  return jobWith(base, problems, { makes: [each, ...makes], check: checkMoment });
}

/** Null without a run. */
function endsOf<R, I, N>(
  problems: ProblemList,
  options: SweepOptions<R, I, N>,
): { readonly ends: RunEnds | null; readonly makes: readonly JobDefinition[] } {
  const { ends, makes } = rowsEndFrom(problems, options);
  if (options.tolerate === undefined && ends.continuation === null) return { ends: null, makes };
  for (const field of ["batchSize", "maxIterations"] as const) {
    if (options[field] === undefined) continue;
    problems.add(field, options[field], "is of a sweep without a run", "leave it out beside tolerate and then");
  }
  return { ends, makes };
}
