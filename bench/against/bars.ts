import type { Sample } from "./messages.ts";

/** The cases that can run beside another commit: those that need nothing but Postgres. */
export const comparable = ["insert", "relay", "work", "throughput", "join", "fanout"];

/** At most this much of the other commit, by series. */
const bars: Readonly<Record<string, Partial<Readonly<Record<keyof Sample, number>>>>> = {
  insert: { cpuUs: 0.7, walBytes: 0.6 },
  work: { cpuUs: 1.1, walBytes: 0.6 },
  throughput: { cpuUs: 0.8, walBytes: 0.6 },
};

/** Nothing may take longer than this, whatever the series. */
const slowerMax = 1.05;

/** @returns null where nothing is asked. A rate counts as what it takes: the inverse of its ratio is bounded. */
export function barOf(series: string, quantity: keyof Sample): number | null {
  return quantity === "perSecond" ? slowerMax : (bars[series]?.[quantity] ?? null);
}
