import type { Instant } from "../machine/job.ts";
import { kindName } from "../machine/closable-texts.ts";
import type { LaneBlackouts } from "../machine/lane-store.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { readTimeQuery } from "../calendar/asked-time.ts";
import { dateOf, dayOf, dayRule } from "../calendar/days.ts";
import { minuteText } from "../calendar/cron.ts";
import { openZone, zoneProblem } from "../calendar/zone.ts";
import { dayMs } from "../machine/units.ts";
import type { CalendarDefinition } from "./define-calendar.ts";
import type { ProblemList } from "./problem.ts";

/** A part of the day, or whole days, in which no job of a lane or kind starts. */
export interface Blackout {
  /** The zone of its clock, like `Asia/Seoul`. */
  readonly timezone: string;
  /** `HH:MM`. Default `00:00`. A time that the clock skips is the moment of the jump; of one it shows twice, the first. */
  readonly from?: string;
  /** `HH:MM`, of the next day when it is not after `from`. Default `24:00`. Of a time that the clock shows twice, the second. */
  readonly to?: string;
  /** On which days it begins. Default: on each. */
  readonly on?: CalendarDefinition;
}

interface Closable {
  readonly blackouts?: readonly Blackout[] | undefined;
}

interface ClosableApp {
  readonly jobs: readonly (Closable & { readonly id: string; readonly lane: string })[];
  readonly lanes: Readonly<Record<string, Closable>>;
}

type Window = LaneBlackouts["windows"][number];

const wholeDay = { from: "00:00", to: "24:00" } as const;
const fields = ["timezone", "from", "to", "on"];
const timeOfDay = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

export function checkBlackouts({ blackouts }: Closable, problems: ProblemList): void {
  if (blackouts === undefined) return;
  const max = contractLimits.blackoutsMax;
  if (!Array.isArray(blackouts) || blackouts.length > max)
    return problems.add("blackouts", blackouts, `must be a list of at most ${max}`, "write [{ from, to, timezone }]");
  const before = problems.found.length;
  for (const [at, given] of blackouts.entries()) checkOne(`blackouts[${at}]`, Object(given) as Blackout, problems);
  if (problems.found.length > before || !closeForGood(blackouts)) return;
  const value = blackouts.map(({ from = wholeDay.from, to = wholeDay.to }) => `${from} to ${to}`).join(", ");
  problems.add("blackouts", value, "would close it for good", "add on, or another time");
}

function checkOne(field: string, given: Blackout, problems: ProblemList): void {
  const { timezone, from = wholeDay.from, to = wholeDay.to, on }: Record<string, unknown> = { ...given };
  for (const name of Object.keys(given).filter((each) => !fields.includes(each)))
    problems.add(`${field}.${name}`, "(a value)", "is not known", `use ${fields.join(", ")}`);
  const zone = typeof timezone === "string" ? zoneProblem(timezone) : "must be a text";
  if (zone !== null) problems.add(`${field}.timezone`, timezone, zone, "write a name such as Asia/Seoul or UTC");
  for (const [name, value] of Object.entries({ from, to }))
    if (typeof value !== "string" || !(timeOfDay.test(value) || (name === "to" && value === wholeDay.to)))
      problems.add(`${field}.${name}`, value, "must be a time of day", "write 22:00");
  const days = Reflect.get(Object(on), "days") as CalendarDefinition["days"] | undefined;
  if (on !== undefined && (Reflect.get(Object(on), "is") !== "calendar" || days === undefined))
    problems.add(`${field}.on`, on, "must be a calendar", "write defineCalendar({ ... })");
  for (const problem of given.on?.problems ?? []) problems.found.push(problem);
}

const aMonday = Date.UTC(2026, 5, 1);

/** Whether they leave no moment of a week, so that nothing would start any more. */
function closeForGood(blackouts: readonly Blackout[]): boolean {
  const windows = blackouts.flatMap((each) => windowsOf(each, aMonday)).toSorted((a, b) => a.from - b.from);
  const until = windows.reduce(
    (closed, each) => (each.from <= closed ? Math.max(closed, each.until) : closed),
    aMonday,
  );
  return until >= aMonday + 7 * dayMs;
}

/** The windows of the next days of each lane and kind that these apps name; none where it has no blackout. */
export function blackoutsOf(apps: readonly ClosableApp[], now: Instant): readonly LaneBlackouts[] {
  const named = apps.flatMap(({ jobs, lanes }) => [
    ...jobs.map(({ lane }) => [lane, undefined] as const),
    ...Object.entries(lanes).map(([lane, { blackouts }]) => [lane, blackouts] as const),
    ...jobs.map(({ id, blackouts }) => [kindName(id), blackouts] as const),
  ]);
  return [...Map.groupBy(named, ([name]) => name)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([lane, given]) => ({
      lane,
      windows: given.flatMap(([, blackouts = []]) => blackouts.flatMap((each) => windowsOf(each, now))),
    }));
}

/** Those that end after this moment and begin within `blackoutDaysAhead`, and behind them what one of them goes on in. */
function windowsOf(blackout: Blackout, now: Instant): readonly Window[] {
  const { timezone, from = wholeDay.from, to = wholeDay.to, on } = blackout;
  const zone = openZone(timezone);
  const days = on === undefined ? null : dayRule({ except: [], only: on.days, onExcluded: "skip" });
  const at = (day: number, time: string) => {
    const [date, reading] = time === wholeDay.to ? [dateOf(day + 1), wholeDay.from] : [dateOf(day), time];
    const found = readTimeQuery(`${date}T${reading}`, zone, now);
    if (found === null) throw new RangeError(`${date}T${reading} is no time`);
    return found;
  };
  const windowOf = (day: number): Window | null => {
    if (days !== null && days.excludedBy(day) !== null) return null;
    const [start, end] = [at(day, from), at(to > from ? day : day + 1, to)];
    const window = { from: start.near, until: end.instants.at(-1) ?? end.near };
    return window.until > now && window.from < window.until ? window : null;
  };
  const today = dayOf(minuteText(now + zone.offsetAt(now)));
  const { blackoutDaysAhead, blackoutDaysMax } = contractLimits;
  const windows: Window[] = [];
  // A window that began yesterday, or the day before where a clock has moved, may not be over.
  for (let day = today - 2; day < today + blackoutDaysMax; day += 1) {
    const window = windowOf(day);
    const goesOn = window !== null && window.from <= (windows.at(-1)?.until ?? 0);
    if (day >= today + blackoutDaysAhead && !goesOn) break;
    if (window !== null) windows.push(window);
  }
  return windows;
}
