/**
 * Nominal times of a cron expression in a zone: which readings there are, and at which instants they fire.
 * The rules for gaps and overlaps are stated in docs/schedules.md.
 */
import { type CronRule, minuteText, type WallTime, wallTimes } from "./cron.ts";
import type { Instant } from "../machine/job.ts";
import type { GapRule, OverlapReadings } from "../machine/schedule.ts";
import type { ZoneTransition, Zone } from "./zone.ts";

export interface NominalTime {
  /** The reading in the schedule's zone; for `every` and `at` the UTC reading with seconds. */
  readonly localTime: string;
  /** 1 for the second pass of an overlap. */
  readonly fold: 0 | 1;
  /** When it fires; for a skipped reading, its instant on the old clock. */
  readonly instant: Instant;
  /**
   * `merged`: another reading fires at this very instant, named by `mergedInto`. `dst-gap`: the gap rule is `skip`. `excluded`:
   * a calendar has its day, and it is not moved.
   */
  readonly kind: "fires" | "merged" | "dst-gap" | "excluded";
  readonly mergedInto: string | null;
  /** Of a chain: the zone of the reading. */
  readonly timezone?: string;
  /** The calendar that excludes the day of its reading, and the entry. */
  readonly calendar?: string;
  /** The reading of another day to which that moved it. */
  readonly movedTo?: string;
}

export interface Dst {
  readonly gap: GapRule;
  readonly overlap: OverlapReadings;
}

/** The rules with `auto` resolved. */
export interface DstRules {
  readonly gap: Exclude<GapRule, "auto">;
  readonly overlap: Exclude<OverlapReadings, "auto">;
}

/** `auto`: intervals fire in both passes and skip a gap; all others fire exactly once. */
export function resolveDst(cron: CronRule, dst: Dst): DstRules {
  return {
    gap: dst.gap === "auto" ? (cron.isInterval ? "skip" : "first-valid") : dst.gap,
    overlap: dst.overlap === "auto" ? (cron.isInterval ? "both" : "first") : dst.overlap,
  };
}

/** No offset change is larger than a day (Manila, Alaska, Kwajalein, Samoa), so a change further away has no effect. */
export const changeMsMax = 26 * 3_600_000;

export interface CronTimes {
  readonly cron: CronRule;
  readonly zone: Zone;
  readonly rules: DstRules;
}

/**
 * Nominal times in `(after, until]` in the order of their instants; of those at one instant, the one that fires comes
 * first. The caller bounds the window.
 */
export const cronTimes = (parts: CronTimes, after: Instant, until: Instant): Generator<NominalTime, void, undefined> =>
  settled(readTimes(parts, after, until));

/** The same before those at one instant become one. */
export function* readTimes(
  { cron, zone, rules }: CronTimes,
  after: Instant,
  until: Instant,
): Generator<NominalTime, void, undefined> {
  let change: ZoneTransition | null = null;
  let start = after - changeMsMax;
  for (const next of [...zone.transitions(start, until + changeMsMax), null]) {
    const end = next?.at ?? Number.POSITIVE_INFINITY;
    yield* segmentTimes({ cron, rules, after, until, start, end, change, next, offset: zone.offsetAt(start) });
    start = end;
    change = next;
  }
}

/** A stretch `[start, end)` with one offset, between two changes. */
interface Segment {
  readonly cron: CronRule;
  readonly rules: DstRules;
  readonly after: Instant;
  readonly until: Instant;
  readonly start: Instant;
  readonly end: Instant;
  readonly offset: number;
  readonly change: ZoneTransition | null;
  readonly next: ZoneTransition | null;
}

const segmentTimes = (segment: Segment): Iterable<NominalTime> =>
  byInstant(plainReadings(segment), gapReadings(segment));

/** Of the times at one instant the first that can fires and comes first; the others that could merge into it. */
export function* settled(times: Iterable<NominalTime>): Generator<NominalTime, void, undefined> {
  let group: NominalTime[] = [];
  for (const time of times) {
    if (group.length > 0 && group[0]?.instant !== time.instant) {
      yield* settledGroup(group);
      group = [];
    }
    group.push(time);
  }
  yield* settledGroup(group);
}

