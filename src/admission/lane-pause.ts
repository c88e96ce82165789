import { reasons } from "../machine/reasons.ts";
import { pausePieces } from "../machine/pause.ts";
import { piece } from "../machine/wait-texts.ts";
import type { ClosingGate } from "./gate.ts";

export const lanePauseGate = {
  form: "lane",
  name: "lane-pause",
  refuses: {
    [reasons.lanePaused]: { when: `l.paused_until > belfry.now()` },
  },
  waits: {
    cause: "lane-paused",
    why: ({ job, facts: { lanePause: pause } }) =>
      pause && {
        pieces: [piece("lanePaused", { lane: job.lane, by: pause.by }), ...pausePieces(pause)],
        advice: `resume the lane: belfry lanes resume ${job.lane}`,
        until: pause.until,
      },
  },
} as const satisfies ClosingGate;
