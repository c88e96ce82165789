import { missesText, reasonWordsOf } from "./reason-words.ts";
import { followedText } from "./explain-chain.ts";
import { iso } from "../machine/units.ts";
import { reasons } from "../machine/reasons.ts";
import { formatDuration } from "../calendar/duration.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { ExplainInput, Explanation } from "./explanation.ts";
import type { Instant, JobView } from "../machine/job.ts";
import { minuteText, secondText } from "../calendar/cron.ts";
import type { OccurrenceView } from "../machine/schedule.ts";
import type { SlotHolder } from "./occurrences.ts";
import { openZone, type Zone } from "../calendar/zone.ts";
import { pauseAt, pauseText } from "../machine/pause.ts";

type RowInput = ExplainInput & { readonly occurrence: OccurrenceView };

/** The answer when the time has a row: its outcome, and what became of its job. */
export function explainRow(input: RowInput): Explanation {
  const { outcome } = input.occurrence;
  if (outcome === "SKIPPED") return skipped(input);
  if (outcome === "COALESCED") return coalesced(input);
  return outcome === "PLANNED" ? planned(input) : ran(input);
}

function skipped(input: RowInput): Explanation {
  const { occurrence, holder, job } = input;
  const reason = occurrence.reason ?? "";
  if (reason === reasons.paused && job?.state === "SUCCESS") return takenBack(input, job);
  const again = `to run it now: ${backfillOf(input)}`;
  const words = reasonWordsOf(reason);
  const [why, advice] = words.time?.({
    holder: (otherwise) => holderText(input, holder, otherwise),
    overlap: input.interval?.spec.overlap,
    holderNoun: holder === null ? "job" : nameOf(holder),
    deadline: deadlineOf(input),
    calendar: excludedText(input),
    followed: input.followed === null ? words.job : followedText(input.followed),
    again,
  }) ?? [words.job, again];
  return { verdict: `skipped-${reason}`, sentence: `${timeOf(input)} was skipped: ${why}`, advice };
}

/** `the job of 08:55 (job 41)`, or the run that it had started, `the run of 08:55 (run 7)`; one that no schedule made is named by its kind. */
function holderText(input: RowInput, holder: SlotHolder | null, otherwise: string): string {
  if (holder === null) return otherwise;
  const numbered = `${nameOf(holder)} ${holder.runId ?? holder.id}`;
  const isOwn = holder.scheduleId === input.occurrence.scheduleId;
  if (isOwn && holder.scheduledFor !== null)
    return `the ${nameOf(holder)} of ${clockOf(input, holder.scheduledFor)} (${numbered})`;
  return `${numbered} (${holder.kind})`;
}

const nameOf = ({ runId }: SlotHolder): "job" | "run" => (runId === null ? "job" : "run");

function coalesced(input: RowInput): Explanation {
  const { occurrence, into } = input;
  const target = (occurrence.reason ?? "").replace(/^into /, "").replace("T", " ");
  const same = into !== null && into.nominalAt === occurrence.nominalAt;
  const isMoved = occurrence.calendar !== null || (into?.calendar ?? null) !== null;
  const why = same
    ? `a ${isMoved ? "calendar" : "clock change"} put both at one instant`
    : `${missesText}, and \`latest\` makes one job of all it missed`;
  const fate = into === null ? "" : `; that one is ${into.outcome}${into.jobId === null ? "" : ` (job ${into.jobId})`}`;
  return {
    verdict: "coalesced",
    sentence: `${timeOf(input)} was merged into ${target}: ${why}${fate}`,
    advice: same ? null : `to run it by itself: ${backfillOf(input)}`,
  };
}

