import { iso } from "../job/units.ts";
import { reasons } from "../job/reasons.ts";
import { formatDuration } from "../calendar/duration.ts";
import type { ExplainInput, Explanation } from "./explanation.ts";
import type { Instant, JobView } from "../job/job.ts";
import { minuteText } from "../calendar/wall-time.ts";
import type { OccurrenceView } from "../ports/schedule.ts";
import type { SlotHolder } from "../ports/schedule-store.ts";
import { openZone } from "../calendar/zone.ts";
import { pauseAt, pauseText } from "../ports/pause.ts";

type RowInput = ExplainInput & { readonly occurrence: OccurrenceView };

/** The answer when the time has a row: its outcome, and what became of its job. */
export function explainRow(input: RowInput): Explanation {
  const { outcome } = input.occurrence;
  if (outcome === "SKIPPED") return skipped(input);
  if (outcome === "COALESCED") return coalesced(input);
  return outcome === "PLANNED" ? planned(input) : ran(input);
}

const misses = "a scheduler was away for longer than two minutes";

function skipped(input: RowInput): Explanation {
  const { occurrence, holder } = input;
  const reason = occurrence.reason ?? "";
  const say = (why: string, advice: string | null): Explanation => ({
    verdict: `skipped-${reason}`,
    sentence: `${timeOf(input)} was skipped: ${why}`,
    advice,
  });
  const again = `to run it now: ${backfillOf(input)}`;
  switch (reason) {
    case "paused":
      if (input.job?.state === "SUCCESS") return takenBack(input, input.job);
      return say("the schedule was paused when its job would have started", `resume it; ${again}`);
    case "disabled":
      return say("the schedule was off in this stage when its job would have started", `switch it on; ${again}`);
    case "overlap":
      return say(
        `${holderText(input, holder, "the job of an earlier time")} was still going, and overlap says so`,
        `shorten the ${holder === null ? "job" : nameOf(holder)}, fire less often, or use overlap: "queue-one" or "allow"; ${again}`,
      );
    case "lock-held":
      return say(
        `${holderText(input, holder, "another job")} held the lock its job needs`,
        `give the two different times or locks; ${again}`,
      );
    case "misfire":
      return say(`${misses}, and the misfire policy does not catch this time up`, again);
    case "expired":
      return say(
        `its job had not started ${deadlineOf(input)}`,
        `see what its lane's workers were doing, or give it a longer startDeadline; ${again}`,
      );
    case "dst-gap":
      return say(
        "the clock skipped this reading: the gap rule is `skip`, or `auto` of an expression that names every hour",
        "use dst: { gap: 'first-valid' } to run it at the gap's end",
      );
    case "payload":
      return say(
        "no payload could be made for it; the scheduler's log says why",
        `correct the function, then ${again}`,
      );
    case "no-job":
      return say("an edit had ended its version, and no job of that version is defined any more", again);
    case "deleted":
      return say("the schedule was deleted before its job would have started", "make it again if that was a mistake");
    case "canceled":
      return say("its job was canceled before it ran", again);
    case "undeliverable":
      return say("the message of its job died three times without a worker", `look at its lane's workers; ${again}`);
    default:
      return say(reason, again);
  }
}

/** `the job of 08:55 (job 41)`, or the run that it had started, `the run of 08:55 (run 7)`; one that no schedule made is named by its kind. */
function holderText(input: RowInput, found: SlotHolder | null, otherwise: string): string {
  if (found === null) return otherwise;
  const { job: holder, runId } = found;
  const isOwn = holder.scheduleId === input.occurrence.scheduleId;
  if (isOwn && holder.scheduledFor !== null)
    return `the ${nameOf(found)} of ${clockOf(input, holder.scheduledFor)} (${nameOf(found)} ${runId ?? holder.id})`;
  return `${nameOf(found)} ${runId ?? holder.id} (${holder.kind})`;
}

const nameOf = ({ runId }: SlotHolder): string => (runId === null ? "job" : "run");

function coalesced(input: RowInput): Explanation {
  const { occurrence, into } = input;
  const target = (occurrence.reason ?? "").replace(/^into /, "").replace("T", " ");
  const same = into !== null && into.nominalAt === occurrence.nominalAt;
  const why = same
    ? "a clock change put both at one instant"
    : `${misses}, and \`latest\` makes one job of all it missed`;
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
  if (job !== null && job.hold === "slot") {
    const who = holderText(input, holder, "another job");
    return {
      verdict: "waiting-for-slot",
      sentence: `${time} has not run yet: its job ${job.id} waits for a free slot, which ${who} has`,
      advice: "it starts when that one ends; raise the concurrency if this is too slow",
    };
  }
  if (job !== null && job.dueAt > now) {
    const pause = pauseAt(row, job.dueAt);
    const paused = pause === null ? "" : `; the schedule is ${pauseText(pause)}, so it will be SKIPPED unless resumed`;
    const what = occurrence.nominalAt > now ? "is planned" : "is being made up for";
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
      if (occurrence.nominalAt > input.facts.now) return prematerialized(input, job);
      return { verdict: "ran", sentence: `${time} ${how}${late}: job ${job.id} succeeded`, advice: null };
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
        sentence: `${time} started${late} and was then ended${code.replace(" with", " after")}: job ${job.id} is ${job.state}${becauseOf(input.lastReason)}`,
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
function becauseOf(reason: string | null): string {
  if (reason === null) return "";
  if (reason === reasons.overlap)
    return ", because its next attempt met a later job of the schedule that was still going";
  if (reason === reasons.expired) return ", because its startDeadline passed before its next attempt";
  return reason === reasons.lockHeld ? ", because its next attempt met another job that held its lock" : ` (${reason})`;
}

function lateness(ms: number | null): string {
  if (ms === null || ms < 1_000) return " on time";
  const seconds = Math.round(ms / 1_000);
  return seconds < 120 ? ` ${seconds} s late` : ` ${Math.round(seconds / 60)} min late`;
}

const timeOf = ({ occurrence }: RowInput): string =>
  occurrence.localTime.replace("T", " ") + (occurrence.fold === 1 ? " (the second time)" : "");

/** The clock of the schedule's zone; the date only when it is another day. */
function clockOf({ occurrence, interval }: RowInput, instant: Instant): string {
  const local = minuteText(instant + openZone(interval?.spec.timezone ?? "UTC").offsetAt(instant));
  return local.slice(0, 10) === occurrence.localTime.slice(0, 10) ? local.slice(11) : local.replace("T", " ");
}

const backfillOf = ({ occurrence }: RowInput): string =>
  `npx belfry schedules backfill ${occurrence.scheduleId} --from ${iso(occurrence.nominalAt)} --to ${iso(occurrence.nominalAt)}`;
