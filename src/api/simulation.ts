import { z } from "zod";
import { minuteText } from "../calendar/cron.ts";
import { openZone } from "../calendar/zone.ts";
import { insightLimits } from "../insight/insight-limits.ts";
import type { Instant } from "../machine/job.ts";
import type { ScheduleSpec } from "../machine/schedule.ts";
import { dayMs, iso, minuteMs } from "../machine/units.ts";
import { type PileUp, pileUpsOf } from "../schedule/pile-ups.ts";
import { simulate, type SimulatedTime } from "../schedule/simulate.ts";
import type { LaneLimits } from "./options.ts";
import { HttpProblem } from "./problem.ts";
import { commaTextsOf, durationUpTo, instant, whole } from "./query-fields.ts";
import type { SimulationReply } from "./shape/simulation.ts";

const { simulatedDaysMax, simulatedTimesMax: timesMax, simulatedShownMax: shownMax } = insightLimits;

const aboutAgainst = "Capacities by lane, like `mail=20`: jobs at once; default: those of this release.";
const capacityPattern = "^[^=,]+=[1-9][0-9]{0,5}$";

export const simulationQuery = z.strictObject({
  from: instant.optional().describe("What is due after this; default: now."),
  days: whole(simulatedDaysMax, 7, "How many."),
  against: commaTextsOf(shownMax, aboutAgainst, capacityPattern)
    .pipe(z.array(z.string().regex(new RegExp(capacityPattern), "must be LANE=CAPACITY, like mail=20")))
    .optional(),
  percentile: z.enum(["p50", "p95"]).default("p50").describe("How long a job of a kind runs, of its last week."),
  unmeasured: durationUpTo(dayMs, "How long a job of a kind runs that has not run for a week.").default(1_000),
});

interface Basis {
  readonly specs: readonly ScheduleSpec[];
  readonly lanes: readonly Pick<LaneLimits, "name" | "concurrency" | "batchSize">[];
  /** Measured, by kind. */
  readonly runMs: ReadonlyMap<string, number>;
  readonly now: Instant;
}

/** @throws HttpProblem 400 for a lane that is none or is named twice, and for more times than are looked at. */
export function simulationOf(
  { specs, lanes, runMs, now }: Basis,
  query: z.infer<typeof simulationQuery>,
): SimulationReply {
  const { from = now, days, against = [], percentile, unmeasured } = query;
  const capacities = new Map(lanes.map(({ name, concurrency, batchSize }) => [name, concurrency * batchSize]));
  const known = [...new Set([...capacities.keys(), ...specs.map(({ job }) => job.lane)])];
  const named = new Set<string>();
  for (const [lane = "", capacity] of against.map((each) => each.split("="))) {
    if (!known.includes(lane)) throw refused("against", `names the lane "${lane}": there are ${known.join(", ")}`);
    if (named.has(lane)) throw refused("against", `names the lane "${lane}" twice: leave one out`);
    named.add(lane);
    capacities.set(lane, Number(capacity));
  }
  const to = from + days * dayMs;
  const times = allTimes(specs, { from, to, timesMax, runMs: (kind) => runMs.get(kind) ?? unmeasured });
  const runs = times.flatMap(({ dueAt, spec }) =>
    dueAt === null ? [] : [{ dueAt, spec, runMs: runMs.get(spec.job.kind) ?? unmeasured }],
  );
  const notRun = times.flatMap(({ outcome, reason, ...at }) =>
    outcome === "PLANNED" ? [] : [{ ...placeOf(at), outcome, reason, calendar: at.time.calendar ?? null }],
  );
  const moved = times.flatMap(({ outcome, ...at }) => {
    const { calendar } = at.time;
    return calendar === undefined || outcome !== "PLANNED" ? [] : [{ ...placeOf(at), calendar }];
  });
  return {
    from: iso(from),
    to: iso(to),
    times: runs.length,
    percentile,
    unmeasured: {
      kinds: [...new Set(runs.map(({ spec }) => spec.job.kind))].filter((kind) => !runMs.has(kind)).toSorted(),
      countAsMs: unmeasured,
    },
    minutes: busiest(runs),
    lanes: [...Map.groupBy(runs.filter(hasWorkers), ({ spec }) => spec.job.lane)]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([lane, work]) => {
        const capacity = capacities.get(lane) ?? null;
        const pileUps = capacity === null ? [] : pileUpsOf(work, capacity);
        return {
          lane,
          times: work.length,
          workMs: work.reduce((sum, each) => sum + each.runMs, 0),
          capacity,
          pileUps: pileUps.slice(0, shownMax).map(pileUpJson),
          isMore: pileUps.length > shownMax,
        };
      }),
    clockChanges: clockChanges([...new Set(specs.map(({ timezone }) => timezone))], { from, to }),
    notRun: notRun.slice(0, shownMax),
    moved: moved.slice(0, shownMax),
    isMore: notRun.length > shownMax || moved.length > shownMax,
  };
}

export const pileUpJson = ({ from, drainsAt, overAt, ...pileUp }: PileUp) => {
  return { ...pileUp, from: iso(from), drainsAt: iso(drainsAt), overAt: iso(overAt) };
};

function allTimes(...of: Parameters<typeof simulate>): readonly SimulatedTime[] {
  try {
    return simulate(...of);
  } catch (error) {
    throw error instanceof RangeError ? refused("days", error.message) : error;
  }
}

const refused = (path: string, message: string): HttpProblem =>
  new HttpProblem("not-simulated", `?${path} ${message}`, { issues: [{ path: `?${path}`, message }] });

export const isRefused = (error: unknown): error is HttpProblem => error instanceof HttpProblem;

/** A schedule with its own rule has a task, and no place of the lane. */
const hasWorkers = ({ spec }: { readonly spec: ScheduleSpec }): boolean => spec.launch === "tick";

const placeOf = ({ spec, time }: Pick<SimulatedTime, "spec" | "time">) => ({
  schedule: spec.id,
  localTime: time.localTime,
  nominalAt: iso(time.instant),
});

const busiest = (runs: readonly { readonly dueAt: Instant }[]): SimulationReply["minutes"] =>
  [...Map.groupBy(runs, ({ dueAt }) => Math.floor(dueAt / minuteMs))]
    .map(([minute, own]) => ({ at: iso(minute * minuteMs), times: own.length }))
    .toSorted((a, b) => b.times - a.times || (a.at < b.at ? -1 : 1))
    .slice(0, shownMax);

const clockChanges = (zones: readonly string[], { from, to }: { readonly from: Instant; readonly to: Instant }) =>
  zones.flatMap((timezone) =>
    openZone(timezone)
      .transitions(from, to)
      .map(({ at, before, after }) => {
        return { timezone, at: iso(at), from: minuteText(at + before), to: minuteText(at + after) };
      }),
  );
