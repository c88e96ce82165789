import { reasons } from "../machine/reasons.ts";
import { kindName } from "../machine/closable-texts.ts";
import { pausePieces } from "../machine/pause.ts";
import { piece } from "../machine/wait-texts.ts";
import type { ClosingGate } from "./gate.ts";

export const lanePauseGate = {
  form: "lane",
  name: "lane-pause",
  ends: "l.paused_until",
  refuses: {
    [reasons.lanePaused]: { when: `l.paused_until > belfry.now()` },
  },
  waits: {
    cause: "lane-paused",
    why: ({ job: { kind, lane }, facts: { closedName: name, lanePause: pause } }) =>
      pause && {
        pieces: [
          name === kindName(kind)
            ? piece("kindPaused", { kind, by: pause.by })
            : piece("lanePaused", { lane, by: pause.by }),
          ...pausePieces(pause),
        ],
        advice: `resume it: belfry lanes resume ${name}`,
        until: pause.until,
      },
  },
} as const satisfies ClosingGate;
