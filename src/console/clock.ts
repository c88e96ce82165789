import { signal } from "@preact/signals";

/** The system's time now, in milliseconds; moves once a second while the page is looked at. */
export const now = signal(Date.now());

export const currentTime = (): number => Date.now();

setInterval(() => {
  if (document.visibilityState === "visible") now.value = currentTime();
}, 1_000);
