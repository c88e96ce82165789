/** Bounds of one scheduler task and of its passes. */
export const passLimits = {
  rescueRowsMax: 500,
  rescueRoundsMax: 10,
  tickSchedulesMax: 500,
  tickTimesPerScheduleMax: 1_000,
  /** Times behind the oldest that a chain waits for. */
  chainTimesMax: 1_000,
  tickRoundsMax: 10,
  tickRowsMax: 20_000,
  pruneRowsMax: 1_000,
  /** Pages of `runLimits.cancelRowsMax` jobs. */
  cancelRemovedRoundsMax: 5,
  wakeMs: 60_000,
  passMs: 55_000,
  passIntervalMs: 1_000,
  /** How long a step rests that found nothing, where what it does is not urgent. */
  passRestMs: 5_000,
  /** How often the holder notes that it makes passes. */
  passNotedMs: 5_000,
} as const;
