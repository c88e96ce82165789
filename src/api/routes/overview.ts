import { hourMs, iso } from "../../machine/units.ts";
import { z } from "zod";
import { insightLimits } from "../../insight/insight-limits.ts";
import type { JobSearch } from "../../insight/search.ts";
import { schedulerLock } from "../../schedule/pass.ts";
import { endpoint } from "../endpoint.ts";
import type { Bounds } from "../scope.ts";
import type { ApiOptions } from "../options.ts";
import { instant, maybeWhole, nameText, whole } from "../query-fields.ts";
import { summary, type SummaryReply } from "../shape/overview.ts";
import { countMatching, findJobs } from "../../insight/find-jobs.ts";
import { readLanes } from "../../insight/lanes.ts";
import { depthOf, type LivePart, readLive } from "../../insight/live.ts";
import { readLastHour, readMinutes, throughput } from "../../insight/minutes.ts";
import { readObjectives } from "../../insight/objectives.ts";
import { searchSchedules } from "../../insight/schedules.ts";
import { oneRow } from "../../insight/sql-query.ts";
import { readPassed } from "../../insight/locks.ts";
import { readWorkers } from "../../insight/workers.ts";
import { kindFigureList, kindFigures, type Period, readKindHours } from "../../insight/kind-figures.ts";

const summaryQuery = z.strictObject({
  minutes: maybeWhole(
    insightLimits.minutesShownMax,
    "With these last minutes one by one, and with the schedules that fail or are late: both cost more.",
  ),
});

const throughputQuery = z.strictObject({
  minutes: whole(insightLimits.minutesShownMax, 60, "How far back."),
  kind: nameText().optional(),
  lane: nameText().optional(),
});

export function overviewEndpoints(options: ApiOptions) {
  return [
    endpoint("GET /summary", {
      name: "getSummary",
      summary: "How it stands: what is live, what waits for a person, what the last hour brought",
      description:
        "What is live, what waits for a person, and what the last hour brought. A caller with a scope sees its lanes and its kinds.",
      example: { query: { minutes: "60" } },
      scope: "list",
      query: summaryQuery,
      replies: { 200: summary },
      reply: ({ query, within }) => summarize(options, query.minutes, within),
    }),
    endpoint("GET /throughput", {
      name: "getThroughput",
      summary: "What happened in each of the last minutes; minutes without anything are left out",
      example: { query: { minutes: "60" } },
      scope: "list",
      query: throughputQuery,
      replies: { 200: throughput },
      reply: ({ query, within }) => series(options, query, within),
    }),
  ];
}

const cutFigures: Readonly<Record<LivePart, SummaryReply["live"]["atLeast"]>> = {
  out: ["QUEUED", "RUNNING", "waiting", "scheduled"],
  due: ["PENDING", "RETRY_WAIT", "waiting", "scheduled"],
  paused: ["PENDING", "RETRY_WAIT", "held"],
  slot: ["PENDING", "RETRY_WAIT", "held"],
  blocked: ["PENDING", "held"],
};

const newest = { sort: "newest", cursor: null, limit: insightLimits.lastFailuresShown } as const;

/** Of a caller with a scope: what is live in its lanes, and what its kinds did. */
async function summarize(options: ApiOptions, span: number | undefined, within: Bounds): Promise<SummaryReply> {
  const { insight, ports, lanes } = options;
  const now = await ports.store.now();
  const isSeen = (lane: string | null): boolean => within.isWhole || (lane !== null && within.hasLane(lane));
  const failedJobs: JobSearch = { states: ["FAILED"], ...within.search };
  const [{ counts, cut }, dead, failures, lastHour, pauses, seen, [pass = null], last, schedules] = await Promise.all([
    readLive(insight).then((all) => ({
      counts: all.counts.filter(({ lane }) => isSeen(lane)),
      cut: all.cut.filter(({ lane }) => lane === null || isSeen(lane)),
    })),
    countMatching(insight, failedJobs, insightLimits.countedRowsMax),
    findJobs(insight, { ...newest, search: failedJobs }),
    oneRow(insight, readLastHour, within.search.kinds ?? null),
    insight.run(readLanes, {}),
    insight.run(readWorkers, insightLimits.workerSeenMs),
    insight.run(readPassed, schedulerLock),
    span === undefined ? null : series(options, { minutes: span }, within),
    span === undefined ? null : troubledSchedules(options, within),
  ]);
  const inState = (state: string): number =>
    counts.reduce((sum, each) => sum + (each.state === state ? each.jobs : 0), 0);
  const { waiting, scheduled, held, oldestWaitingMs } = depthOf(counts);
  const statuses = seen.filter(({ lane }) => isSeen(lane)).map(({ status }) => status);
  const paused = pauses.flatMap((each) => (each.paused && isSeen(each.name) ? each.name : []));
  const names = new Set([
    ...lanes.map(({ name }) => name).filter(isSeen),
    ...counts.map(({ lane }) => lane),
    ...paused,
  ]);
  return {
    at: iso(now),
    live: {
      total: counts.reduce((sum, each) => sum + each.jobs, 0),
      byState: {
        PENDING: inState("PENDING"),
        QUEUED: inState("QUEUED"),
        RUNNING: inState("RUNNING"),
        RETRY_WAIT: inState("RETRY_WAIT"),
      },
      waiting,
      scheduled,
      held: held.slot + held.paused + held.predecessors,
      oldestWaitingMs,
      isMore: cut.length > 0,
      atLeast: [...new Set(cut.flatMap(({ part }) => cutFigures[part]))],
    },
    deadLetters: dead,
    lastHour,
    lanes: { total: names.size, paused: paused.length },
    workers: {
      busy: statuses.filter((status) => status === "busy").length,
      lost: statuses.filter((status) => status === "lost").length,
    },
    lastPass: pass,
    lastFailures: [...failures.jobs],
    minutes: last?.minutes ?? null,
    schedules,
  };
}

