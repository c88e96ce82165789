/**
 * The days of an iCalendar text (RFC 5545): events of whole days, once or each year. What would need more is refused by its name,
 * because a day that is left out unseen is a job that runs on a holiday.
 */
import { contractLimits } from "../machine/contract-limits.ts";
import { dateOf, type Day, dayOf } from "./days.ts";

export type IcsDays =
  | { readonly ok: true; readonly dates: readonly string[]; readonly yearly: readonly string[] }
  | { readonly ok: false; readonly problem: string };

/** Never throws. */
export function readIcs(text: string): IcsDays {
  const dates: string[] = [];
  const yearly: string[] = [];
  try {
    for (const event of eventsOf(text)) addEvent(event, dates, yearly);
  } catch (error) {
    if (!(error instanceof IcsProblem)) throw error;
    return { ok: false, problem: error.message };
  }
  if (dates.length + yearly.length === 0) return { ok: false, problem: "has no event (BEGIN:VEVENT) of a whole day" };
  return { ok: true, dates, yearly };
}

class IcsProblem extends Error {}

interface Property {
  readonly line: string;
  readonly parameters: string;
  readonly value: string;
}
type Event = ReadonlyMap<string, Property>;

/** The properties of each event by name; those of the parts within it (alarms) and of other components are left out. */
function* eventsOf(text: string): Generator<Event> {
  const within: string[] = [];
  let event = new Map<string, Property>();
  for (const line of text.replace(/\r?\n[ \t]/g, "").split(/\r?\n/)) {
    const match = /^([A-Z-]+)((?:;[^:"]*(?:"[^"]*"[^:"]*)*)?):(.*)$/i.exec(line);
    if (match === null) {
      if (line.trim() === "") continue;
      throw new IcsProblem(`has a line that is no property: ${line.slice(0, 60)}`);
    }
    const [, written = "", parameters = "", value = ""] = match;
    const name = written.toUpperCase();
    if (name === "BEGIN") {
      within.push(value.toUpperCase());
      if (within.at(-1) === "VEVENT") event = new Map();
    } else if (name === "END") {
      if (within.pop() === "VEVENT") yield event;
    } else if (within.at(-1) === "VEVENT") {
      event.set(name, { line, parameters: parameters.toUpperCase(), value: value.trim() });
    }
  }
  if (within.length > 0) throw new IcsProblem(`ends within ${within.at(-1) ?? ""}: its END is missing`);
}

const refused = ["RDATE", "EXDATE", "EXRULE", "RECURRENCE-ID"];

function addEvent(event: Event, dates: string[], yearly: string[]): void {
  if (event.get("STATUS")?.value.toUpperCase() === "CANCELLED") return;
  const other = refused.find((name) => event.has(name));
  if (other !== undefined) throw new IcsProblem(`uses ${other}, which is not read: list those days in dates`);
  const first = dayIn(event, "DTSTART");
  const last = lastDay(event, first);
  const name = nameOf(event);
  const rule = event.get("RRULE");
  if (rule === undefined) return void dates.push(rangeText(dateOf(first), dateOf(last)) + name);
  const { count, untilDay, interval } = yearsOf(rule, first);
  if (count === null && untilDay === null) {
    if (interval !== 1) throw new IcsProblem(`has ${rule.line}: INTERVAL needs COUNT or UNTIL`);
    if (last - first >= 365) throw new IcsProblem(`has an event of a year or more that recurs: ${rule.line}`);
    return void yearly.push(rangeText(dateOf(first).slice(5), dateOf(last).slice(5)) + name);
  }
  const max = contractLimits.calendarEntriesMax;
  for (let found = 0, years = 0; years <= max * interval && found < (count ?? max); years += interval) {
    const start = yearsLater(first, years);
    if (start === null) continue;
    if (untilDay !== null && start > untilDay) break;
    dates.push(rangeText(dateOf(start), dateOf(start + last - first)) + name);
    found += 1;
  }
}

/** Null for the 29th of February of a year that has none. */
function yearsLater(day: Day, years: number): Day | null {
  const date = dateOf(day);
  const text = `${String(Number(date.slice(0, 4)) + years).padStart(4, "0")}${date.slice(4)}`;
  const later = dayOf(text);
  return Number.isNaN(later) || dateOf(later) !== text ? null : later;
}

const rangeText = (from: string, to: string): string => (from === to ? from : `${from}..${to}`);

/** A day without a time. */
function dayIn(event: Event, name: string): Day {
  const property = event.get(name);
  if (property === undefined) throw new IcsProblem(`has an event without ${name}`);
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(property.value) ?? [];
  const date = `${year}-${month}-${day}`;
  const found = year === undefined ? Number.NaN : dayOf(date);
  if (Number.isNaN(found) || dateOf(found) !== date)
    throw new IcsProblem(`has ${property.line}: only whole days are read (VALUE=DATE, like 20261225)`);
  return found;
}

/** DTEND is the day after it. */
function lastDay(event: Event, first: Day): Day {
  const duration = event.get("DURATION");
  const [, count, unit] = /^P(\d{1,3})([DW])$/.exec(duration?.value ?? "") ?? [];
  if (duration !== undefined && count === undefined)
    throw new IcsProblem(`has ${duration.line}: only whole days are read`);
  const end = event.has("DTEND")
    ? dayIn(event, "DTEND")
    : first + Math.max(1, Number(count ?? 1) * (unit === "W" ? 7 : 1));
  if (end < first)
    throw new IcsProblem(`has an event whose DTEND is before its DTSTART: ${event.get("DTEND")?.line ?? ""}`);
  return Math.max(first, end - 1);
}

interface Years {
  readonly count: number | null;
  readonly untilDay: Day | null;
  readonly interval: number;
}

function yearsOf({ line, value }: Property, first: Day): Years {
  const parts = new Map(value.split(";").map((part) => part.toUpperCase().split("=") as [string, string]));
  const [month, day] = dateOf(first).slice(5).split("-").map(Number);
  for (const [name, given] of parts) {
    const isRead =
      (name === "FREQ" && given === "YEARLY") ||
      ((name === "COUNT" || name === "INTERVAL") && /^[1-9]\d{0,3}$/.test(given)) ||
      (name === "UNTIL" && /^\d{8}(?:T\d{6}Z?)?$/.test(given)) ||
      (name === "BYMONTH" && Number(given) === month) ||
      (name === "BYMONTHDAY" && Number(given) === day) ||
      name === "WKST";
    if (!isRead) throw new IcsProblem(`has ${line}: ${name}=${given} is not read; list those days in dates`);
  }
  if (!parts.has("FREQ")) throw new IcsProblem(`has ${line}: FREQ is missing`);
  const until = parts.get("UNTIL");
  const count = parts.get("COUNT");
  return {
    count: count === undefined ? null : Number(count),
    untilDay: until === undefined ? null : dayOf(`${until.slice(0, 4)}-${until.slice(4, 6)}-${until.slice(6, 8)}`),
    interval: Number(parts.get("INTERVAL") ?? 1),
  };
}

/** Its SUMMARY, after a space. */
function nameOf(event: Event): string {
  const text = (event.get("SUMMARY")?.value ?? "")
    .replace(/\\([\\;,nN])/g, (_, escaped: string) => (escaped.toLowerCase() === "n" ? " " : escaped))
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, contractLimits.calendarNameCharactersMax)
    .trim();
  return text === "" ? "" : ` ${text}`;
}
