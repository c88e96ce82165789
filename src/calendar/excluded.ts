/** What the calendars of a schedule make of its times: skipped, or moved to another day at the same reading of the clock. */
import type { Instant } from "../machine/job.ts";
import { dayMs } from "../machine/units.ts";
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
import { minuteText, wallTimes } from "./wall-time.ts";

/** Times are moved in windows of so long, so that a caller that stops early has not moved all of a year. */
const windowMs = 4 * dayMs;

/** As `cronTimes`, after the calendars were asked with the date of each reading. */
export function* calendarTimes(
  parts: CronTimes,
  days: DayRule,
  after: Instant,
  until: Instant,
): Generator<NominalTime, void, undefined> {
  for (let start = after; start < until; start += windowMs) {
    const end = Math.min(until, start + windowMs);
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
  const from = after - changeMsMax;
  const before = until + changeMsMax;
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
