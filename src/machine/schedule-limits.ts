/** Bounds of schedules and their times. */
export const scheduleLimits = {
  nextFireYearsMax: 230,
  missedAfterMs: 120_000,
  zoneChunksMax: 1_024,
  timetablesMax: 20_000,
  reportedProblemsMax: 1_000,
  scheduleVersionsMax: 10_000,
  holderLookBackMax: 3_000,
  holderLookAheadMax: 500,
  holderTimesMax: 100,
  answersMax: 50,
  ruleGraceMs: 90_000,
  ruleEarlyMs: 10_000,
  removedCountedMax: 1_000,
  calendarPatternYears: 28,
} as const;
