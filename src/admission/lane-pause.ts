import { reasons } from "../machine/reasons.ts";
import { pauseText } from "../machine/pause.ts";
import type { ClosingGate } from "./gate.ts";

/** A paused lane starts nothing. */
export const lanePauseGate = {
  form: "lane",
  name: "lane-pause",
  refuses: {
    [reasons.lanePaused]: { when: `l.paused_until > belfry.now()`, job: "its lane was paused" },
  },
  waits: {
    cause: "lane-paused",
    why: ({ job, facts: { lanePause: pause } }) =>
      pause && {
        sentence: `its lane ${job.lane} is ${pauseText(pause)}`,
        advice: `resume the lane: belfry lanes resume ${job.lane}`,
        until: pause.until,
      },
  },
} as const satisfies ClosingGate;
