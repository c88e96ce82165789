/** When more jobs are due than a lane can run at once, if each takes its usual time and the earliest due starts first. */
import { placeBehind } from "../calendar/days.ts";
import type { Instant } from "../machine/job.ts";

/** From the first job that waits for a place to the start of the last one. */
export interface PileUp {
  readonly from: Instant;
  readonly drainsAt: Instant;
  /** How many wait at once, at the most: what is over the lane's capacity. */
  readonly over: number;
  readonly overAt: Instant;
  readonly longestWaitMs: number;
}

export interface DueWork {
  readonly dueAt: Instant;
  readonly runMs: number;
}

/** When each starts and ends: `work` is in the order in which it is due. */
function* startsOf(work: readonly DueWork[], capacity: number) {
  /** When each place is free again, the earliest first. */
  const freeAt: Instant[] = [];
  for (const { dueAt, runMs } of work) {
    const free = freeAt.length < capacity ? dueAt : (freeAt.shift() ?? dueAt);
    const start = Math.max(dueAt, free);
    const end = start + runMs;
    freeAt.splice(
      placeBehind(freeAt, (at) => at, end),
      0,
      end,
    );
    yield { dueAt, start, end };
  }
}

/** `work` in the order in which it is due. */
export function pileUpsOf(work: readonly DueWork[], capacity: number): readonly PileUp[] {
  const found: PileUp[] = [];
  /** Of those that waited, in order; those before `begun` have started. */
  let starts: Instant[] = [];
  let begun = 0;
  for (const { dueAt, start } of startsOf(work, capacity)) {
    if (start === dueAt) continue;
    let open = found.at(-1);
    if (open === undefined || open.drainsAt < dueAt) {
      [starts, begun] = [[], 0];
      open = { from: dueAt, drainsAt: start, over: 0, overAt: dueAt, longestWaitMs: 0 };
      found.push(open);
    }
    starts.push(start);
    while ((starts[begun] ?? start) <= dueAt) begun += 1;
    const over = starts.length - begun;
    found[found.length - 1] = {
      ...open,
      drainsAt: start,
      ...(over > open.over ? { over, overAt: dueAt } : {}),
      longestWaitMs: Math.max(open.longestWaitMs, start - dueAt),
    };
  }
  return found;
}

/**
 * How many at once run or wait for a place, at the most, in each of `parts` equal parts of a span. `work` as above; all
 * start when they are due where no capacity is known.
 */
export function peaksOf(
  work: readonly DueWork[],
  capacity: number | null,
  { from, to, parts }: { readonly from: Instant; readonly to: Instant; readonly parts: number },
): readonly number[] {
  const peaks = Array.from({ length: parts }, () => 0);
  const partMs = (to - from) / parts;
  const stays =
    capacity === null ? work.map(({ dueAt, runMs }) => ({ dueAt, end: dueAt + runMs })) : [...startsOf(work, capacity)];
  const edges = stays
    .flatMap(({ dueAt, end }) => [[dueAt, 1] as const, [end, -1] as const])
    .toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
  let open = 0;
  for (const [n, [at, change]] of edges.entries()) {
    open += change;
    const until = edges[n + 1]?.[0] ?? at;
    for (
      let part = Math.min(parts - 1, Math.floor((at - from) / partMs));
      part < parts && from + part * partMs < until;
      part += 1
    ) {
      peaks[part] = Math.max(peaks[part] ?? 0, open);
    }
  }
  return peaks;
}
