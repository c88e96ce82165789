import type { Cron } from "../../src/core/cron.ts";
import type { Dst } from "../../src/core/fires.ts";
import { readings } from "../../src/core/reading.ts";

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

/** The instants an expression fires at, by the stated rules; `auto` resolved by the caller's own words. */
export function firesByHand(cron: Cron, dst: Dst, seen: readonly Seen[]): readonly number[] {
  const fires = new Set<number>();
  for (const each of seen) {
    if (readings(cron, each.reading, each.reading + 1).next().done === true) continue;
    for (const instant of instantsOf(each, dst, cron.isInterval)) fires.add(instant);
  }
  return [...fires].toSorted((a, b) => a - b);
}

function instantsOf({ instants, skipped }: Seen, dst: Dst, isInterval: boolean): readonly number[] {
  if (skipped !== null) {
    const gap = dst.gap === "auto" ? (isInterval ? "skip" : "first-valid") : dst.gap;
    if (gap === "skip") return [];
    return [gap === "shift" ? skipped.onOldClock : skipped.change];
  }
  if (instants.length < 2) return instants;
  const overlap = dst.overlap === "auto" ? (isInterval ? "both" : "first") : dst.overlap;
  if (overlap === "both") return instants;
  return overlap === "first" ? instants.slice(0, 1) : instants.slice(-1);
}
