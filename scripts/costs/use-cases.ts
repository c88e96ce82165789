import { streamLimits } from "../../src/insight/stream-limits.ts";
import type { Topology } from "../../src/stage/topology.ts";
import { jobUses, metricUses } from "./jobs.ts";
import { hoursAMonth, million, use, type Use, usdOf } from "../../src/insight/prices.ts";

const minutesAMonth = hoursAMonth * 60;
const secondsAMonth = hoursAMonth * 3_600;
/** Of the API's function. */
const apiMemoryMb = 512;
/** A guess for one look at the events, which reads one index. */
const lookMs = 50;

/** What comes on top of an idle stage. */
export function useCases(topology: Topology, hasGateway: boolean): readonly (readonly [what: string, usd: number])[] {
  const memoryMb = Math.max(...topology.lanes.map((lane) => lane.memoryMb));
  const jobs = jobUses({ name: "one at a time", jobsABatch: 1 }, memoryMb, hasGateway).map((each) => ({
    ...each,
    amount: (each.amount * minutesAMonth) / million,
  }));
  return [
    ["one job a minute, with the metrics of jobs", usdOf([...jobs, metricUses(topology, "busy")])],
    ["one console tab, open day and night", usdOf(tabUses(secondsAMonth))],
    ["one console tab, open in working hours (176 a month)", usdOf(tabUses(176 * 3_600))],
  ];
}

/** The page asks for events again and again; a stream that stays open would be billed for all of the time. */
function tabUses(seconds: number): readonly Use[] {
  const looks = (seconds * 1_000) / streamLimits.streamPollMs;
  return [
    use("Lambda ARM, duration", (looks * lookMs * apiMemoryMb) / 1_000 / 1_024, "looks at the events"),
    use("Lambda, requests", looks / million, "looks at the events"),
  ];
}
