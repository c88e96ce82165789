/** Of a row with a pause; `paused_until` is null where it lasts until it is resumed. */
export interface PauseRow {
  readonly paused: boolean;
  readonly paused_until: number | null;
  readonly paused_at: number | null;
  readonly paused_by: string | null;
  readonly pause_reason: string | null;
}

/** A pause that has ended by itself leaves its columns behind. */
export const isPaused = "coalesce(paused_until > belfry.now(), false)";
export const pauseColumns = `${isPaused} as paused, case when isfinite(paused_until) then belfry.ms(paused_until) end as paused_until,
  belfry.ms(paused_at) as paused_at, paused_by, pause_reason`;
