import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../src/machine/ports.ts";
import { clockOf } from "../support/virtual-clock.ts";

/** Time that passes only when the test says so. Timers fire in order, and what they start runs on before the next. */
export interface SettableClock extends Clock {
  /** Lets `ms` pass. Everything that could run has run when it resolves. */
  advance(ms: number): Promise<void>;
  /** Runs what can run without time passing. */
  settle(): Promise<void>;
  /** Timers that are set. */
  pending(): number;
}

interface Timer {
  readonly atMs: number;
  readonly run: () => void;
}

export function settableClock(): SettableClock {
  let nowMs = 0;
  const timers = new Set<Timer>();

  const after = (ms: number, run: () => void): (() => void) => {
    const timer = { atMs: nowMs + Math.max(0, ms), run };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  /** Promises settle among themselves before the event loop turns; ten turns are more than any chain here has I/O. */
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn += 1) await setImmediate();
  };
  const next = (untilMs: number): Timer | undefined =>
    [...timers].filter((timer) => timer.atMs <= untilMs).toSorted((a, b) => a.atMs - b.atMs)[0];

  return {
    ...clockOf({ after, elapsedMs: () => nowMs }),
    settle,
    pending: () => timers.size,
    async advance(ms) {
      const untilMs = nowMs + ms;
      await settle();
      for (let timer = next(untilMs); timer !== undefined; timer = next(untilMs)) {
        timers.delete(timer);
        nowMs = Math.max(nowMs, timer.atMs);
        timer.run();
        await settle();
      }
      nowMs = untilMs;
    },
  };
}
