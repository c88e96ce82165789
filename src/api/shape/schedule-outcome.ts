import { z } from "zod";
import { insightLimits } from "../../insight/insight-limits.ts";
import { endResults, type OccurrenceView, type ScheduleRow } from "../../machine/schedule.ts";
import { objectiveStand } from "../../insight/objectives.ts";
import { count, idText, maybeTime, time } from "../../insight/atoms.ts";
import {
  type FailingSince,
  type LatestOccurrence,
  occurrenceEnd,
  type OccurrenceEndReply,
} from "../../insight/occurrence-ends.ts";
import { occurrenceJson, scheduleJson } from "../view.ts";
import { occurrence, previewTime, schedule } from "./schedule.ts";

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
      .object({
        occurrences: occurrenceList.shape.occurrences,
        next: z.array(previewTime),
        objective: objectiveStand.nullable(),
      })
      .optional()
      .describe(
        "With `id` and `include=times`: its newest times, those planned ahead among them, its next ones, and how it stands by its objective.",
      ),
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
export type ScheduleOutcomeReply = z.infer<typeof scheduleOutcome>;
export type ScheduleOutcomeListReply = z.infer<typeof scheduleOutcomeList>;

export const endedJson = (
  rows: readonly (OccurrenceView & { readonly end: OccurrenceEndReply | null })[],
): OccurrenceListReply["occurrences"] => rows.map((row) => ({ ...occurrenceJson(row), end: row.end }));

interface Outcomes {
  readonly past: readonly LatestOccurrence[];
  readonly now: number;
  readonly failing: FailingSince | undefined;
}

export function scheduleOutcomeJson(row: ScheduleRow, { past, now, failing }: Outcomes): ScheduleOutcomeReply {
  const lateness = past
    .flatMap(({ latenessMs }) => (latenessMs === null ? [] : [latenessMs]))
    .toSorted((a, b) => a - b);
  const good = past.findIndex(hasSucceeded);
  const bad = past.slice(0, good < 0 ? past.length : good).findLast(({ end }) => end?.result === "failed");
  const isFailing = isFailingNow(past);
  const since = good < 0 ? failing?.since : bad?.at;
  return {
    ...scheduleJson(row, now),
    last: past.map(({ at, outcome, reason, job, end }) => ({
      at,
      outcome,
      reason,
      job,
      result: end?.result ?? null,
      error: end?.error?.code ?? null,
    })),
    failingSince: isFailing ? (since ?? null) : null,
    failingSinceIsMore: isFailing && good < 0 && failing?.isMore === true,
    lastSuccessAt: (good < 0 ? failing?.succeededAt : past[good]?.end?.finishedAt) ?? null,
    onTimeShare:
      lateness.length === 0 ? null : lateness.filter((ms) => ms <= insightLimits.onTimeMs).length / lateness.length,
    latenessMs: lateness[Math.floor(lateness.length / 2)] ?? null,
  };
}

export const hasSucceeded = ({ end }: LatestOccurrence): boolean => end?.result === "succeeded";

/** The last one that ended failed; one that still runs says nothing yet. */
export const isFailingNow = (past: readonly LatestOccurrence[]): boolean =>
  past.find(({ end }) => end !== null && end.result !== "open")?.end?.result === "failed";
