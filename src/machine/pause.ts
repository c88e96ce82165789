import type { Instant } from "./job.ts";
import { piece, type WaitPiece } from "./wait-texts.ts";

/** Why a lane or a schedule starts nothing now. */
export interface Pause {
  readonly at: Instant;
  readonly by: string;
  readonly reason: string | null;
  /** It ends by itself then; null: it lasts until it is resumed. */
  readonly until: Instant | null;
}

export type NewPause = Omit<Pause, "at">;

/** A pause that ends does so within this time. */
export const pauseDaysMax = 366;
export const pauseReasonCharactersMax = 500;

/** For a sentence: `paused by ana until 2026-11-23T06:00:00.000Z (mail provider is away)`. */
export function pauseText({ by, until, reason }: Pause): string {
  const end = until === null ? "" : ` until ${new Date(until).toISOString()}`;
  return `paused by ${by}${end}${reason === null ? "" : ` (${reason})`}`;
}

/** The same after who paused it, for the sentences of a job that waits. */
export const pausePieces = ({ until, reason }: Pause): readonly WaitPiece[] => [
  ...(until === null ? [] : [piece("pauseEnds", { until: new Date(until).toISOString() })]),
  ...(reason === null ? [] : [piece("pauseReason", { reason })]),
];

/** What pauses it at that time; null where it is on then. */
export function pauseAt(of: { readonly pause: Pause | null } | null, at: Instant): Pause | null {
  const pause = of?.pause ?? null;
  return pause === null || (pause.until !== null && pause.until <= at) ? null : pause;
}

/** A pause that has ended by itself leaves its columns behind. */
export const isPaused = "coalesce(paused_until > belfry.now(), false)";

/** A `Pause` of a lane or a schedule, or null. */
export const pauseValue = `case when ${isPaused} then jsonb_build_object('at', belfry.ms(paused_at), 'by', coalesce(paused_by, ''),
  'reason', pause_reason, 'until', case when isfinite(paused_until) then belfry.ms(paused_until) end) end`;
