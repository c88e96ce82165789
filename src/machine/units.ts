export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** An instant as people and other programs read it: ISO 8601 in UTC. */
export const iso = (instant: number): string => new Date(instant).toISOString();
export const maybeIso = (instant: number | null): string | null => (instant === null ? null : iso(instant));
