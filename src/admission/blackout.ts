import { kindName } from "../machine/closable-texts.ts";
import { reasons } from "../machine/reasons.ts";
import { iso } from "../machine/units.ts";
import { piece } from "../machine/wait-texts.ts";
import type { ClosingGate, Wait, WaitingView } from "./gate.ts";

/** Whether lane or kind l is in a blackout. One that a person has ended is over at `opened_until`. */
export const isInBlackout = "l.blackouts @> belfry.now() and coalesce(l.opened_until <= belfry.now(), true)";

/** The end of the window in which l is, or null. */
export const blackoutEnd = `(select upper(w) from unnest(l.blackouts) w where w @> belfry.now())`;

export const blackoutGate = {
  form: "lane",
  name: "blackout",
  ends: blackoutEnd,
  refuses: {
    [reasons.blackout]: { when: isInBlackout },
  },
  waits: {
    cause: "blackout",
    why({ job: { kind, lane, dueAt }, facts: { closedName: name, blackoutUntil: until } }: WaitingView): Wait | null {
      if (until === null || dueAt >= until) return null;
      const end = { until: iso(until) };
      return {
        pieces: [
          name === kindName(kind) ? piece("kindBlackout", { kind, ...end }) : piece("blackout", { lane, ...end }),
        ],
        advice: `to end this blackout now: belfry lanes resume ${name}`,
        until,
      };
    },
  },
} as const satisfies ClosingGate;
