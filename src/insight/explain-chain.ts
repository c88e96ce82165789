/** A chain's time in words: which time of which schedule it follows, and how that one stands. */
import { minuteText } from "../calendar/cron.ts";
import { openZone } from "../calendar/zone.ts";
import { iso } from "../machine/units.ts";
import type { Explanation, Followed } from "./explanation.ts";
import type { OccurrenceEndReply } from "./occurrence-ends.ts";

/** The answer for a time that the chain has no row of. */
export function explainWait(
  time: string,
  { followed, decidedUntil, now }: { readonly followed: Followed; readonly decidedUntil: number; readonly now: number },
): Explanation | null {
  const { chain, occurrence } = followed;
  if (occurrence === null) {
    const sentence = `${time} has no row: it follows ${chain.schedule}, which has decided no such time`;
    return { verdict: "never-nominal", sentence, advice: `npx belfry schedules explain ${chain.schedule} TIME` };
  }
  if (occurrence.nominalAt <= decidedUntil) return null;
  if (occurrence.nominalAt > now) return { verdict: "not-due", sentence: `${time} has not come yet`, advice: null };
  return { verdict: "waits-for-schedule", sentence: `${time} waits: ${followedText(followed)}`, advice: null };
}

/** `it follows nightly-billing of 02:00, which runs (job 17), and has until 08:00 for it`. */
export function followedText({ chain, occurrence, end }: Followed): string {
  if (occurrence === null) return `it follows ${chain.schedule}, whose row of that time is not kept`;
  const { localTime, timezone, nominalAt, outcome, reason, jobId } = occurrence;
  const of = `it follows ${chain.schedule} of ${localTime.slice(11)}, which`;
  if (outcome === "SKIPPED" || outcome === "COALESCED") return `${of} was ${outcome} (${reason ?? ""})`;
  const until = nominalAt + chain.withinMs;
  const clock = minuteText(until + openZone(timezone).offsetAt(until));
  const limit = clock.slice(0, 10) === localTime.slice(0, 10) ? clock.slice(11) : clock.replace("T", " ");
  const what = end?.run == null ? `job ${jobId ?? "(gone)"}` : `run ${end.run.id}`;
  return `${of} ${standsAs(end)} (${what}); it follows an end until ${limit}`;
}

function standsAs(end: OccurrenceEndReply | null): string {
  if (end === null) return "is not shown or not kept";
  const at = end.finishedAt === null ? "" : ` at ${iso(Date.parse(end.finishedAt))}`;
  if (end.result === "succeeded") return `succeeded${at}`;
  if (end.result === "open") return end.startedAt === null ? "waits to start" : "runs";
  return end.result === "failed" ? `FAILED${at}` : `was ended${at}`;
}
