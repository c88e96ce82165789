import { z } from "zod";
import { readUntil } from "../calendar/asked-time.ts";
import { openZone, zoneProblem } from "../calendar/zone.ts";
import type { Instant } from "../machine/job.ts";
import { dayMs } from "../machine/units.ts";
import { type NewPause, pauseDaysMax, pauseReasonCharactersMax } from "../machine/pause.ts";
import { invalidTime } from "./problem.ts";
import { nameText, text } from "./query-fields.ts";

export const pauseBody = z.strictObject({
  reason: text(pauseReasonCharactersMax, "Shown beside the pause.").optional(),
  until: text(
    64,
    "The pause ends by itself then: `2h`, `6:00` or `2026-11-23T06:00` by the clock of `timezone`, or an instant.",
  ).optional(),
  timezone: nameText("IANA name, whose clock `until` is read from.").default("UTC"),
});

/** @throws HttpProblem 422 for an end that cannot be read, has passed or is too far away. */
export function pauseFrom({ reason, until, timezone }: z.infer<typeof pauseBody>, by: string, now: Instant): NewPause {
  return { by, reason: reason ?? null, until: until === undefined ? null : endOf(until, timezone, now) };
}

function endOf(text: string, timezone: string, now: Instant): Instant {
  const problem = zoneProblem(timezone);
  if (problem !== null) throw invalidTime("timezone", problem);
  const until = readUntil(text, openZone(timezone), now);
  if (until === null) throw invalidTime("until", "must be like 2h, 6:00, 2026-11-23T06:00 or 2026-11-23T06:00:00Z");
  if (until <= now) throw invalidTime("until", "must lie in the future");
  if (until > now + pauseDaysMax * dayMs) throw invalidTime("until", `must be at most ${pauseDaysMax} days away`);
  return until;
}