function settledGroup(group: readonly NominalTime[]): readonly NominalTime[] {
  if (group.length < 2) return group;
  const first = group.find(({ kind }) => kind === "fires");
  if (first === undefined) return group;
  const others = group.filter((time) => time !== first);
  return [
    first,
    ...others.map((time) =>
      time.kind === "fires" ? { ...time, kind: "merged" as const, mergedInto: first.localTime } : time,
    ),
  ];
}

/** Plain readings and others, in the order of their instants; at one instant the plain one is first. */
export function* byInstant(
  plain: Iterable<NominalTime>,
  others: readonly NominalTime[],
): Generator<NominalTime, void, undefined> {
  let place = 0;
  for (const time of plain) {
    for (let next = others[place]; next !== undefined && next.instant < time.instant; next = others[place]) {
      yield next;
      place += 1;
    }
    yield time;
  }
  yield* others.slice(place);
}

/** The change of the clock that skips or repeats a reading, or the offset of one that it shows once. */
function changeAround(reading: WallTime, zone: Zone): ZoneTransition | { readonly offset: number } {
  let offset = zone.offsetAt(reading - changeMsMax);
  for (const change of zone.transitions(reading - changeMsMax, reading + changeMsMax)) {
    if (reading < change.at + Math.min(change.before, change.after)) break;
    if (reading < change.at + Math.max(change.before, change.after)) return change;
    offset = change.after;
  }
  return { offset };
}

export function passesOf(reading: WallTime, { zone, rules }: CronTimes): readonly (0 | 1)[] {
  const found = changeAround(reading, zone);
  if ("offset" in found || found.after > found.before || rules.overlap === "first") return [0];
  return rules.overlap === "second" ? [1] : [0, 1];
}

/** When a reading fires to which a time of another day was moved; `pass`: which of the passes it was there. */
export function landing(
  reading: WallTime,
  pass: 0 | 1,
  { zone, rules }: CronTimes,
): { readonly instant: Instant; readonly kind: NominalTime["kind"] } {
  const found = changeAround(reading, zone);
  if ("offset" in found) return { instant: reading - found.offset, kind: "fires" };
  if (found.after > found.before) {
    const { instant, kind } = gapTime(reading, found, rules.gap);
    return { instant, kind };
  }
  const isSecond = rules.overlap === "second" || (rules.overlap === "both" && pass === 1);
  return { instant: reading - (isSecond ? found.after : found.before), kind: "fires" };
}

function* plainReadings(segment: Segment): Generator<NominalTime, void, undefined> {
  const { cron, rules, offset, change, next, start, end, after, until } = segment;
  // Where a gap begins or ends, no reading of this stretch lies beyond these.
  const secondPassEnds = change === null ? Number.NEGATIVE_INFINITY : change.at + change.before;
  const firstPassStarts = next === null ? Number.POSITIVE_INFINITY : next.at + next.after;
  const from = Math.max(start, after + 1) + offset;
  const before = Math.min(end, until + 1) + offset;
  for (const reading of wallTimes(cron, from, before)) {
    const isSecond = reading < secondPassEnds;
    if (isSecond ? rules.overlap === "first" : reading >= firstPassStarts && rules.overlap === "second") continue;
    yield {
      localTime: minuteText(reading),
      fold: isSecond ? 1 : 0,
      instant: reading - offset,
      kind: "fires",
      mergedInto: null,
    };
  }
}

/** The readings that the change at the segment's start skipped, none if it went back; at most a day's worth. */
function gapReadings(segment: Segment): readonly NominalTime[] {
  const { cron, rules, change, after, until } = segment;
  if (change === null) return [];
  const found: NominalTime[] = [];
  for (const reading of wallTimes(cron, change.at + change.before, change.at + change.after)) {
    const time = gapTime(reading, change, rules.gap);
    if (time.instant > after && time.instant <= until) found.push(time);
  }
  return found;
}

function gapTime(reading: WallTime, change: ZoneTransition, rule: Exclude<GapRule, "auto">): NominalTime {
  const instant = rule === "first-valid" ? change.at : reading - change.before;
  const kind = rule === "skip" ? "dst-gap" : "fires";
  return { localTime: minuteText(reading), fold: 0, instant, kind, mergedInto: null };
}
