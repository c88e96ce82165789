const dayMs = 86_400_000;

/** `YYYY-MM-DD` of the day before: calendar days, so no zone is involved. */
export const dayBefore = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) - dayMs).toISOString().slice(0, 10);
