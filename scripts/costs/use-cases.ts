import { streamLimits } from "../../src/core/ports/stream-limits.ts";
import type { Topology } from "../../src/topology.ts";
import { jobUses, metricUses } from "./jobs.ts";
import { hoursAMonth, type Use, usdOf } from "./prices.ts";
import { billedSeconds, taskHours } from "./resources.ts";

const minutesAMonth = hoursAMonth * 60;
const secondsAMonth = hoursAMonth * 3_600;
const million = 1_000_000;
/** Of the API's function. */
const apiMemoryMb = 512;
/** A guess for one look at the events, which reads one index. */
const lookMs = 50;

const use = (of: Use["of"], amount: number, what: string): Use => ({ of, amount, what });

/** What comes on top of an idle stage. */
export function useCases(topology: Topology, hasGateway: boolean): readonly (readonly [what: string, usd: number])[] {
  const memoryMb = Math.max(...topology.lanes.map((lane) => lane.memoryMb));
  const share = minutesAMonth / million;
  const jobs = jobUses({ name: "one at a time", jobsABatch: 1 }, memoryMb, hasGateway).map((each) => ({
    ...each,
    amount: each.amount * share,
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

/** Ways to make a pass each minute, without what all of them need alike. */
export function wakers({ schedulerTask: size }: Topology): readonly (readonly [what: string, usd: number])[] {
  const tasks = (minutesAMonth * billedSeconds) / 3_600;
  const address = (hours: number): Use => use("public IPv4 address", hours, "address");
  const passSeconds = 2;
  return [
    ["a task each minute (as built), on demand", usdOf([...taskHours(tasks, size, false), address(tasks)])],
    ["a task each minute (as built), on spare capacity", usdOf([...taskHours(tasks, size, true), address(tasks)])],
    ["a service of one task, on demand", usdOf([...taskHours(hoursAMonth, size, false), address(hoursAMonth)])],
    ["a service of one task, on spare capacity", usdOf([...taskHours(hoursAMonth, size, true), address(hoursAMonth)])],
    [
      `a function of ${size.memoryMb} MB each minute, for ${passSeconds} s`,
      usdOf([
        use("Lambda ARM, duration", (minutesAMonth * passSeconds * size.memoryMb) / 1_024, "pass"),
        use("Lambda, requests", minutesAMonth / million, "pass"),
      ]),
    ],
  ];
}
