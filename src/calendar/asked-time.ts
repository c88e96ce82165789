import { dayMs } from "../machine/units.ts";
import type { Instant } from "../machine/job.ts";
import { minuteText, type WallTime, secondText } from "./cron.ts";
import type { Zone } from "./zone.ts";
import { parseDuration } from "./duration.ts";

/** A time as a person asks for it: a reading of the schedule's wall clock, with the instants that show it. */
export interface TimeQuery {
  /** `YYYY-MM-DDTHH:MM`, with seconds only when there are some. */
  readonly localTime: string;
  /** It was given with `Z` or an offset, so it is one pass of a reading that the clock shows twice. */
  readonly isInstant: boolean;
  /** None when the clock skips the reading, two when it shows it twice. */
  readonly instants: readonly Instant[];
  /** Where on the time line it lies; for a skipped reading, the instant of the jump. */
  readonly near: Instant;
}

const form = /^(?:(\d{4})-(\d\d)-(\d\d)[T ])?(\d\d):(\d\d)(?::(\d\d)(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?$/;

/**
 * `09:00` is today in the zone, `2026-11-21T09:00` a reading of its clock, and with `Z` or an offset it is an instant.
 * @returns null for anything else.
 */
export function readTimeQuery(text: string, zone: Zone, now: Instant): TimeQuery | null {
  const match = form.exec(text.trim().replace(/^\d:/, "0$&"));
  if (match === null) return null;
  const [, year, month, day, hour = "", minute = "", second = "00", fraction = "", offset] = match;
  const today = minuteText(now + zone.offsetAt(now)).slice(0, 10);
  const date = year === undefined ? today : `${year}-${month}-${day}`;
  const whole = `${date}T${hour}:${minute}:${second}`;
  const reading = Date.parse(`${whole}${fraction}Z`);
  if (Number.isNaN(reading) || new Date(reading).toISOString().slice(0, 19) !== whole) return null;
  if (offset === undefined) return asReading(reading, zone);
  const instant = Date.parse(`${whole}${fraction}${offset}`);
  const localTime = textOf(instant + zone.offsetAt(instant));
  return { localTime, isInstant: true, instants: [instant], near: instant };
}

function asReading(reading: WallTime, zone: Zone): TimeQuery {
  // No clock is a day away from UTC, and none changes twice in two days.
  const [from, until] = [reading - dayMs, reading + dayMs];
  const instants = [...new Set([from, until].map((instant) => reading - zone.offsetAt(instant)))].filter(
    (instant) => instant + zone.offsetAt(instant) === reading,
  );
  const [change] = zone.transitions(from, until);
  return { localTime: textOf(reading), isInstant: false, instants, near: instants[0] ?? change?.at ?? reading };
}

const textOf = (reading: WallTime): string => (reading % 60_000 === 0 ? minuteText(reading) : secondText(reading));

/**
 * The end that a person asks for: `2h` from now, `6:00` the next time that the zone's clock shows it, `2026-11-23T06:00` by that
 * clock, or an instant. A reading that the clock skips is the moment of the jump; of one it shows twice, the next pass.
 * @returns null for anything else.
 */
export function readUntil(text: string, zone: Zone, now: Instant): Instant | null {
  const ms = parseDuration(text);
  if (ms !== null) return now + ms;
  const on = (day: Instant): Instant | null => {
    const asked = readTimeQuery(text, zone, day);
    return asked === null ? null : (asked.instants.find((instant) => instant > now) ?? asked.near);
  };
  const today = on(now);
  if (today !== null && today > now) return today;
  // Noon of the next day, which no change of the clock moves into another one.
  const offset = zone.offsetAt(now);
  return on((Math.floor((now + offset) / dayMs) + 1.5) * dayMs - offset);
}
