import type { Entry } from "../../examples/fake/ledger.ts";

/** A ledger, added up: how often each key got each outcome. */
export interface Tally {
  count(key: string, outcome: Entry["outcome"]): number;
  /** All keys with this outcome, each once, in the order they first got it. */
  keys(outcome: Entry["outcome"]): readonly string[];
  /** Lines that only repeat an outcome which ends a key's tries. */
  readonly repeats: number;
  /** Whether every key was tried once before any was tried a second time. */
  readonly isFair: boolean;
}

const tries = new Set<Entry["outcome"]>(["accepted", "refused", "cut off"]);

export function tally(entries: readonly Entry[]): Tally {
  const counts = new Map<string, Map<string, number>>();
  let isFair = true;
  let isSecondRound = false;
  let repeats = 0;
  const triesOf = new Map<string, number>();
  for (const { key, outcome } of entries) {
    const ofOutcome = counts.get(outcome) ?? new Map<string, number>();
    counts.set(outcome, ofOutcome);
    const before = ofOutcome.get(key) ?? 0;
    ofOutcome.set(key, before + 1);
    if (outcome === "accepted" && before > 0) repeats += 1;
    if (!tries.has(outcome)) continue;
    const tried = triesOf.get(key) ?? 0;
    triesOf.set(key, tried + 1);
    if (tried > 0) isSecondRound = true;
    else if (isSecondRound) isFair = false;
  }
  return {
    count: (key, outcome) => counts.get(outcome)?.get(key) ?? 0,
    keys: (outcome) => [...(counts.get(outcome)?.keys() ?? [])],
    repeats,
    isFair,
  };
}
