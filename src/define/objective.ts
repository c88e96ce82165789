/** What a schedule promises: which share of its times starts, or is done, soon enough. Stored with its spec. */
import { formatDuration, parseDuration, type Duration } from "../calendar/duration.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { Expression, Objective } from "../machine/schedule.ts";
import type { JobDefinition } from "./definition.ts";
import type { ProblemList } from "./problem.ts";
import { contractRange, readDuration } from "./setting.ts";
import { smallestGapMs } from "./spread.ts";

/** At least one of `onTime` and `endsWithin`; with both, a time has to meet both. */
export interface ScheduleObjective {
  /** Its job starts so long after it is due at the latest: 1s to 1d. */
  readonly onTime?: Duration;
  /** Its job, or the run that the job starts, has succeeded so long after it is due at the latest: 1s to 7d. */
  readonly endsWithin?: Duration;
  /** Of its times, above 0 and below 1: 0.999 lets one of a thousand miss. */
  readonly share: number;
  /** The period that the share is of, 1h to 90d. Default `28d`. */
  readonly over?: Duration;
}

const { onTimeMsMin, objectiveTimesMax } = contractLimits;

/** Of a schedule's options, with each expression that a stage gives it. */
export function readObjective(
  objective: ScheduleObjective | undefined,
  {
    expressions,
    job,
  }: { readonly expressions: readonly Expression[]; readonly job: Pick<JobDefinition, "retentionMs"> },
  problems: ProblemList,
): { objective?: Objective } {
  if (objective === undefined) return {};
  if (typeof objective !== "object" || objective === null) {
    problems.add("objective", objective, "must be an object", 'write { onTime: "1m", share: 0.999 }, or leave it out');
    return {};
  }
  const duration = <T>(name: keyof ScheduleObjective, bounds: { min: number; max: number; fallback: T }) =>
    readDuration(problems, `objective.${name}`, objective[name], bounds);
  const onTimeMs = duration("onTime", contractRange("onTimeMs"));
  const endsWithinMs = duration("endsWithin", { ...contractRange("endsWithinMs"), min: onTimeMsMin });
  const overMs = duration("over", contractRange("objectiveOverMs"));
  const { share } = objective;
  if (objective.onTime === undefined && objective.endsWithin === undefined)
    problems.add("objective", objective, "promises nothing", 'write onTime: "1m" or endsWithin: "30m"');
  if (typeof share !== "number" || !(share > 0 && share < 1))
    problems.add("objective.share", share, "must be a share above 0 and below 1", "write 0.999 for 99.9 %");
  if (endsWithinMs !== null && job.retentionMs < overMs + endsWithinMs)
    problems.add(
      "objective.over",
      objective.over,
      `reaches further back than ended jobs are kept, which is ${formatDuration(job.retentionMs)}`,
      "use a shorter one, or give the job a longer retention",
    );
  // Else the one that is checked is not the one that was given.
  const isGiven = objective.over === undefined || parseDuration(objective.over) === overMs;
  if (isGiven) checkTimes({ expressions, overMs, given: objective.over }, problems);
  return { objective: { onTimeMs, endsWithinMs, share, overMs } };
}

/** Each look at an objective reads its times. */
function checkTimes(
  { expressions, overMs, given }: { expressions: readonly Expression[]; overMs: number; given: unknown },
  problems: ProblemList,
): void {
  for (const expression of expressions) {
    if (expression.form === "at")
      problems.add("objective", expression.form, "goes with times that come again", "leave it out");
    const gapMs = smallestGapMs(expression);
    if (gapMs === null || overMs / gapMs <= objectiveTimesMax) continue;
    problems.add(
      "objective.over",
      given,
      `is ${formatDuration(overMs)}, in which it may have more than ${objectiveTimesMax} times`,
      `use at most ${formatDuration(gapMs * objectiveTimesMax)}`,
    );
  }
}
