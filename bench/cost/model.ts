import { assumed, jobUses, loads } from "../../scripts/costs/jobs.ts";
import { usdOf } from "../../scripts/costs/prices.ts";
import type { Cost } from "./cost.ts";

/** What so many jobs a day ask of one stage. All but the bill is at the peak. */
export interface Asked {
  readonly jobsADay: number;
  readonly peakPerSecond: number;
  readonly postgresCores: number;
  readonly walMbPerSecond: number;
  /** Sandboxes with handlers of 50 ms, and of 2 s; each holds `connectionsASandbox`. */
  readonly sandboxes: { readonly short: number; readonly long: number };
  readonly connections: { readonly short: number; readonly long: number };
  /** Rows of the default retention. */
  readonly keptGb: number;
  /** What jobs add to the bill: queues, functions, logs. */
  readonly usdAMonth: number;
}

/** The busiest second against the mean of the day. */
export const peakFactor = 5;
export const batch = 10;
const retentionDays = 30;
const daysAMonth = 365 / 12;
const connectionsASandbox = 2;
/** Of the worker, as `belfry.config.ts` gives it to a lane that says nothing. */
const memoryMb = 512;
const longHandlerMs = 2_000;
const shortHandlerMs = 50;

/**
 * Jobs a second that cells on one machine do together: each is bound by its one thread of Node, all by the cores that they
 * share. On machines of their own it is so many times one cell.
 */
export const cellsPerSecond = (
  { postgresUs, nodeUs }: Pick<Cost, "postgresUs" | "nodeUs">,
  { cells, cores }: { readonly cells: number; readonly cores: number },
): number => Math.min((cells * 1e6) / nodeUs, (cores * 1e6) / (postgresUs + nodeUs));

/** @param cost of a job in batches of ten */
export function asked(cost: Pick<Cost, "postgresUs" | "walBytes" | "keptBytes">, jobsADay: number): Asked {
  const peakPerSecond = (jobsADay / 86_400) * peakFactor;
  const around = assumed.invocationMs - shortHandlerMs;
  const sandboxes = (handlerMs: number): number => Math.ceil((peakPerSecond / batch) * ((handlerMs + around) / 1_000));
  const [short, long] = [sandboxes(shortHandlerMs), sandboxes(longHandlerMs)];
  const tenABatch = loads.find((load) => load.jobsABatch === batch);
  if (tenABatch === undefined) throw new Error(`scripts/costs/jobs.ts has no load with ${batch} jobs a batch`);
  const usdAMillion = usdOf(jobUses(tenABatch, memoryMb, true));
  return {
    jobsADay,
    peakPerSecond,
    postgresCores: (peakPerSecond * cost.postgresUs) / 1e6,
    walMbPerSecond: (peakPerSecond * cost.walBytes) / 1e6,
    sandboxes: { short, long },
    connections: { short: short * connectionsASandbox, long: long * connectionsASandbox },
    keptGb: (jobsADay * retentionDays * cost.keptBytes) / 1e9,
    usdAMonth: (usdAMillion * jobsADay * daysAMonth) / 1e6,
  };
}
