import type { Instant } from "../job/job.ts";

/** Upper bounds in seconds, each sqrt(2) times the one before: from a millisecond to twelve days. */
export const hourBuckets: readonly number[] = Array.from({ length: 61 }, (_, index) => 2 ** (index / 2) / 1_000);

/** From the first hour on, up to but without the one that begins at `to`. */
export interface Period {
  readonly from: Instant;
  readonly to: Instant;
}

/** How many attempts of a kind took as long as one bucket says, in one of two periods. */
export interface KindHours {
  readonly kind: string;
  readonly lane: string;
  readonly isBefore: boolean;
  /** How many of `hourBuckets` the duration reaches. */
  readonly bucket: number;
  /** Attempts that started, by how long their job had been due. */
  readonly waited: number;
  /** Attempts that ended, by how long they ran. */
  readonly ran: number;
  readonly failed: number;
}

export interface KindFigures {
  /** Histograms of two periods, by kind and lane. */
  kindHours(options: {
    readonly now: Period;
    readonly before: Period;
    readonly kind: string | null;
    readonly lane: string | null;
  }): Promise<readonly KindHours[]>;
}

/** Durations in milliseconds that this share of the attempts stays below. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** Null when nothing was counted. Exact to a bucket, in which durations count as evenly spread. */
export function percentilesOf(buckets: ReadonlyMap<number, number>): Percentiles | null {
  const counts = [...buckets].toSorted(([a], [b]) => a - b);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return null;
  const at = (share: number): number => durationAt(counts, total * share);
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

function durationAt(counts: readonly (readonly [number, number])[], rank: number): number {
  let below = 0;
  for (const [bucket, count] of counts) {
    if (below + count >= rank) {
      const low = hourBuckets[bucket - 1] ?? 0;
      const high = hourBuckets[bucket] ?? low;
      return Math.round((low + ((high - low) * (rank - below)) / count) * 1_000);
    }
    below += count;
  }
  throw new RangeError(`rank is ${rank}; it must be at most ${below}, the count of all`);
}
