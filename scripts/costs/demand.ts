import { jobUses, loads } from "./jobs.ts";
import { assumptions, usdOf } from "../../src/insight/prices.ts";

/** What one job of a batch of ten costs, as `bench -- cost` measures it. */
export interface JobCost {
  readonly postgresUs: number;
  readonly walBytes: number;
  /** The same with a key, behind a checkpoint: its page of the keys' index is written whole. */
  readonly keyedWalBytes: number;
  /** Of tables and indexes, once it has ended. */
  readonly keptBytes: number;
}

/** What so many jobs a day ask of one stage. All but the bill is at the peak. */
export interface Demand {
  readonly jobsADay: number;
  readonly peakPerSecond: number;
  readonly postgresCores: number;
  /** Of the one task that relays under the one lock. */
  readonly schedulerCores: number;
  readonly walMbPerSecond: number;
  readonly keyedWalMbPerSecond: number;
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
export const longHandlerMs = 2_000;
export const shortHandlerMs = assumptions.handlerMs;
/** Sends a second of one core, as docs/scale.md says; no test holds it. */
const sendsACore = 12_000;

/** Handlers of a batch run side by side; claim and settle are around them. */
export const secondsOfBatch = (handlerMs: number): number =>
  (handlerMs + assumptions.invocationMs - shortHandlerMs) / 1_000;

export function demandOf(cost: JobCost, jobsADay: number): Demand {
  const peakPerSecond = (jobsADay / 86_400) * peakFactor;
  const sandboxes = (handlerMs: number): number => Math.ceil((peakPerSecond / batch) * secondsOfBatch(handlerMs));
  const [short, long] = [sandboxes(shortHandlerMs), sandboxes(longHandlerMs)];
  const tenABatch = loads.find((load) => load.jobsABatch === batch);
  if (tenABatch === undefined) throw new Error(`scripts/costs/jobs.ts has no load with ${batch} jobs a batch`);
  const usdAMillion = usdOf(jobUses(tenABatch, memoryMb, true));
  return {
    jobsADay,
    peakPerSecond,
    postgresCores: (peakPerSecond * cost.postgresUs) / 1e6,
    schedulerCores: peakPerSecond / sendsACore,
    walMbPerSecond: (peakPerSecond * cost.walBytes) / 1e6,
    keyedWalMbPerSecond: (peakPerSecond * cost.keyedWalBytes) / 1e6,
    sandboxes: { short, long },
    connections: { short: short * connectionsASandbox, long: long * connectionsASandbox },
    keptGb: (jobsADay * retentionDays * cost.keptBytes) / 1e9,
    usdAMonth: (usdAMillion * jobsADay * daysAMonth) / 1e6,
  };
}
