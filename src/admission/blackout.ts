import { reasons } from "../machine/reasons.ts";
import { iso } from "../machine/units.ts";
import { piece } from "../machine/wait-texts.ts";
import type { ClosingGate } from "./gate.ts";

/** Whether lane l is in a blackout. One that a person has ended is over at `opened_until`. */
export const isInBlackout = "l.blackouts @> belfry.now() and coalesce(l.opened_until <= belfry.now(), true)";

/** The end of the window in which lane l is, or null. */
export const blackoutEnd = `(select upper(w) from unnest(l.blackouts) w where w @> belfry.now())`;

export const blackoutGate = {
  form: "lane",
  name: "blackout",
  refuses: {
    [reasons.blackout]: { when: isInBlackout },
  },
  waits: {
    cause: "blackout",
    why: ({ job, facts: { blackoutUntil: until } }) =>
      until === null || job.dueAt >= until
        ? null
        : {
            pieces: [piece("blackout", { lane: job.lane, until: iso(until) })],
            advice: `to end this blackout now: belfry lanes resume ${job.lane}`,
            until,
          },
  },
} as const satisfies ClosingGate;
