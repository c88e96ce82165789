import type { Instant } from "../machine/job.ts";
import { dayMs } from "../machine/units.ts";
import { readTimeQuery } from "./asked-time.ts";
import { parseDuration } from "./duration.ts";
import type { Zone } from "./zone.ts";

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
