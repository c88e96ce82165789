import { iso } from "../../machine/units.ts";
import { z } from "zod";
import { take, timetable } from "../../calendar/timetable.ts";
import { insightLimits } from "../../insight/insight-limits.ts";
import type { ScheduleRow } from "../../machine/schedule.ts";
import { endpoint } from "../endpoint.ts";
import type { Bounds } from "../scope.ts";
import type { ApiOptions } from "../options.ts";
import { nameText } from "../query-fields.ts";
import { cappedOf, type Coming, loadOf, overlappingOf, type Span, typicalRunMs } from "../expected-load.ts";
import { readLatestOccurrences } from "../../insight/occurrence-ends.ts";
import { type DueGroup, readDueSoon } from "../../insight/due-soon.ts";
import { readComing } from "../../insight/schedules.ts";
import type { Database } from "../../insight/sql-query.ts";
import { upcoming, type UpcomingReply } from "../shape/upcoming.ts";
import { readSlots } from "../../insight/slots.ts";
import { pauseAt } from "../../machine/pause.ts";

const upcomingQuery = z.strictObject({
  hours: z
    .string()
    .regex(/^([1-9]|1\d|2[0-4])$/, "must be a whole number from 1 to 24")
    .transform(Number)
    .default(1),
  app: nameText().optional(),
  lane: nameText().optional(),
});

const partsShown = 60;
const { upcomingSchedulesMax, upcomingTimesMax, upcomingTimesEach, upcomingTimesShown } = insightLimits;

export const upcomingEndpoint = (options: ApiOptions) =>
  endpoint("GET /upcoming", {
    name: "listUpcoming",
    summary: "What all schedules will start within the next hours, the soonest first",
    description:
      "What all schedules will start, with what is paused, may overlap or may find its cap full; and the expected work of each lane beside its capacity, by the p50 of each kind in the last week. Jobs whose message has left count too, up to the 1,000 of each lane that left last.",
    example: { query: { hours: "1" } },
    scope: "list",
    query: upcomingQuery,
    replies: { 200: upcoming },
    reply: ({ query, within }) => comingUp(options, query, within),
  });

async function comingUp(
  options: ApiOptions,
  { hours, app, lane }: z.infer<typeof upcomingQuery>,
  within: Bounds,
): Promise<UpcomingReply> {
  const { insight, ports, lanes, registry } = options;
  const from = await ports.store.now();
  const to = from + hours * 3_600_000;
  const coming = await insight.run(readComing, {
    search: { app, lane, ...within.search },
    limit: upcomingSchedulesMax + 1,
  });
  const asked = coming.slice(0, upcomingSchedulesMax);
  const each = Math.max(upcomingTimesEach, Math.floor(upcomingTimesMax / Math.max(1, asked.length)));
  const found = asked.map((row) => timesOf(row, { from, to }, each));
  const times = found.flatMap((each) => each.times).toSorted((a, b) => a.at - b.at);
  const shown = times.slice(0, upcomingTimesShown);
  const kinds =
    app === undefined ? undefined : registry.apps.find(({ name }) => name === app)?.jobs.map(({ id }) => id);
  const [open, typical, caps, dueSoon] = await Promise.all([
    openSchedules(insight, [...new Set(shown.map(({ row }) => row.id))]),
    typicalRunMs(options, from),
    insight.run(readSlots, "cap:"),
    insight.run(readDueSoon, {
      to,
      parts: partsShown,
      windowMs: ports.store.dispatchWindowMs,
      lane,
      kinds: (kinds ?? within.search.kinds)?.filter((kind) => within.hasKind(kind)),
    }),
  ]);
  const due = dueSoon.flatMap(({ of }) => of ?? []);
  // What a pause skips works nothing.
  const working = times.filter(({ at, row }) => pauseAt(row, at) === null);
  const sizes = new Map(caps.map(({ key, size }) => [key, size]));
  const risks = {
    open,
    overlapping: overlappingOf(working, typical),
    capped: cappedOf(working, typical, { registry, sizes }),
  };
  const parts = Array.from({ length: partsShown }, () => 0);
  for (const { at } of times) {
    const part = Math.min(partsShown - 1, Math.floor(((at - from) / (to - from)) * partsShown));
    parts[part] = (parts[part] ?? 0) + 1;
  }
  for (const { part, jobs } of due) parts[part] = (parts[part] ?? 0) + jobs;
  return {
    from: iso(from),
    to: iso(to),
    times: shown.map((each) => comingJson(each, risks)),
    jobs: dueJson(due),
    parts,
    lanes: loadOf({ times: working, due }, typical, { lanes, span: { from, to }, parts: partsShown }),
    apps: registry.apps
      .filter(({ jobs }) => within.isWhole || jobs.some(({ id }) => within.hasKind(id)))
      .map(({ name }) => name)
      .toSorted(),
    isMore: coming.length > asked.length || found.some(({ isMore }) => isMore) || dueSoon.some(({ isCut }) => isCut),
  };
}

/** One row for each schedule, kind and lane, the soonest first. */
function dueJson(due: readonly DueGroup[]): UpcomingReply["jobs"] {
  const groups = Map.groupBy(due, ({ schedule, kind, lane }) => JSON.stringify([schedule, kind, lane]));
  return [...groups.values()].flatMap((parts) => {
    const [first, last] = [parts[0], parts.at(-1)];
    if (first === undefined || last === undefined) return [];
    const { schedule, kind, lane, firstAt } = first;
    const jobs = parts.reduce((sum, each) => sum + each.jobs, 0);
    return [{ schedule, kind, lane, jobs, firstAt, lastAt: last.lastAt }];
  });
}

function timesOf(row: ScheduleRow, { from, to }: Span, max: number): { times: readonly Coming[]; isMore: boolean } {
  const offsetMs = row.spec.spread?.offsetMs ?? 0;
  const seen = take(timetable(row.spec).times(from - offsetMs, to - offsetMs), max + 1);
  const times = seen
    .slice(0, max)
    .flatMap(({ instant, kind }) => (kind === "fires" ? [{ at: instant + offsetMs, nominalAt: instant, row }] : []));
  return { times, isMore: seen.length > max };
}

/** Those whose newest job or run has not ended. */
async function openSchedules(insight: Database, schedules: readonly string[]): Promise<ReadonlySet<string>> {
  const last = await insight.run(readLatestOccurrences, { schedules, each: 1 });
  return new Set(last.flatMap(({ schedule, end }) => (end?.result === "open" ? [schedule] : [])));
}

interface Risks {
  /** Schedules whose last job or run has not ended. */
  readonly open: ReadonlySet<string>;
  readonly overlapping: ReadonlySet<Coming>;
  readonly capped: ReadonlySet<Coming>;
}

function comingJson(each: Coming, { open, overlapping, capped }: Risks): UpcomingReply["times"][number] {
  const { at, nominalAt, row } = each;
  const { id, spec } = row;
  return {
    at: iso(at),
    nominalAt: iso(nominalAt),
    schedule: id,
    app: spec.app,
    kind: spec.job.kind,
    lane: spec.job.lane,
    timezone: spec.timezone,
    paused: pauseAt(row, at) !== null,
    mayOverlap: spec.overlap !== "allow" && (open.has(id) || overlapping.has(each)),
    capped: capped.has(each),
  };
}
