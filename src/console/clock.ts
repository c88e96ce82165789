import { signal } from "@preact/signals";

/** The system's time now, in milliseconds; moves once a second while the page is looked at. */
export const now = signal(Date.now());

/** How far the system's clock is ahead of this machine's. */
export const aheadMs = signal(0);
/** The header of an answer has whole seconds, and was on its way. */
const roundMs = 2_000;

/** The system's clock counts, not this machine's: the head of each answer corrects ours, one that carries the database's time exactly. */
export function correct(time: string | null, isExact = true): void {
  const ms = Date.parse(time ?? "") - Date.now();
  if (!Number.isNaN(ms) && (isExact || Math.abs(ms - aheadMs.peek()) > roundMs)) aheadMs.value = ms;
}

export const currentTime = (): number => Date.now() + aheadMs.peek();

setInterval(() => {
  if (document.visibilityState === "visible") now.value = currentTime();
}, 1_000);
