/** A pause that has ended by itself leaves its columns behind. */
export const isPaused = "coalesce(paused_until > belfry.now(), false)";

/** A `Pause` of a lane or a schedule, or null. */
export const pauseValue = `case when ${isPaused} then jsonb_build_object('at', belfry.ms(paused_at), 'by', coalesce(paused_by, ''),
  'reason', pause_reason, 'until', case when isfinite(paused_until) then belfry.ms(paused_until) end) end`;
