import type { Random } from "../../src/machine/ports.ts";

/** Chance that a seed replays. */
export interface SeededRandom extends Random {
  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number;
  /** True once in `1 / probability` times on average. */
  chance(probability: number): boolean;
  pick<T>(list: readonly [T, ...T[]]): T;
  /** The list in another order. */
  shuffled<T>(list: readonly T[]): T[];
  /** A generator of its own, so that more draws in one place change nothing in another. */
  fork(label: string): SeededRandom;
}

/** Small and fast (the idea of mulberry32); good enough to choose faults, not to keep secrets. */
export function seededRandom(seed: number | string): SeededRandom {
  let state = typeof seed === "number" ? seed >>> 0 : hash(seed);
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const word = (): string =>
    Math.floor(next() * 4_294_967_296)
      .toString(16)
      .padStart(8, "0");
  const between = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    id: () => word() + word() + word() + word(),
    between,
    chance: (probability) => next() < probability,
    pick: (list) => list[between(0, list.length - 1)] ?? list[0],
    shuffled: (list) =>
      list
        .map((item) => ({ item, at: next() }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ item }) => item),
    fork: (label) => seededRandom(`${seed}/${label}`),
  };
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}
