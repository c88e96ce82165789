import type { NewPause, Pause } from "../../core/ports/pause.ts";
import type { PauseRow } from "./sql/pause.ts";

export const pauseOf = (row: PauseRow): Pause | null =>
  row.paused && row.paused_at !== null
    ? { at: row.paused_at, by: row.paused_by ?? "", reason: row.pause_reason, until: row.paused_until }
    : null;

/** Parameters: whether it is paused, until when, by whom, why. */
export const pauseValues = (pause: NewPause | null): unknown[] => [
  pause !== null,
  pause?.until ?? null,
  pause?.by ?? null,
  pause?.reason ?? null,
];
