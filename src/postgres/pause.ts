import type { NewPause } from "../machine/pause.ts";

/** Parameters: whether it is paused, until when, by whom, why. */
export const pauseValues = (pause: NewPause | null): unknown[] => [
  pause !== null,
  pause?.until ?? null,
  pause?.by ?? null,
  pause?.reason ?? null,
];
