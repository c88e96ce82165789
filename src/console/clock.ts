import { signal } from "@preact/signals";

/** The system's time now, in milliseconds; moves once a second while the page is looked at. */
export const now = signal(Date.now());

let aheadMs = 0;

/** The database's clock counts, not this machine's: an answer that carries its time corrects ours. */
export function correct(time: string): void {
  const at = Date.parse(time);
  if (!Number.isNaN(at)) aheadMs = at - Date.now();
}

export const currentTime = (): number => Date.now() + aheadMs;

setInterval(() => {
  if (document.visibilityState === "visible") now.value = currentTime();
}, 1_000);
