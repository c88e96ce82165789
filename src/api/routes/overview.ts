import { z } from "zod";
import type { Instant } from "../../core/job/job.ts";
import { contractLimits } from "../../core/job/contract-limits.ts";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import type { Minute, WorkerView } from "../../core/ports/overview.ts";
import { schedulerLock } from "../../core/scheduler/pass.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { type Bounds, kindsIn, searchWithin } from "../scope.ts";
import type { ApiOptions } from "../options.ts";
import { text, whole } from "../query-fields.ts";
import {
  summary,
  type SummaryReply,
  lastPassJson,
  throughput,
  workerList,
  type WorkerReply,
} from "../shape/overview.ts";
import { iso, maybeIso } from "../shape/shape.ts";
import { depthOf } from "./lanes.ts";

const throughputQuery = z.strictObject({
  minutes: whole(operationsLimits.minutesShownMax, 60, "How far back."),
  kind: text(contractLimits.idCharactersMax).optional(),
  lane: text(contractLimits.idCharactersMax).optional(),
});

/** GET /summary, GET /throughput, GET /workers. */
export function overviewEndpoints(options: ApiOptions): readonly Endpoint[] {
  return [
    endpoint({
      method: "GET",
      name: "getSummary",
      path: "/summary",
      summary: "How it stands: what is live, what waits for a person, what the last hour brought",
      role: "read",
      scope: "list",
      replies: { 200: summary },
      handle: async ({ within }) => ({ status: 200, body: await summarize(options, within) }),
    }),
    endpoint({
      method: "GET",
      name: "getThroughput",
      path: "/throughput",
      summary: "What happened in each of the last minutes; minutes without anything are left out",
      role: "read",
      scope: "list",
      query: throughputQuery,
      replies: { 200: throughput },
      handle: async ({ query, within }) => ({ status: 200, body: await series(options, query, within) }),
    }),
    endpoint({
      method: "GET",
      name: "listWorkers",
      path: "/workers",
      summary: "Who worked in the last hour, and what each runs now",
      role: "read",
      scope: "list",
      replies: { 200: workerList },
      handle: async ({ within }) => ({ status: 200, body: await workers(options, within) }),
    }),
  ];
}

/** Of a caller with a scope: what is live in its lanes, and what its kinds did. */
async function summarize(options: ApiOptions, within: Bounds | null): Promise<SummaryReply> {
  const { operations, ports, lanes } = options;
  const now = await ports.store.now();
  const isSeen = (lane: string | null): boolean => within === null || (lane !== null && within.hasLane(lane));
  const [{ counts, ...live }, dead, minutes, pauses, seen, pass] = await Promise.all([
    operations.live().then((all) => ({ ...all, counts: all.counts.filter(({ lane }) => isSeen(lane)) })),
    operations.count({ states: ["FAILED"], ...searchWithin(within) }, operationsLimits.countRowsMax),
    operations.minutes({ since: now - 3_600_000, kinds: kindsIn(within), lane: null }),
    operations.lanePauses(),
    operations.workers(now - operationsLimits.workerSeenMs),
    operations.lastPass(schedulerLock),
  ]);
  const total = (of: (minute: Minute) => number): number => minutes.reduce((sum, minute) => sum + of(minute), 0);
  const inState = (state: string): number =>
    counts.reduce((sum, each) => sum + (each.state === state ? each.jobs : 0), 0);
  const { waiting, scheduled, held, oldestWaitingMs } = depthOf(live, counts);
  const statuses = seen.filter(({ lane }) => isSeen(lane)).map((worker) => statusOf(worker, now));
  const [created, succeeded, failed] = [total((m) => m.created), total((m) => m.succeeded), total((m) => m.failed)];
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
      isMore: live.isMore,
    },
    deadLetters: dead,
    lastHour: {
      created,
      succeeded,
      failed,
      retried: total((m) => m.retried),
      canceled: total((m) => m.canceled),
      skipped: total((m) => m.skipped),
      lost: total((m) => m.lost),
      meanRunMs: meanRun({ succeeded, failed, retried: total((m) => m.retried), runMs: total((m) => m.runMs) }),
    },
    lanes: { total: names.size, paused: pauses.filter(({ lane, pause }) => pause !== null && isSeen(lane)).length },
    workers: {
      busy: statuses.filter((status) => status === "busy").length,
      lost: statuses.filter((status) => status === "lost").length,
    },
    lastPass: lastPassJson(pass),
  };
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
  { minutes: back, kind, lane }: z.infer<typeof throughputQuery>,
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

async function workers({ operations, ports }: ApiOptions, within: Bounds | null) {
  const now = await ports.store.now();
  const seen = await operations.workers(now - operationsLimits.workerSeenMs);
  const shown = seen.filter(({ lane }) => within === null || (lane !== null && within.hasLane(lane)));
  return { workers: shown.map((worker) => workerJson(worker, now)) };
}

const silentMs = 60_000;

function statusOf({ running, seenAt }: WorkerView, now: Instant): WorkerReply["status"] {
  if (running.some((job) => job.leaseUntil < now)) return "lost";
  if (running.length > 0) return "busy";
  return now - seenAt > silentMs ? "silent" : "idle";
}

const workerJson = (worker: WorkerView, now: Instant): WorkerReply => ({
  id: worker.id,
  lane: worker.lane,
  version: worker.version,
  status: statusOf(worker, now),
  startedAt: maybeIso(worker.startedAt),
  seenAt: iso(worker.seenAt),
  ended: worker.ended,
  failed: worker.failed,
  lost: worker.lost,
  lostAt: maybeIso(worker.lostAt),
  running: worker.running.map(({ jobId, startedAt, beatAt, leaseUntil, ...job }) => ({
    job: jobId,
    ...job,
    startedAt: iso(startedAt),
    beatAt: iso(beatAt),
    leaseUntil: iso(leaseUntil),
  })),
});
