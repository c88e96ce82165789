/** On which days a schedule may fire, by the calendars of its rule. A day is a count of days since 1970-01-01; it knows no zone. */
import { contractLimits } from "../machine/contract-limits.ts";
import { madeOnce } from "../machine/made-once.ts";
import { type CalendarDays, type CalendarRule, scheduleLimits, weekdayNames } from "../machine/schedule.ts";
import { dayMs } from "../machine/units.ts";

export type Day = number;

/** A rule, ready to be asked. */
export interface DayRule {
  /** Why the day is excluded: the calendar and its entry; null: it is not. */
  excludedBy(day: Day): string | null;
  /** Where a time of an excluded day fires; null: nowhere, because it is skipped or no such day is near enough. */
  targetOf(day: Day): Day | null;
  /** The excluded days whose times fire on this one. */
  sourcesOf(target: Day): readonly Day[];
  /** Whether times move at all. */
  readonly moves: boolean;
  /** The first day from this one on that is not excluded; null: there is none any more. */
  openFrom(day: Day): Day | null;
  /** After it the rule repeats itself within `calendarPatternYears`. */
  readonly lastDate: Day;
}

const compiled = new Map<string, DayRule>();

/** Cached: a tick reads the same calendars every minute. */
export const dayRule = (rule: CalendarRule): DayRule =>
  madeOnce(compiled, JSON.stringify(rule), () => compile(rule), scheduleLimits.timetablesMax);

export const dayOf = (date: string): Day => Date.parse(`${date.slice(0, 10)}T00:00Z`) / dayMs;
export const dateOf = (day: Day): string => new Date(day * dayMs).toISOString().slice(0, 10);
/** 0 is Sunday; 1970-01-01 was a Thursday. */
const weekdayOf = (day: Day): number => (((day + 4) % 7) + 7) % 7;

function compile({ except, only, onExcluded }: CalendarRule): DayRule {
  const excepted = except.map(lookup);
  const wanted = only === null ? null : lookup(only);
  const excludedBy = (day: Day): string | null => {
    for (const each of excepted) {
      const entry = each.entryOf(day);
      if (entry !== null) return `${each.id}: ${entry}`;
    }
    return wanted === null || wanted.entryOf(day) !== null ? null : `${wanted.id}: not one of its days`;
  };
  const all = only === null ? except : [...except, only];
  const hasWeekend = onExcluded.endsWith("business-day") && all.every(({ weekdays }) => weekdays.length === 0);
  const isTarget = (day: Day): boolean => excludedBy(day) === null && !(hasWeekend && weekdayOf(day) % 6 === 0);
  const lastDate = Math.max(0, ...[...excepted, ...(wanted === null ? [] : [wanted])].map((each) => each.lastDate));
  return { excludedBy, ...moving(onExcluded, excludedBy, isTarget), openFrom: opening(excludedBy, lastDate), lastDate };
}

function moving(
  onExcluded: CalendarRule["onExcluded"],
  excludedBy: DayRule["excludedBy"],
  isTarget: (day: Day) => boolean,
): Pick<DayRule, "moves" | "targetOf" | "sourcesOf"> {
  if (onExcluded === "skip") return { moves: false, targetOf: () => null, sourcesOf: () => [] };
  const step = onExcluded.startsWith("next") ? 1 : -1;
  return {
    moves: true,
    targetOf(day) {
      for (let far = 1; far <= contractLimits.calendarDaysMoved; far += 1)
        if (isTarget(day + step * far)) return day + step * far;
      return null;
    },
    sourcesOf(target) {
      const found: Day[] = [];
      if (!isTarget(target)) return found;
      for (let far = 1; far <= contractLimits.calendarDaysMoved; far += 1) {
        const day = target - step * far;
        if (isTarget(day)) break;
        if (excludedBy(day) !== null) found.push(day);
      }
      return found;
    },
  };
}

const opening =
  (excludedBy: DayRule["excludedBy"], lastDate: Day): DayRule["openFrom"] =>
  (from) => {
    const until = Math.max(from, lastDate) + scheduleLimits.calendarPatternYears * 366;
    for (let day = from; day <= until; day += 1) if (excludedBy(day) === null) return day;
    return null;
  };

interface Range {
  readonly from: Day;
  readonly to: Day;
  readonly text: string;
}

interface Lookup {
  readonly id: string;
  readonly lastDate: Day;
  entryOf(day: Day): string | null;
}

function lookup({ id, dates, weekdays, yearly }: CalendarDays): Lookup {
  const ranges = dates.map(rangeOf).toSorted((a, b) => a.from - b.from);
  // No range that begins before it reaches further than this.
  const reach: Day[] = [];
  for (const { to } of ranges) reach.push(Math.max(to, reach.at(-1) ?? to));
  const byYear = new Map(yearly.flatMap((text) => monthDays(text).map((monthDay) => [monthDay, text])));
  return {
    id,
    lastDate: reach.at(-1) ?? 0,
    entryOf(day) {
      let last = placeBehind(ranges, ({ from }) => from, day) - 1;
      for (; last >= 0 && (reach[last] ?? 0) >= day; last -= 1) {
        const range = ranges[last];
        if (range !== undefined && range.to >= day) return range.text;
      }
      return (
        weekdays.find((name) => weekdayNames.indexOf(name) === weekdayOf(day)) ??
        (byYear.size === 0 ? null : (byYear.get(dateOf(day).slice(5)) ?? null))
      );
    },
  };
}

/** The place behind all that are not above `value`, of a list that rises by `of`. */
export function placeBehind<T>(rising: readonly T[], of: (each: T) => number, value: number): number {
  let [low, high] = [0, rising.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const each = rising[middle];
    if (each !== undefined && of(each) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function rangeOf(text: string): Range {
  const from = dayOf(text);
  return { from, to: text.startsWith("..", 10) ? dayOf(text.slice(12)) : from, text };
}

/** Every `MM-DD` of `12-25` or `12-24..01-02`, counted in a leap year. */
function monthDays(text: string): readonly string[] {
  const from = dayOf(`2000-${text.slice(0, 5)}`);
  const end = text.startsWith("..", 5) ? dayOf(`2000-${text.slice(7, 12)}`) : from;
  const to = end < from ? end + 366 : end;
  return Array.from({ length: to - from + 1 }, (_, n) =>
    dateOf(dayOf("2000-01-01") + ((from - dayOf("2000-01-01") + n) % 366)).slice(5),
  );
}