function planned(input: RowInput): Explanation {
  const { facts, occurrence, job, holder } = input;
  const time = timeOf(input);
  const { now, row } = facts;
  if (job !== null && job.hold === "slot" && input.interval?.spec.overlap === "cancel-running") {
    const askedAt = holder?.canceledAt ?? null;
    const asked = askedAt === null ? "" : `; asked at ${millisecondText(input, askedAt)}`;
    return {
      verdict: "waiting-for-slot",
      sentence: `${time} waits until ${holderText(input, holder, "the job of an earlier time")} has stopped${asked}`,
      advice: "a handler that does not listen to ctx.signal holds it up until its lease would have ended",
    };
  }
  if (job !== null && job.hold === "slot") {
    const who = holderText(input, holder, "another job");
    return {
      verdict: "waiting-for-slot",
      sentence: `${time} has not run yet: its job ${job.id} waits for a free slot, which ${who} has`,
      advice:
        input.interval?.spec.overlap === "queue-all" || input.interval?.spec.overlap === "queue-one"
          ? "it starts after that one and those that waited before it; shorten them, or fire less often"
          : "it starts when that one ends; raise the concurrency if this is too slow",
    };
  }
  if (job !== null && job.dueAt > now) {
    const pause = pauseAt(row, job.dueAt);
    const paused = pause === null ? "" : `; the schedule is ${pauseText(pause)}, so it will be SKIPPED unless resumed`;
    const what = (occurrence.effectiveAt ?? occurrence.nominalAt) > now ? "is planned" : "is being made up for";
    return {
      verdict: pause === null ? "planned" : "planned-paused",
      sentence: `${time} ${what}: job ${job.id} is due at ${iso(job.dueAt)}${paused}`,
      advice: pause === null ? null : `npx belfry schedules resume ${occurrence.scheduleId}`,
    };
  }
  return {
    verdict: "waiting-for-worker",
    sentence: `${time} has not run yet: its job ${job?.id ?? "(gone)"} is ${job?.state ?? "gone"} and no worker has taken it`,
    advice: `look at the workers of lane "${job?.lane ?? "default"}"; the next pass sends a lost message again`,
  };
}

function ran(input: RowInput): Explanation {
  const { occurrence, job } = input;
  const late = lateness(occurrence.latenessMs);
  const how = occurrence.outcome === "CAUGHT_UP" ? "was caught up" : "ran";
  const time = timeOf(input);
  if (job === null) {
    return { verdict: "ran", sentence: `${time} ${how}${late}; its job is not kept any more`, advice: null };
  }
  const code = job.errorCode === null ? "" : ` with ${job.errorCode}: ${job.errorMessage ?? ""}`;
  switch (job.state) {
    case "SUCCESS":
      if ((occurrence.effectiveAt ?? occurrence.nominalAt) > input.facts.now) return prematerialized(input, job);
      return (
        runInstead(input, `${time} ${how}${late}`) ?? {
          verdict: "ran",
          sentence: `${time} ${how}${late}: job ${job.id} succeeded`,
          advice: null,
        }
      );
    case "FAILED":
      return {
        verdict: "failed",
        sentence: `${time} ${how}${late}, and its job ${job.id} FAILED after ${job.failures} of ${job.maxAttempts} attempts${code}`,
        advice: `fix the cause, then: npx belfry jobs retry ${job.id}`,
      };
    case "RUNNING":
      return {
        verdict: "running",
        sentence: `${time} is running${late}: job ${job.id}, attempt ${job.attempt}, on ${job.worker ?? "a worker"}`,
        advice: null,
      };
    case "CANCELED":
    case "SKIPPED":
      return {
        verdict: "canceled",
        sentence: `${time} started${late} and was then ended${code.replace(" with", " after")}: job ${job.id} is ${job.state}${becauseOf(input)}`,
        advice: `to run it: npx belfry jobs retry ${job.id}`,
      };
    default:
      return {
        verdict: "retrying",
        sentence: `${time} ${how}${late} and is retried at ${iso(job.dueAt)}: job ${job.id}, failure ${job.failures} of ${job.maxAttempts}${code}`,
        advice: null,
      };
  }
}

/** What the run of a job that succeeded says instead of it; null when that succeeded too, or there is none. */
function runInstead({ end }: RowInput, ran: string): Explanation | null {
  if (end === null || end.run === null || end.result === "succeeded") return null;
  const { run, reason, error } = end;
  if (reason !== null) {
    const why = reason === reasons.runCanceled ? "" : `, because ${reasonWordsOf(reason).job}`;
    const sentence = `${ran}, and its run ${run.id} is ${run.state}${why}`;
    return { verdict: "canceled", sentence, advice: `to run it: npx belfry runs retry ${run.id}` };
  }
  if (end.result === "open")
    return { verdict: "running", sentence: `${ran}, and its run ${run.id} is still going`, advice: null };
  const sentence = `${ran}, and its run ${run.id} FAILED: ${error?.message ?? ""}`;
  return { verdict: "failed", sentence, advice: `fix the cause, then: npx belfry runs retry ${run.id}` };
}

