import { z } from "zod";
import type { Pause } from "../../core/ports/pause.ts";
import { maybeIso, maybeTime } from "./shape.ts";

/** Of a lane or a schedule; all but the first are null where it is not paused. */
export const paused = {
  paused: z.boolean(),
  pausedBy: z.string().nullable(),
  pausedAt: maybeTime,
  pausedUntil: maybeTime.describe("It ends by itself then; null: it lasts until it is resumed."),
  pauseReason: z.string().nullable(),
};

export const pauseJson = (pause: Pause | null) => ({
  paused: pause !== null,
  pausedBy: pause?.by ?? null,
  pausedAt: maybeIso(pause?.at ?? null),
  pausedUntil: maybeIso(pause?.until ?? null),
  pauseReason: pause?.reason ?? null,
});
