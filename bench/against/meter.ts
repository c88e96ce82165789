/**
 * Stands in place of `bench/measure.ts` in a process that runs the cases of one commit: a stretch waits for its turn, and
 * its cost is counted. The cases of both commits call it as they call their own.
 */
import { once } from "node:events";
import pg from "pg";
import type { Figure } from "../measure.ts";
import { rounds } from "../rounds.ts";
import type { FromSide, Sample, Series } from "./messages.ts";

export { median, quantile, rounds } from "../rounds.ts";

/** What is counted, set once by the process. */
interface Counters {
  cpuUs(of: "stores" | "roof"): Promise<number>;
  walBytes(): Promise<number>;
}

interface Pair {
  readonly product: number;
  readonly roof: number;
}

const meter: { counters: Counters | null; withRoof: boolean; now: "product" | "roof" | null; samples: Sample[] } = {
  counters: null,
  withRoof: false,
  now: null,
  samples: [],
};
const seriesOf = new WeakMap<object, Omit<Series, "name">>();
const reported: Series[] = [];
let statements = 0;

/** @returns the series of all cases that run in this process, as they come. */
export function startMeter(counters: Counters, withRoof: boolean): readonly Series[] {
  meter.counters = counters;
  meter.withRoof = withRoof;
  countStatements();
  return reported;
}

function countStatements(): void {
  const prototype = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown };
  const { query } = prototype;
  prototype.query = function counted(...args: unknown[]): unknown {
    statements += 1;
    return query.apply(this, args);
  };
}

async function turn(waitsFor: "product" | "roof"): Promise<void> {
  const go = once(process, "message");
  process.send?.({ waitsFor } satisfies FromSide);
  await go;
}

async function samplesOf(what: "product" | "roof", work: () => Promise<number>): Promise<readonly Sample[]> {
  await turn(what);
  meter.now = what;
  meter.samples = [];
  await work();
  meter.now = null;
  return meter.samples;
}

/** The first round does not count, as in `bench/measure.ts`. */
export async function inTurns(measure: {
  readonly product: () => Promise<number>;
  readonly roof: () => Promise<number>;
}): Promise<readonly Pair[]> {
  const series = { product: [] as Sample[], roof: [] as Sample[] };
  for (let round = 0; round <= rounds; round += 1) {
    const product = await samplesOf("product", measure.product);
    const roof = meter.withRoof ? await samplesOf("roof", measure.roof) : [];
    if (round === 0) continue;
    series.product.push(...product);
    series.roof.push(...roof);
  }
  const pairs = series.product.map(({ perSecond: product }) => ({ product, roof: Number.NaN }));
  seriesOf.set(pairs, series);
  return pairs;
}

export function compared(name: string, unit: string, pairs: readonly Pair[]): Figure {
  const series = seriesOf.get(pairs);
  if (series !== undefined) reported.push({ name, ...series });
  return { ...unjudged, name, unit };
}

export function measured(name: string, unit: string): Figure {
  return { ...unjudged, name, unit };
}

const unjudged = { value: 0, min: 0, max: 0, roof: null, ratio: null, bar: "-", pass: true };

/** As in `bench/measure.ts`; outside of `inTurns` a stretch of its own, which no series keeps. */
export async function perSecond(things: number, work: () => Promise<void>): Promise<number> {
  const { counters, now } = meter;
  if (counters === null || now === null) {
    const startedMs = performance.now();
    await work();
    return (things * 1_000) / (performance.now() - startedMs);
  }
  const of = now === "product" ? "stores" : "roof";
  const before = { cpuUs: await counters.cpuUs(of), walBytes: await counters.walBytes(), statements };
  const startedMs = performance.now();
  await work();
  const rate = (things * 1_000) / (performance.now() - startedMs);
  const sent = statements - before.statements;
  meter.samples.push({
    perSecond: rate,
    cpuUs: ((await counters.cpuUs(of)) - before.cpuUs) / things,
    walBytes: ((await counters.walBytes()) - before.walBytes) / things,
    statements: sent / things,
  });
  return rate;
}
