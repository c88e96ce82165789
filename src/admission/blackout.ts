import { reasons } from "../machine/reasons.ts";
import { iso } from "../machine/units.ts";
import type { ClosingGate } from "./gate.ts";

/** Whether lane l is in a blackout. One that a person has ended is over at `opened_until`. */
export const isInBlackout = "l.blackouts @> belfry.now() and coalesce(l.opened_until <= belfry.now(), true)";

/** The end of the window in which lane l is, or null. */
export const blackoutEnd = `(select upper(w) from unnest(l.blackouts) w where w @> belfry.now())`;

/** In a blackout a lane starts nothing. */
export const blackoutGate = {
  form: "lane",
  name: "blackout",
  refuses: {
    [reasons.blackout]: { when: isInBlackout, job: "its lane was in a blackout" },
  },
  waits: {
    cause: "blackout",
    why: ({ job, facts: { blackoutUntil: until } }) =>
      until === null
        ? null
        : {
            sentence: `its lane ${job.lane} is in a blackout until ${iso(until)}, as its app defines`,
            advice: `to end this blackout now: belfry lanes resume ${job.lane}`,
            until,
          },
  },
} as const satisfies ClosingGate;
