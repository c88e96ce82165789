import type { Instant } from "../job/job.ts";
import { dayMs } from "../job/units.ts";
import { readAskedTime } from "./asked-time.ts";
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
  const hasDate = /^\d{4}-/.test(text.trim());
  const [today, tomorrow] = [now, now + dayMs].map((day) => {
    const asked = readAskedTime(text, zone, day);
    if (asked === null) return null;
    return asked.instants.find((instant) => instant > now) ?? asked.near;
  });
  if (today === null || today === undefined) return null;
  return today > now || hasDate ? today : (tomorrow ?? null);
}