/** Why a time of an excluded day has not moved. */
function excludedText({ occurrence, interval }: RowInput): string {
  const why = `the calendar ${occurrence.calendar ?? "of its version"} excludes its day`;
  const moves = interval?.spec.calendars?.onExcluded ?? "skip";
  if (moves === "skip") return why;
  return `${why}, and no day for \`${moves}\` lies within ${contractLimits.calendarDaysMoved} days`;
}

function deadlineOf({ interval }: RowInput): string {
  const ms = interval?.spec.startDeadlineMs;
  return ms === undefined ? "when its time was over" : `${formatDuration(ms)} after it, its startDeadline`;
}

/** Its job has prematerialized the targets, which are due at the nominal time. */
function prematerialized(input: RowInput, job: JobView): Explanation {
  const { facts, occurrence } = input;
  const sentence = `${timeOf(input)} has not come yet; what runs then was written ahead by job ${job.id}`;
  const pause = pauseAt(facts.row, occurrence.nominalAt);
  if (pause === null) return { verdict: "prematerialized", sentence, advice: null };
  return {
    verdict: "prematerialized-paused",
    sentence: `${sentence}; the schedule is ${pauseText(pause)}, so none of it will run unless resumed`,
    advice: `npx belfry schedules resume ${occurrence.scheduleId}`,
  };
}

/** A pause withdrew the prematerialized targets: they are there, CANCELED. */
function takenBack(input: RowInput, { result }: JobView): Explanation {
  const runId = typeof result === "object" && result !== null && "runId" in result ? result["runId"] : null;
  const again = typeof runId === "string" ? `runs retry ${runId}` : "runs list";
  return {
    verdict: "skipped-paused",
    sentence: `${timeOf(input)} was skipped: the schedule was paused then, so what had been written ahead was taken back`,
    advice: `to run it now: npx belfry ${again}`,
  };
}

/** Why a job that had started was not tried again. */
function becauseOf({ lastReason: reason, lastCaller }: RowInput): string {
  if (reason === null) return "";
  const { later, job } = reasonWordsOf(reason);
  return `, because ${later ?? job}${reason === reasons.replaced && lastCaller !== null ? ` (${lastCaller})` : ""}`;
}

function lateness(ms: number | null): string {
  if (ms === null || ms < 1_000) return " on time";
  const seconds = Math.round(ms / 1_000);
  return seconds < 120 ? ` ${seconds} s late` : ` ${Math.round(seconds / 60)} min late`;
}

/** With where a calendar moved it. */
function timeOf(input: RowInput): string {
  const { localTime, fold, calendar, reason, nominalAt, effectiveAt, timezone } = input.occurrence;
  const spread = effectiveAt === null ? "" : ` (nominal; spread to ${spreadText(effectiveAt, openZone(timezone))})`;
  const time = localTime.replace("T", " ") + (fold === 1 ? " (the second time)" : "") + spread;
  if (calendar === null || reason === reasons.excluded) return time;
  return `${time} (moved to ${clockOf(input, nominalAt)} by the calendar ${calendar})`;
}

export const spreadText = (at: Instant, zone: Zone): string => secondText(at + zone.offsetAt(at)).slice(11);

const millisecondText = ({ occurrence }: RowInput, at: Instant): string =>
  new Date(at + openZone(occurrence.timezone).offsetAt(at)).toISOString().slice(11, 23);

/** The clock of the schedule's zone; the date only when it is another day. */
function clockOf({ occurrence }: RowInput, instant: Instant): string {
  const local = minuteText(instant + openZone(occurrence.timezone).offsetAt(instant));
  return local.slice(0, 10) === occurrence.localTime.slice(0, 10) ? local.slice(11) : local.replace("T", " ");
}

const backfillOf = ({ occurrence }: RowInput): string =>
  `npx belfry schedules backfill ${occurrence.scheduleId} --from ${iso(occurrence.nominalAt)} --to ${iso(occurrence.nominalAt)}`;
