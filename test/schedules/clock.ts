import type { CalendarRule } from "../../src/machine/schedule.ts";
import { dateOfReading, excludedByHand, shiftByHand } from "./calendar-by-hand.ts";
import { type CronRule, daysOf } from "../../src/calendar/cron.ts";
import type { Dst } from "../../src/calendar/fires.ts";

/**
 * An oracle for clock changes that shares nothing with the code under test but the matching of readings: it asks the
 * platform for the wall clock of every instant, minute by minute, and works the rules from what it sees.
 */
const formats = new Map<string, Intl.DateTimeFormat>();

/** Milliseconds that the zone is ahead of UTC, from the platform's wall clock (not from its offset text). */
export function intlOffset(zone: string, instant: number): number {
  let format = formats.get(zone);
  if (format === undefined) {
    const parts = {
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    } as const;
    format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, hourCycle: "h23", ...parts });
    formats.set(zone, format);
  }
  return Date.parse(`${format.format(instant).replace(" ", "T")}Z`) - Math.floor(instant / 1_000) * 1_000;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** One pass of a reading: the instants at which the wall clock shows it, or the change that skipped it. */
export interface Seen {
  readonly reading: number;
  readonly instants: readonly number[];
  /** For a skipped reading: its instant on the old clock, and the instant of the change. */
  readonly skipped: { readonly onOldClock: number; readonly change: number } | null;
}

/** Watches the wall clock minute by minute over `[from, until)` and lists every reading in that stretch. */
export function watch(zone: string, from: number, until: number): readonly Seen[] {
  const passes = new Map<number, number[]>();
  const skipped = new Map<number, { onOldClock: number; change: number }>();
  let before = intlOffset(zone, from - minuteMs);
  for (let instant = from; instant < until; instant += minuteMs) {
    const offset = intlOffset(zone, instant);
    for (let gone = instant + before; gone < instant + offset; gone += minuteMs) {
      skipped.set(gone, { onOldClock: gone - before, change: instant });
    }
    before = offset;
    passes.set(instant + offset, [...(passes.get(instant + offset) ?? []), instant]);
  }
  return [...new Set([...passes.keys(), ...skipped.keys()])]
    .toSorted((a, b) => a - b)
    .map((reading) => ({ reading, instants: passes.get(reading) ?? [], skipped: skipped.get(reading) ?? null }));
}

/** A row that the ledger must have, by the stated rules. `fires` is false for a reading that a gap left out. */
export interface RowByHand {
  readonly localTime: string;
  readonly fold: 0 | 1;
  readonly nominalAt: number;
  readonly fires: boolean;
  /** The calendar that excludes its day: it is skipped, or moved to `nominalAt`. */
  readonly calendar?: string;
}

/** All rows of an expression over a watched stretch; `auto` is resolved in this file's own words. */
export function rowsByHand(
  cron: CronRule,
  dst: Dst,
  seen: readonly Seen[],
  calendars?: CalendarRule,
): readonly RowByHand[] {
  const isMatch = matcher(cron);
  const rows = (each: Seen): readonly RowByHand[] => rowsOf(each, dst, cron.isInterval);
  const matching = seen.filter((each) => isMatch(each.reading));
  if (calendars === undefined) return matching.flatMap(rows);
  const byReading = new Map(seen.map((each) => [each.reading, each]));
  const byDate = new Map<string, readonly [calendar: string | null, shift: number | null]>();
  return matching.flatMap((each) => {
    const date = dateOfReading(each.reading);
    const known = byDate.get(date) ?? [excludedByHand(calendars, date), shiftByHand(calendars, date)];
    byDate.set(date, known);
    const [calendar, shift] = known;
    if (calendar === null) return rows(each);
    if (shift === null) return rows(each).map((row) => ({ ...row, fires: false, calendar }));
    const there = byReading.get(each.reading + shift);
    // Beyond what is watched.
    if (there === undefined) return [];
    const places = rows(there);
    return rows(each).map((row) => {
      const { nominalAt, fires } = places[row.fold] ?? places[0] ?? row;
      return { ...row, nominalAt, fires, calendar };
    });
  });
}

/** The instants at which an expression fires, each once. */
export function firesByHand(
  cron: CronRule,
  dst: Dst,
  seen: readonly Seen[],
  calendars?: CalendarRule,
): readonly number[] {
  const fires = rowsByHand(cron, dst, seen, calendars).filter((row) => row.fires);
  return [...new Set(fires.map((row) => row.nominalAt))].toSorted((a, b) => a - b);
}

function matcher(cron: CronRule): (reading: number) => boolean {
  const days = new Map<number, boolean>();
  const [minutes, hours] = [new Set(cron.minutes), new Set(cron.hours)];
  return (reading) => {
    if (!minutes.has(Math.floor(reading / minuteMs) % 60) || !hours.has(Math.floor(reading / hourMs) % 24))
      return false;
    const day = Math.floor(reading / (24 * hourMs));
    const date = new Date(reading);
    const isDay =
      days.get(day) ?? daysOf(cron, date.getUTCFullYear(), date.getUTCMonth() + 1).includes(date.getUTCDate());
    days.set(day, isDay);
    return isDay;
  };
}

function rowsOf({ reading, instants, skipped }: Seen, dst: Dst, isInterval: boolean): readonly RowByHand[] {
  const localTime = new Date(reading).toISOString().slice(0, 16);
  if (skipped !== null) {
    const gap = dst.gap === "auto" ? (isInterval ? "skip" : "first-valid") : dst.gap;
    const nominalAt = gap === "first-valid" ? skipped.change : skipped.onOldClock;
    return [{ localTime, fold: 0, nominalAt, fires: gap !== "skip" }];
  }
  const passes = instants.map(
    (nominalAt, index) => ({ localTime, fold: index === 0 ? 0 : 1, nominalAt, fires: true }) as const,
  );
  if (passes.length < 2) return passes;
  const overlap = dst.overlap === "auto" ? (isInterval ? "both" : "first") : dst.overlap;
  if (overlap === "both") return passes;
  return overlap === "first" ? passes.slice(0, 1) : passes.slice(-1);
}
