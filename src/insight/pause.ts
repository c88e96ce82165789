import { z } from "zod";
import { isPaused } from "../machine/pause.ts";
import { maybeTime } from "./atoms.ts";
import { isoText } from "./sql-query.ts";

/** As the domain has it; null where nothing is paused. */
export const pause = z
  .object({ at: z.number(), by: z.string(), reason: z.string().nullable(), until: z.number().nullable() })
  .nullable();

/** Of a lane or a schedule; all but the first are null where it is not paused. */
export const pauseShape = {
  paused: z.boolean(),
  pausedBy: z.string().nullable(),
  pausedAt: maybeTime,
  pausedUntil: maybeTime.describe("It ends by itself then; null: it lasts until it is resumed."),
  pauseReason: z.string().nullable(),
};

const whilePaused = (value: string, name: string): string => `case when ${isPaused} then ${value} end as "${name}"`;

/** The columns of that shape. A pause that has ended by itself leaves its columns behind. */
export const pauseMembers = [
  `${isPaused} as paused`,
  whilePaused("paused_by", "pausedBy"),
  whilePaused(isoText("paused_at"), "pausedAt"),
  whilePaused(`case when isfinite(paused_until) then ${isoText("paused_until")} end`, "pausedUntil"),
  whilePaused("pause_reason", "pauseReason"),
].join(", ");
