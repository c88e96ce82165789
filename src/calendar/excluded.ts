/** What the calendars of a schedule make of its times: skipped, or moved to another day at the same reading of the clock. */
import type { Instant } from "../machine/job.ts";
import { dayMs, hourMs } from "../machine/units.ts";
import { type Day, dateOf, type DayRule, dayOf } from "./days.ts";
import {
  byInstant,
  changeMsMax,
  type CronTimes,
  landing,
  type NominalTime,
  passesOf,
  readTimes,
  settled,
} from "./fires.ts";
import { minuteText, type WallTime, wallTimes } from "./cron.ts";
import type { Zone } from "./zone.ts";

/** Times are moved in windows that grow, so that a caller that stops early has moved few. */
const firstWindowMs = hourMs;
const windowMsMax = 6 * hourMs;

/** As `cronTimes`, after the calendars were asked with the date of each reading. */
export function* calendarTimes(
  parts: CronTimes,
  days: DayRule,
  after: Instant,
  until: Instant,
): Generator<NominalTime, void, undefined> {
  let windowMs = firstWindowMs;
  for (let start = after, end = start; start < until; start = end) {
    end = Math.min(until, start + windowMs);
    windowMs = Math.min(windowMsMax, 4 * windowMs);
    const moved = days.moves ? movedTimes(parts, days, start, end) : [];
    yield* settled(byInstant(staying(parts, days, start, end), moved));
  }
}

function* staying(
  parts: CronTimes,
  days: DayRule,
  after: Instant,
  until: Instant,
): Generator<NominalTime, void, undefined> {
  let date = "";
  let calendar: string | null = null;
  let isMoved = false;
  for (const time of readTimes(parts, after, until)) {
    if (!time.localTime.startsWith(date) || date === "") {
      date = time.localTime.slice(0, 10);
      calendar = days.excludedBy(dayOf(date));
      isMoved = calendar !== null && days.targetOf(dayOf(date)) !== null;
    }
    if (calendar === null) yield time;
    else if (!isMoved) yield { ...time, kind: "excluded", calendar };
  }
}

/** Times of excluded days that fire in the window, in the order of their instants and, at one instant, of their readings. */
function movedTimes(parts: CronTimes, days: DayRule, after: Instant, until: Instant): readonly NominalTime[] {
  const [from, before] = readingsWithin(parts.zone, after, until);
  const found: NominalTime[] = [];
  for (let target = Math.floor(from / dayMs); target * dayMs < before; target += 1) {
    for (const source of days.sourcesOf(target)) {
      const shift = (target - source) * dayMs;
      const [start, end] = [Math.max(source * dayMs, from - shift), Math.min((source + 1) * dayMs, before - shift)];
      for (const time of timesFrom(parts, days, { source, shift, start, end }))
        if (time.instant > after && time.instant <= until) found.push(time);
    }
  }
  return found.toSorted((a, b) => a.instant - b.instant || (a.localTime < b.localTime ? -1 : 1));
}

/** All readings `[from, before)` that fire in the window; around a change of the clock it may be more. */
function readingsWithin(zone: Zone, after: Instant, until: Instant): readonly [WallTime, WallTime] {
  const isSteady = zone.transitions(after - changeMsMax, until + changeMsMax).length === 0;
  const offset = zone.offsetAt(after);
  if (isSteady) return [after + 1 + offset, until + 1 + offset];
  return [after - changeMsMax, until + changeMsMax];
}

function* timesFrom(
  parts: CronTimes,
  days: DayRule,
  {
    source,
    shift,
    start,
    end,
  }: { readonly source: Day; readonly shift: number; readonly start: number; readonly end: number },
): Generator<NominalTime, void, undefined> {
  const calendar = days.excludedBy(source);
  for (const reading of wallTimes(parts.cron, start, end)) {
    for (const fold of passesOf(reading, parts)) {
      const place = landing(reading + shift, fold, parts);
      const movedTo = `${dateOf(source + shift / dayMs)}${minuteText(reading).slice(10)}`;
      yield {
        localTime: minuteText(reading),
        fold,
        ...place,
        mergedInto: null,
        ...(calendar === null ? {} : { calendar }),
        movedTo,
      };
    }
  }
}
