/**
 * Time as a list of things to do. Nothing happens between two entries, so a run of hours takes milliseconds, and the
 * same calls in the same order always end the same way.
 */
import type { Clock } from "../../src/machine/ports.ts";

export interface VirtualTime {
  /** Milliseconds since the start. */
  readonly nowMs: number;
  /** Runs `run` once at `nowMs + ms`; entries of one instant run in the order they were made. */
  after(ms: number, run: () => void): () => void;
  /** Works through the entries up to `untilMs`, letting every promise settle between two of them. */
  runUntil(untilMs: number): Promise<void>;
  /** A clock on this time, for code that knows no processes. */
  readonly clock: Clock;
}

interface Entry {
  readonly atMs: number;
  readonly order: number;
  run: (() => void) | null;
}

/** @param settled resolves when no promise has anything left to do; left out, after one turn of the event loop. */
export function virtualTime(settled: () => Promise<void> = nextTurn): VirtualTime {
  const heap: Entry[] = [];
  let nowMs = 0;
  let order = 0;

  const after = (ms: number, run: () => void): (() => void) => {
    const entry: Entry = { atMs: nowMs + Math.max(0, Math.ceil(ms)), order: order++, run };
    push(heap, entry);
    return () => {
      entry.run = null;
    };
  };
  const runUntil = async (untilMs: number): Promise<void> => {
    await settled();
    for (let entry = heap[0]; entry !== undefined && entry.atMs <= untilMs; entry = heap[0]) {
      pop(heap);
      if (entry.run === null) continue;
      nowMs = entry.atMs;
      entry.run();
      await settled();
    }
    nowMs = Math.max(nowMs, untilMs);
  };
  return {
    get nowMs() {
      return nowMs;
    },
    after,
    runUntil,
    clock: clockOf({ after, elapsedMs: () => nowMs }),
  };
}

/** The `Clock` port on any source of timers. */
export function clockOf(timers: {
  after: (ms: number, run: () => void) => () => void;
  elapsedMs: () => number;
  /** Aborted when the code that sleeps is gone: it is never woken, and no signal holds on to it. */
  gone?: AbortSignal;
}): Clock {
  return {
    elapsedMs: timers.elapsedMs,
    after: timers.after,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const forget = (): void => {
          cancel();
          signal?.removeEventListener("abort", wake);
        };
        const wake = (): void => {
          forget();
          timers.gone?.removeEventListener("abort", forget);
          resolve();
        };
        const cancel = timers.after(ms, wake);
        if (signal === undefined) return;
        signal.addEventListener("abort", wake, { once: true });
        timers.gone?.addEventListener("abort", forget, { once: true });
      }),
  };
}

/** The turn of the real event loop ends when no promise has anything left to do. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const isBefore = (a: Entry, b: Entry): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

function push(heap: Entry[], entry: Entry): void {
  let at = heap.length;
  heap.push(entry);
  while (at > 0) {
    const up = (at - 1) >> 1;
    const parent = heap[up];
    if (parent === undefined || !isBefore(entry, parent)) break;
    heap[at] = parent;
    at = up;
  }
  heap[at] = entry;
}

/** Removes the first entry. */
function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    const left = heap[2 * at + 1];
    const right = heap[2 * at + 2];
    const isRight = left !== undefined && right !== undefined && isBefore(right, left);
    const child = isRight ? right : left;
    if (child === undefined || !isBefore(child, last)) break;
    heap[at] = child;
    at = 2 * at + (isRight ? 2 : 1);
  }
  heap[at] = last;
}
