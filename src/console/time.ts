import { storedSignal } from "./remembered.ts";
import { language } from "./language/choice.ts";
import { words } from "./language/words.ts";

export const timeModes = ["utc", "mine", "schedule", "relative"] as const;
export type TimeMode = (typeof timeModes)[number];

/** How every time on the page is written: in the reader's zone until another is chosen. */
export const timeMode = storedSignal<TimeMode>("time", timeModes, "mine");

export const myZone = new Intl.DateTimeFormat("en-US").resolvedOptions().timeZone;

/** By whose clock a picture of a schedule, or of all of them, is drawn. */
export const clockZone = (schedule = myZone): string =>
  timeMode.value === "utc" ? "UTC" : timeMode.value === "schedule" && isKnown(schedule) ? schedule : myZone;

export interface Reading {
  readonly text: string;
  /** Short name of the zone; empty for a relative time, which has none, and for the one that the bar says. */
  readonly zone: string;
}

/** A time as the chosen mode writes it. `zone` is the schedule's, when the time belongs to one. */
export function reading(
  at: number,
  now: number,
  { mode, zone }: { mode: TimeMode; zone?: string | undefined },
): Reading {
  if (mode === "relative") return { text: relative(at - now), zone: "" };
  if (mode === "schedule") return inZone(at, now, zone ?? "UTC");
  const used = mode === "mine" ? myZone : "UTC";
  const read = inZone(at, now, used);
  return read.zone === zoneName(mode, now) ? { ...read, zone: "" } : read;
}

/** What the bar says of the times on the page: a time in another zone, or on the other side of a clock change, says its own. */
export const zoneName = (mode: TimeMode, now: number): string =>
  mode === "mine" ? todayIn(myZone, now).name : mode === "utc" ? todayIn("UTC", now).name : "";

/** The day is left out for a time of today, and the year for one of this year. */
export function inZone(at: number, now: number, zone: string): Reading {
  const { year, day, clock, name } = partsOf(at, zone);
  const today = todayIn(zone, now);
  if (year !== today.year) return { text: `${words.time.ofYear(day, year)} ${clock}`, zone: name };
  return { text: day === today.day ? clock : `${day} ${clock}`, zone: name };
}

/** Date, time, zone and the same in UTC: what a pointer resting on a time shows. */
export function fully(at: number, zone: string): string {
  const utc = new Date(at).toISOString().replace("T", " ").replace("Z", " UTC");
  if (zone === "UTC" || !isKnown(zone)) return utc;
  const text = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" }).format(at);
  return `${utc}\n${text} ${zone}`;
}

interface Parts {
  readonly year: string;
  /** `Nov 21` */
  readonly day: string;
  readonly clock: string;
  /** The zone's short name at that moment. */
  readonly name: string;
}

const formats = new Map<string, Intl.DateTimeFormat>();

export function partsOf(at: number, zone: string): Parts {
  const format = formats.get(zone) ?? formatIn(zone);
  formats.set(zone, format);
  const found: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
  for (const { type, value } of format.formatToParts(at)) found[type] = value;
  return {
    year: found.year ?? "",
    day: words.time.day(found.month ?? "", found.day ?? ""),
    // Some languages leave out the zero that was asked for.
    clock: [found.hour, found.minute, found.second].map((part = "") => part.padStart(2, "0")).join(":"),
    name: found.timeZoneName ?? zone,
  };
}

const todays = new Map<string, { readonly minute: number; readonly parts: Parts }>();

/** Asked for each time on the page, and the same for a minute: no day begins within one. */
function todayIn(zone: string, now: number): Parts {
  const minute = Math.floor(now / 60_000);
  const held = todays.get(zone);
  if (held?.minute === minute) return held.parts;
  const parts = partsOf(now, zone);
  todays.set(zone, { minute, parts });
  return parts;
}

/** In UTC when the browser does not know the zone: the reading names the zone it is in. */
function formatIn(zone: string): Intl.DateTimeFormat {
  const two = "2-digit";
  const fields = { year: "numeric", month: "short", day: two, hour: two, minute: two, second: two } as const;
  return new Intl.DateTimeFormat(language, {
    ...fields,
    timeZone: isKnown(zone) ? zone : "UTC",
    hourCycle: "h23",
    timeZoneName: "short",
  });
}

function isKnown(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** `3 min ago`, `in 2 h`, `now`. */
export function relative(ms: number): string {
  if (Math.abs(ms) < 1_000) return words.time.now;
  return ms < 0 ? words.time.ago(durationText(-ms)) : words.time.later(durationText(ms));
}

const { units } = words.time;

/** Two digits or so, in the unit a person would choose: `84 ms`, `3.2 s`, `4 min`, `2 h 5 min`, `3 d`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}${units.ms}`;
  const seconds = ms / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)}${units.s}`;
  if (seconds < 60) return `${Math.floor(seconds)}${units.s}`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return withRest(minutes, units.min, Math.floor(seconds) % 60, units.s);
  if (minutes < 60) return `${minutes}${units.min}`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return withRest(hours, units.h, minutes % 60, units.min);
  return withRest(Math.floor(hours / 24), units.d, hours % 24, units.h);
}

const withRest = (whole: number, unit: string, rest: number, restUnit: string): string =>
  rest === 0 ? `${whole}${unit}` : `${whole}${unit} ${rest}${restUnit}`;
