import { performance } from "node:perf_hooks";

const lookMs = 25;
/** A look that takes long is made seldom: one over 50,000 rows, every 25 ms, had taken a core from what was looked at. */
const lookShare = 10;
const pauseMsMax = 2_000;

/** Monotonic milliseconds of this machine. */
export const elapsedMs = (): number => performance.now();

/**
 * Looks again and again until the condition answers something other than false, null or undefined.
 * @throws Error that says what was waited for and for how long; whatever the condition throws ends the wait too.
 */
export async function until<T>(
  what: string,
  withinMs: number,
  condition: () => T | Promise<T>,
): Promise<Exclude<T, false | null | undefined>> {
  const startedMs = elapsedMs();
  for (;;) {
    const lookedMs = elapsedMs();
    const answer = await condition();
    if (answer !== false && answer !== null && answer !== undefined)
      return answer as Exclude<T, false | null | undefined>;
    if (elapsedMs() - startedMs >= withinMs) throw new Error(`waited ${Math.round(withinMs)} ms for ${what}`);
    await letPass(Math.min(pauseMsMax, Math.max(lookMs, (elapsedMs() - lookedMs) * lookShare)));
  }
}

/** Whether it comes to its end without an error. */
export const holds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

/** The length of a fault in real time: there is no event to wait for instead. Each call says beside it which fault. */
export const letPass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
