/** The next times of an expression, with what clock changes do to them. */
import { dayMs } from "../machine/units.ts";
import type { NominalTime } from "./fires.ts";
import type { Instant } from "../machine/job.ts";
import { effectiveAt } from "../machine/schedule.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { minuteText } from "./cron.ts";
import { timetable, type FirePattern } from "./timetable.ts";
import { openZone, type ZoneTransition, type Zone } from "./zone.ts";

export interface PreviewTime {
  readonly localTime: string;
  readonly fold: 0 | 1;
  readonly instant: Instant;
  /** When its job is due, if the schedule is spread. */
  readonly effectiveAt: Instant | null;
  readonly fires: boolean;
  /** What a clock change does to this time, or null on an ordinary day. */
  readonly change: ClockChange | null;
  /** What the schedule's calendars do to it, or null. */
  readonly exclusion: Exclusion | null;
  /** Both as a sentence. */
  readonly note: string | null;
}

/** The day of its reading is excluded. */
export interface Exclusion {
  /** The calendar and its entry: `holidays: 2026-12-25 Christmas`. */
  readonly calendar: string;
  /** The reading of another day to which it is moved; null: it is skipped. */
  readonly movedTo: string | null;
}

/**
 * `skipped`: the reading does not exist and nothing fires. `merged`: it fires as the time `into`. `moved`: it fires at `into`.
 * `first`, `second`: the reading comes twice. `before`: the clock jumps in the day before it.
 */
export const clockChanges = ["skipped", "merged", "moved", "first", "second", "before"] as const;

export interface ClockChange {
  readonly what: (typeof clockChanges)[number];
  /** Its reading: `02:30`. */
  readonly clock: string;
  /** Of the change: from this reading to that one. */
  readonly from: string;
  readonly to: string;
  readonly into: string | null;
}

/** At most `count` times after an instant. Fewer when the schedule ends. */
export function preview(when: FirePattern, after: Instant, count: number): readonly PreviewTime[] {
  const table = timetable(when);
  const zone = openZone(when.timezone);
  const dueAt = ({ kind, instant }: NominalTime): Instant | null =>
    when.spread === undefined || kind !== "fires" ? null : effectiveAt(when, instant);
  const found: PreviewTime[] = [];
  let cursor = after;
  while (found.length < Math.min(count, contractLimits.previewTimesMax)) {
    const next = table.next(cursor);
    if (next === null) break;
    for (const time of table.times(next.instant - 1, next.instant))
      found.push({ ...noted(time, zone, cursor), effectiveAt: dueAt(time) });
    cursor = next.instant;
  }
  return found.slice(0, count);
}

function noted(time: NominalTime, zone: Zone, previous: Instant): Omit<PreviewTime, "effectiveAt"> {
  const { localTime, fold, instant, kind, calendar, movedTo } = time;
  const exclusion = calendar === undefined ? null : { calendar, movedTo: movedTo ?? null };
  // A clock change counts on the day on which it fires; what is excluded does not reach it.
  const change = kind === "excluded" ? null : changeOf({ ...time, localTime: movedTo ?? localTime }, zone, previous);
  const notes = [exclusionNote(exclusion, time), change === null ? null : noteOf(change)];
  const note = notes.filter((each) => each !== null).join("; ");
  return { localTime, fold, instant, fires: kind === "fires", change, exclusion, note: note === "" ? null : note };
}

function exclusionNote(exclusion: Exclusion | null, { kind, mergedInto }: NominalTime): string | null {
  if (exclusion === null) return null;
  const { calendar, movedTo } = exclusion;
  if (movedTo === null) return `${calendar}: SKIPPED excluded`;
  const place = movedTo.replace("T", " ");
  return `${calendar}: moved to ${place}${kind === "merged" ? `, COALESCED into ${mergedInto ?? ""}` : ""}`;
}

function changeOf(time: NominalTime, zone: Zone, previous: Instant): ClockChange | null {
  const near = zone.transitions(time.instant - dayMs, time.instant + dayMs);
  const around = near.find((each) => lies(time.localTime, startOf(each), endOf(each)));
  if (around !== undefined)
    return { ...(isGap(around) ? ofGap(time, zone) : ofOverlap(time)), ...readings(time, around) };
  const jumped = near.find((each) => isGap(each) && each.at > previous && each.at <= time.instant);
  return jumped === undefined ? null : { what: "before", into: null, ...readings(time, jumped) };
}

const isGap = (change: ZoneTransition): boolean => change.after > change.before;

const ofOverlap = ({ fold }: NominalTime): Pick<ClockChange, "what" | "into"> => ({
  what: fold === 1 ? "second" : "first",
  into: null,
});

function ofGap(time: NominalTime, zone: Zone): Pick<ClockChange, "what" | "into"> {
  if (time.kind === "dst-gap") return { what: "skipped", into: null };
  if (time.kind === "merged") return { what: "merged", into: time.mergedInto };
  return { what: "moved", into: minuteText(time.instant + zone.offsetAt(time.instant)).slice(11) };
}

const readings = ({ localTime }: NominalTime, change: ZoneTransition): Pick<ClockChange, "clock" | "from" | "to"> => ({
  clock: localTime.slice(11),
  from: startOf(change).slice(11),
  to: endOf(change).slice(11),
});

function noteOf({ what, clock, from, to, into }: ClockChange): string {
  if (what === "first" || what === "second") return `the clock shows ${clock} twice: ${what} time`;
  if (what === "before") return `the clock jumps from ${from} to ${to} before it`;
  const skipped = `the clock skips ${clock} (it jumps from ${from} to ${to})`;
  if (what === "skipped") return `${skipped}: SKIPPED dst-gap`;
  return what === "merged" ? `${skipped}: COALESCED into ${into}` : `${skipped}: fires at ${into}`;
}

/** Readings between these do not exist (gap) or exist twice (overlap). */
const startOf = (each: ZoneTransition): string => minuteText(each.at + Math.min(each.before, each.after));
const endOf = (each: ZoneTransition): string => minuteText(each.at + Math.max(each.before, each.after));
const lies = (reading: string, from: string, before: string): boolean => reading >= from && reading < before;
