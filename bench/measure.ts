import { median, rounds } from "./rounds.ts";

export { median, quantile, rounds } from "./rounds.ts";

/** One figure of a benchmark, as the table and the JSON show it. */
export interface Figure {
  readonly name: string;
  /** The median of the rounds. */
  readonly value: number;
  readonly unit: string;
  readonly min: number;
  readonly max: number;
  /** What the machine gave in the same rounds without Belfry; null where there is nothing to compare with. */
  readonly roof: number | null;
  /** The median of the rounds' own ratios: a machine that slows down between rounds does not change it. */
  readonly ratio: number | null;
  readonly bar: string;
  readonly pass: boolean;
}

/** What a figure must reach. `info` is shown and never fails. */
export type Bar =
  | { readonly ratioMin: number }
  | { readonly ratioMax: number }
  | { readonly valueMax: number }
  | { readonly valueMin: number }
  | { readonly info: true };

interface Pair {
  readonly product: number;
  readonly roof: number;
}

/**
 * Product and roof in turns, each first in every other round, so that neither always runs on the warmer machine.
 * One round of each that does not count comes before.
 */
export async function inTurns(measure: {
  readonly product: () => Promise<number>;
  readonly roof: () => Promise<number>;
}): Promise<readonly Pair[]> {
  const pairs: Pair[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const isProductFirst = round % 2 === 0;
    const early = isProductFirst ? await measure.product() : await measure.roof();
    const late = isProductFirst ? await measure.roof() : await measure.product();
    if (round > 0) pairs.push(isProductFirst ? { product: early, roof: late } : { product: late, roof: early });
  }
  return pairs;
}

export function compared(name: string, unit: string, pairs: readonly Pair[], bar: Bar): Figure {
  const products = pairs.map((pair) => pair.product);
  const ratio = median(pairs.map((pair) => pair.product / pair.roof));
  const roof = median(pairs.map((pair) => pair.roof));
  return { ...spread(products), name, unit, roof, ratio, ...judged(median(products), ratio, bar) };
}

/** A figure without a roof. */
export function measured(name: string, unit: string, values: readonly number[], bar: Bar): Figure {
  return { ...spread(values), name, unit, roof: null, ratio: null, ...judged(median(values), null, bar) };
}

const spread = (values: readonly number[]) => ({
  value: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
});

function judged(value: number, ratio: number | null, bar: Bar): { bar: string; pass: boolean } {
  if ("ratioMin" in bar) return { bar: `>= ${bar.ratioMin} x`, pass: ratio !== null && ratio >= bar.ratioMin };
  if ("ratioMax" in bar) return { bar: `<= ${bar.ratioMax} x`, pass: ratio !== null && ratio <= bar.ratioMax };
  if ("valueMin" in bar) return { bar: `>= ${bar.valueMin}`, pass: value >= bar.valueMin };
  if ("valueMax" in bar) return { bar: `<= ${bar.valueMax}`, pass: value <= bar.valueMax };
  return { bar: "-", pass: true };
}

/** Things a second that `work` gets done. */
export async function perSecond(things: number, work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return (things * 1_000) / (performance.now() - startedMs);
}