/** How many, and one of them by its id. */
async function troubledSchedules(
  { insight }: ApiOptions,
  within: Bounds,
): Promise<NonNullable<SummaryReply["schedules"]>> {
  const found = async (state: "failing" | "late") => {
    const { total, isMore, schedules } = await oneRow(insight, searchSchedules, {
      search: { state, ...within.search },
      sort: "id",
      offset: 0,
      limit: 1,
    });
    return { total, isMore, first: schedules[0]?.id ?? null };
  };
  const [failing, late, { objectives, isMore }] = await Promise.all([
    found("failing"),
    found("late"),
    readObjectives(insight, { isWhole: false }),
  ]);
  const burning = objectives.filter(({ kind, fast, slow }) => (fast.burns || slow.burns) && within.hasKind(kind));
  return { failing, late, burning: { total: burning.length, isMore, first: burning[0]?.schedule ?? null } };
}

async function series(
  { insight }: ApiOptions,
  { minutes: back, kind, lane }: Pick<z.infer<typeof throughputQuery>, "minutes" | "kind" | "lane">,
  within: Bounds,
) {
  const kinds = kind === undefined ? (within.search.kinds ?? null) : [kind];
  return { minutes: await insight.run(readMinutes, { back, kinds, lane: lane ?? null }) };
}

const { kindFigureHoursMax, kindFigureRowsMax } = insightLimits;

const figuresQuery = z.strictObject({
  hours: whole(kindFigureHoursMax, 168, "How long the period is."),
  to: instant.optional(),
  against: whole(kindFigureHoursMax, 168, "How many hours earlier the period lies that it is compared with."),
  by: z.enum(["kind", "lane"]).default("kind"),
  kind: nameText().optional(),
  lane: nameText().optional(),
  include: z.literal("spread").optional().describe("Also how many attempts waited and ran how long."),
});

export const kindFiguresEndpoint = ({ insight, ports }: ApiOptions) =>
  endpoint("GET /kind-figures", {
    name: "listKindFigures",
    summary: "How often each kind failed, waited and ran, beside an earlier period",
    description:
      "By kind and lane: attempts, failures and the p50, p95 and p99 of waiting and running, in a period and in one `against` hours earlier. Kept for 90 days by the hour.",
    example: { query: { hours: "168", against: "168" } },
    scope: "list",
    query: figuresQuery,
    replies: { 200: kindFigureList },
    async reply({ query: { hours, to, against, by, kind, lane, include }, within }) {
      // The hour that has begun belongs to the period.
      const until = Math.ceil((to ?? (await ports.store.now()) + 1) / hourMs) * hourMs;
      const now = { from: until - hours * hourMs, to: until };
      const before = { from: now.from - against * hourMs, to: now.to - against * hourMs };
      const found = await insight.run(readKindHours, { now, before, kind: kind ?? null, lane: lane ?? null });
      const shown = found.filter((each) => within.hasKind(each.kind));
      return {
        period: spanJson(now),
        before: spanJson(before),
        kinds: kindFigures(shown, { by, include }),
        isMore: found.length === kindFigureRowsMax,
      };
    },
  });

const spanJson = ({ from, to }: Period) => ({ from: iso(from), to: iso(to) });
