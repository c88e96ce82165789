/** The next times of an expression, with what clock changes do to them. */
import { dayMs } from "../job/units.ts";
import type { NominalTime } from "./fires.ts";
import type { Instant } from "../job/job.ts";
import { contractLimits } from "../job/contract-limits.ts";
import { minuteText } from "./wall-time.ts";
import { timetable, type FirePattern } from "./timetable.ts";
import { openZone, type ZoneTransition, type Zone } from "./zone.ts";

export interface PreviewTime {
  readonly localTime: string;
  readonly fold: 0 | 1;
  readonly instant: Instant;
  readonly fires: boolean;
  /** What a clock change does to this time, or null on an ordinary day. */
  readonly note: string | null;
}

/** At most `count` times after an instant. Fewer when the schedule ends. */
export function preview(when: FirePattern, after: Instant, count: number): readonly PreviewTime[] {
  const table = timetable(when);
  const zone = openZone(when.timezone);
  const found: PreviewTime[] = [];
  let cursor = after;
  while (found.length < Math.min(count, contractLimits.previewTimesMax)) {
    const next = table.next(cursor);
    if (next === null) break;
    for (const time of table.times(next.instant - 1, next.instant)) found.push(noted(time, zone, cursor));
    cursor = next.instant;
  }
  return found.slice(0, count);
}

function noted(time: NominalTime, zone: Zone, previous: Instant): PreviewTime {
  const { localTime, fold, instant, kind } = time;
  return { localTime, fold, instant, fires: kind === "fires", note: noteOf(time, zone, previous) };
}

function noteOf(time: NominalTime, zone: Zone, previous: Instant): string | null {
  const near = zone.transitions(time.instant - 2 * dayMs, time.instant + 2 * dayMs);
  const gap = near.find((each) => each.after > each.before && lies(time.localTime, startOf(each), endOf(each)));
  if (gap !== undefined) return gapNote(time, gap, zone);
  const overlap = near.find((each) => each.after < each.before && lies(time.localTime, startOf(each), endOf(each)));
  if (overlap !== undefined)
    return `the clock shows ${clock(time)} twice: ${time.fold === 1 ? "second" : "first"} time`;
  const jumped = near.find((each) => each.after > each.before && each.at > previous && each.at <= time.instant);
  if (jumped === undefined || time.instant - jumped.at >= dayMs) return null;
  return `the clock jumps from ${startOf(jumped).slice(11)} to ${endOf(jumped).slice(11)} before it`;
}

function gapNote(time: NominalTime, gap: ZoneTransition, zone: Zone): string {
  const skipped = `the clock skips ${clock(time)} (it jumps from ${startOf(gap).slice(11)} to ${endOf(gap).slice(11)})`;
  if (time.kind === "dst-gap") return `${skipped}: SKIPPED dst-gap`;
  if (time.kind === "merged") return `${skipped}: COALESCED into ${time.mergedInto ?? ""}`;
  return `${skipped}: fires at ${minuteText(time.instant + zone.offsetAt(time.instant)).slice(11)}`;
}

/** Readings between these do not exist (gap) or exist twice (overlap). */
const startOf = (each: ZoneTransition): string => minuteText(each.at + Math.min(each.before, each.after));
const endOf = (each: ZoneTransition): string => minuteText(each.at + Math.max(each.before, each.after));
const lies = (reading: string, from: string, before: string): boolean => reading >= from && reading < before;
const clock = ({ localTime }: NominalTime): string => localTime.slice(11);
