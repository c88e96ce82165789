import { iso } from "../../core/job/units.ts";
import { z } from "zod";
import { contractLimits } from "../../core/job/contract-limits.ts";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import type { JobSearch } from "../../core/ports/job-search.ts";
import type { LivePart, Minute } from "../../core/ports/overview.ts";
import { schedulerLock } from "../../core/scheduler/pass.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { type Bounds, kindsIn, searchWithin } from "../scope.ts";
import type { ApiOptions } from "../options.ts";
import { maybeWhole, text, whole } from "../query-fields.ts";
import { summary, type SummaryReply, lastPassJson, throughput } from "../shape/overview.ts";
import { jobJson } from "../shape/job.ts";
import { workerStatus } from "../workers-seen.ts";
import { depthOf } from "./lanes.ts";

const summaryQuery = z.strictObject({
  minutes: maybeWhole(
    operationsLimits.minutesShownMax,
    "With these last minutes one by one, and with the schedules that fail or are late: both cost more.",
  ),
});

const throughputQuery = z.strictObject({
  minutes: whole(operationsLimits.minutesShownMax, 60, "How far back."),
  kind: text(contractLimits.idCharactersMax).optional(),
  lane: text(contractLimits.idCharactersMax).optional(),
});

/** GET /summary, GET /throughput. */
export function overviewEndpoints(options: ApiOptions): readonly Endpoint[] {
  return [
    endpoint("GET /summary", {
      name: "getSummary",
      summary: "How it stands: what is live, what waits for a person, what the last hour brought",
      scope: "list",
      query: summaryQuery,
      replies: { 200: summary },
      handle: async ({ query, within }) => ({ status: 200, body: await summarize(options, query.minutes, within) }),
    }),
    endpoint("GET /throughput", {
      name: "getThroughput",
      summary: "What happened in each of the last minutes; minutes without anything are left out",
      scope: "list",
      query: throughputQuery,
      replies: { 200: throughput },
      handle: async ({ query, within }) => ({ status: 200, body: await series(options, query, within) }),
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

/** Of a caller with a scope: what is live in its lanes, and what its kinds did. */
async function summarize(options: ApiOptions, span: number | undefined, within: Bounds | null): Promise<SummaryReply> {
  const { operations, ports, lanes } = options;
  const now = await ports.store.now();
  const isSeen = (lane: string | null): boolean => within === null || (lane !== null && within.hasLane(lane));
  const failedJobs: JobSearch = { states: ["FAILED"], ...searchWithin(within) };
  const [{ counts, ...live }, dead, failures, hour, pauses, seen, pass, last, schedules] = await Promise.all([
    operations.live(operationsLimits.liveRowsMax).then((all) => ({
      now: all.now,
      counts: all.counts.filter(({ lane }) => isSeen(lane)),
      cut: all.cut.filter(({ lane }) => lane === null || isSeen(lane)),
    })),
    operations.count(failedJobs, operationsLimits.countedRowsMax),
    operations.jobs({ search: failedJobs, sort: "newest", cursor: null, limit: operationsLimits.lastFailuresShown }),
    operations.minutes({ since: now - 3_600_000, kinds: kindsIn(within), lane: null }),
    operations.lanePauses(),
    operations.workers(now - operationsLimits.workerSeenMs),
    operations.lastPass(schedulerLock),
    span === undefined ? null : series(options, { minutes: span }, within),
    span === undefined ? null : troubledSchedules(options, within),
  ]);
  const total = (of: (minute: Minute) => number): number => hour.reduce((sum, minute) => sum + of(minute), 0);
  const inState = (state: string): number =>
    counts.reduce((sum, each) => sum + (each.state === state ? each.jobs : 0), 0);
  const { waiting, scheduled, held, oldestWaitingMs } = depthOf(live, counts);
  const statuses = seen.filter(({ lane }) => isSeen(lane)).map((worker) => workerStatus(worker, now));
  const ended = {
    succeeded: total((m) => m.succeeded),
    failed: total((m) => m.failed),
    retried: total((m) => m.retried),
  };
  const names = new Set([...lanes.map((lane) => lane.name).filter(isSeen), ...counts.map((each) => each.lane)]);
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
      isMore: live.cut.length > 0,
      atLeast: [...new Set(live.cut.flatMap(({ part }) => cutFigures[part]))],
    },
    deadLetters: dead,
    lastHour: {
      created: total((m) => m.created),
      ...ended,
      canceled: total((m) => m.canceled),
      skipped: total((m) => m.skipped),
      lost: total((m) => m.lost),
      meanRunMs: meanRun({ ...ended, runMs: total((m) => m.runMs) }),
    },
    lanes: { total: names.size, paused: pauses.filter(({ lane, pause }) => pause !== null && isSeen(lane)).length },
    workers: {
      busy: statuses.filter((status) => status === "busy").length,
      lost: statuses.filter((status) => status === "lost").length,
    },
    lastPass: lastPassJson(pass),
    lastFailures: failures.jobs.map((job) => jobJson(job, now)),
    minutes: last?.minutes ?? null,
    schedules,
  };
}

/** How many, and one of them by its id. */
async function troubledSchedules(
  { operations }: ApiOptions,
  within: Bounds | null,
): Promise<NonNullable<SummaryReply["schedules"]>> {
  const found = async (state: "failing" | "late") => {
    const { total, isMore, schedules } = await operations.searchSchedules({
      search: { state, ...searchWithin(within) },
      sort: "id",
      offset: 0,
      limit: 1,
    });
    return { total, isMore, first: schedules[0]?.id ?? null };
  };
  const [failing, late] = await Promise.all([found("failing"), found("late")]);
  return { failing, late };
}

/** Over the attempts that ended; null when none did. */
function meanRun({
  succeeded,
  failed,
  retried,
  runMs,
}: Pick<Minute, "succeeded" | "failed" | "retried" | "runMs">): number | null {
  const attempts = succeeded + failed + retried;
  return attempts === 0 ? null : runMs / attempts;
}

async function series(
  { operations, ports }: ApiOptions,
  { minutes: back, kind, lane }: { minutes: number; kind?: string | undefined; lane?: string | undefined },
  within: Bounds | null,
) {
  const now = await ports.store.now();
  const since = Math.floor(now / 60_000) * 60_000 - (back - 1) * 60_000;
  const minutes = await operations.minutes({
    since,
    kinds: kind === undefined ? kindsIn(within) : [kind],
    lane: lane ?? null,
  });
  return {
    minutes: minutes.map(({ at, runMs, ...counts }) => ({
      at: iso(at),
      ...counts,
      meanRunMs: meanRun({ ...counts, runMs }),
    })),
  };
}
