import { randomUUID } from "node:crypto";
import { url as debuggerUrl } from "node:inspector";
import { performance } from "node:perf_hooks";
import type { Clock, Random } from "../machine/ports.ts";

/** Longer than a handler keeps the event loop from turning, and shorter than a person looks at a breakpoint. */
const stopMsMin = 1_000;
const lookMs = 250;

/** Under a debugger the time at breakpoints does not count: no handler runs out of it there. */
function withoutStops(): () => number {
  let [seenMs, stoppedMs] = [performance.now(), 0];
  const look = (): number => {
    const nowMs = performance.now();
    if (nowMs - seenMs >= stopMsMin) stoppedMs += nowMs - seenMs;
    seenMs = nowMs;
    return nowMs - stoppedMs;
  };
  setInterval(look, lookMs).unref();
  return look;
}

const machineMs = debuggerUrl() === undefined ? () => performance.now() : withoutStops();

/** setTimeout's maximum. A longer wait ends early, so callers must check their condition again. */
const timerMsMax = 2 ** 31 - 1;

/**
 * Time of this machine, monotonic. `scale` is how many milliseconds of the system pass in one of the machine:
 * with 60, an hour takes a minute. Every process of a compressed run gets the same.
 */
export function createClock(scale = 1): Clock {
  const real = (ms: number): number => Math.min(Math.max(ms, 0) / scale, timerMsMax);
  return {
    elapsedMs: () => machineMs() * scale,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const end = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", end);
          resolve();
        };
        const timer = setTimeout(end, real(ms));
        signal?.addEventListener("abort", end, { once: true });
      }),
    after(ms, run) {
      const timer = setTimeout(run, real(ms));
      return () => clearTimeout(timer);
    },
  };
}

/** Milliseconds since 1970, for a signature, which has to state them. No decision of Belfry is made by it. */
export const wallClockMs = (): number => Date.now();

export const systemRandom: Random = {
  next: Math.random,
  // Node draws these many at a time; drawing 16 bytes for each costs a call of the system.
  id: () => randomUUID().replaceAll("-", ""),
};
