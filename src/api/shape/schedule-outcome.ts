import { iso } from "../../core/job/units.ts";
import { z } from "zod";
import type { Instant, JobId } from "../../core/job/job.ts";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import { endResults, type FailingSince, type OccurrenceEnd } from "../../core/ports/schedule-outcome.ts";
import type { OccurrenceView, ScheduleRow } from "../../core/ports/schedule.ts";
import { occurrenceJson, scheduleJson } from "../view.ts";
import { phaseOf } from "./job.ts";
import { runStates } from "./run.ts";
import { occurrence, previewTime, schedule } from "./schedule.ts";
import { count, failure, idText, maybeIso, maybeTime, state, time } from "./shape.ts";

export const occurrenceEnd = z
  .object({
    /** Of the job; null when it was pruned and its run is still kept. */
    state: state.nullable(),
    phase: z.string().nullable().describe("As of a job; null when the job is no longer kept."),
    /** The run that the job started: it speaks for the job then. */
    run: z.object({ id: idText, state: z.enum(runStates) }).nullable(),
    result: z.enum(endResults),
    startedAt: maybeTime,
    finishedAt: maybeTime,
    tookMs: z.number().min(0).nullable(),
    /** Its kind says what of it is hidden: the schedule may have another one by now. */
    error: failure.unwrap().extend({ kind: z.string().optional() }).nullable(),
    /** Why the job was CANCELED or SKIPPED, for example `expired` after a try whose worker was lost. */
    reason: z.string().nullable(),
  })
  .meta({ id: "OccurrenceEnd" });

/** `end`: how its job or run stands; null when it has no job, or one that is no longer kept. */
export const occurrenceList = z
  .object({
    occurrences: z.array(occurrence.extend({ end: occurrenceEnd.nullable() }).meta({ id: "EndedOccurrence" })),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: "OccurrenceList" });

/** An occurrence as a list of schedules shows it. */
const glance = z
  .object({
    at: time,
    outcome: occurrence.shape.outcome,
    reason: z.string().nullable(),
    job: idText.nullable(),
    /** Null when it has no job, or one that is no longer kept. */
    result: z.enum(endResults).nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: "OccurrenceGlance" });

export const scheduleOutcome = z
  .object({
    ...schedule.shape,
    /** Newest first. */
    last: z.array(glance),
    /** The nominal time of the first failure since it last succeeded; null when its last end was no failure. */
    failingSince: maybeTime,
    /** It failed as far back as was looked: it may have begun before. */
    failingSinceIsMore: z.boolean(),
    lastSuccessAt: maybeTime,
    /** Of its last starts; null before the first. */
    onTimeShare: z.number().min(0).max(1).nullable(),
    /** The middle of its last ones. */
    latenessMs: z.number().min(0).nullable(),
    times: z
      .object({ occurrences: occurrenceList.shape.occurrences, next: z.array(previewTime) })
      .optional()
      .describe("With `id` and `include=times`: its newest times, those planned ahead among them, and its next ones."),
  })
  .meta({ id: "ScheduleOutcome" });

export const scheduleOutcomeList = z
  .object({
    schedules: z.array(scheduleOutcome),
    total: count,
    isMore: z
      .boolean()
      .describe(
        "When failing ones are asked for, more may be: only the newest failures are looked at, 10,000 of jobs and 1,000 of runs. By lateness, of more than 1,000 schedules only those are judged that were latest in the newest 5,000 decisions, and the others have none.",
      ),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: "ScheduleOutcomeList" });

export type OccurrenceListReply = z.infer<typeof occurrenceList>;
export type OccurrenceEndReply = z.infer<typeof occurrenceEnd>;
export type ScheduleOutcomeReply = z.infer<typeof scheduleOutcome>;
export type ScheduleOutcomeListReply = z.infer<typeof scheduleOutcomeList>;

type Ends = ReadonlyMap<JobId, OccurrenceEnd>;

export const jobsOf = (rows: readonly OccurrenceView[]): readonly JobId[] =>
  rows.flatMap(({ jobId }) => (jobId === null ? [] : [jobId]));

export function endOf({ jobId }: OccurrenceView, ends: Ends, now: Instant): OccurrenceEndReply | null {
  const end = jobId === null ? undefined : ends.get(jobId);
  if (end === undefined) return null;
  const { state: ended, waits, run, result, startedAt, finishedAt } = end;
  return {
    state: ended,
    phase: ended === null || waits === null ? (ended?.toLowerCase() ?? null) : phaseOf({ state: ended, ...waits }, now),
    run: run === null ? null : { id: run.id, state: run.state },
    result,
    startedAt: maybeIso(startedAt),
    finishedAt: maybeIso(finishedAt),
    tookMs: startedAt === null || finishedAt === null ? null : Math.max(0, finishedAt - startedAt),
    error: errorOf(end),
    reason: end.reason,
  };
}

export const endedJson = (
  rows: readonly OccurrenceView[],
  ends: Ends,
  now: Instant,
): OccurrenceListReply["occurrences"] => rows.map((row) => ({ ...occurrenceJson(row), end: endOf(row, ends, now) }));

/** A run has no error of its own when tasks failed: it says how many. */
function errorOf({ kind, errorCode, errorMessage, run, result }: OccurrenceEnd): OccurrenceEndReply["error"] {
  if (errorCode !== null) return { code: errorCode, message: errorMessage, kind };
  if (result !== "failed" || run === null) return null;
  return { code: "RUN_FAILED", message: errorMessage ?? `${run.failed} of its jobs failed`, kind };
}

interface Outcomes {
  readonly rows: readonly OccurrenceView[];
  readonly ends: Ends;
  readonly now: number;
  readonly failing: FailingSince | undefined;
}

export function scheduleOutcomeJson(row: ScheduleRow, outcomes: Outcomes): ScheduleOutcomeReply {
  const { rows, ends, now, failing } = outcomes;
  const past = rows.map((each) => ({ ...each, end: endOf(each, ends, now) }));
  const lateness = rows
    .flatMap(({ latenessMs }) => (latenessMs === null ? [] : [latenessMs]))
    .toSorted((a, b) => a - b);
  const good = past.findIndex(({ end }) => end?.result === "succeeded");
  const bad = past.slice(0, good < 0 ? past.length : good).findLast(({ end }) => end?.result === "failed");
  const isFailing = isFailingNow(rows, ends);
  const since = good < 0 ? (failing?.since ?? null) : (bad?.nominalAt ?? null);
  return {
    ...scheduleJson(row, now),
    last: past.map(({ nominalAt, outcome, reason, jobId, end }) => ({
      at: iso(nominalAt),
      outcome,
      reason,
      job: jobId,
      result: end?.result ?? null,
      error: end?.error?.code ?? null,
    })),
    failingSince: isFailing ? maybeIso(since) : null,
    failingSinceIsMore: isFailing && good < 0 && failing?.isMore === true,
    lastSuccessAt: good < 0 ? maybeIso(failing?.succeededAt ?? null) : (past[good]?.end?.finishedAt ?? null),
    onTimeShare:
      lateness.length === 0 ? null : lateness.filter((ms) => ms <= operationsLimits.onTimeMs).length / lateness.length,
    latenessMs: lateness[Math.floor(lateness.length / 2)] ?? null,
  };
}

/** The last one that ended failed; one that still runs says nothing yet. */
export function isFailingNow(rows: readonly OccurrenceView[], ends: Ends): boolean {
  const last = rows.find(({ jobId }) => jobId !== null && (ends.get(jobId)?.result ?? "open") !== "open");
  return last?.jobId != null && ends.get(last.jobId)?.result === "failed";
}
