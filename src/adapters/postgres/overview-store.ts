import type { JobId, RunId } from "../../core/job/job.ts";
import { contractLimits } from "../../core/job/contract-limits.ts";
import { deliveryLimits } from "../../core/ports/delivery-limits.ts";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import type { Operations } from "../../core/ports/operations.ts";
import { type SlotUse, worstIn, type WorstIn, type WorstKind } from "../../core/ports/overview.ts";
import type { State } from "../../core/job/state.ts";
import type { WaitingFacts } from "../../core/ports/waiting.ts";
import { pauseOf } from "./pause.ts";
import type { Session } from "./session.ts";
import {
  countLive,
  readFailureGroups,
  readFences,
  readLanes,
  readSlot,
  readSlots,
  readWorkers,
  type SlotRow,
} from "./sql/overview.ts";
import { writeWorker } from "./sql/worker.ts";
import { keepSortsSmall, readFailures, readHealth, readTrouble, readWorstKinds, spill } from "./sql/health.ts";
import { archiveLag, readArchive } from "./sql/archive-day.ts";
import { readPassed } from "./sql/fence.ts";
import { readWaiting, type WaitingRow } from "./sql/waiting.ts";
import { selectNow } from "./sql/transaction.ts";
import { execute } from "./statement.ts";

type OverviewStore = Pick<
  Operations,
  | "live"
  | "lanePauses"
  | "slots"
  | "slot"
  | "workers"
  | "registerWorker"
  | "failureGroups"
  | "fences"
  | "lastPass"
  | "trouble"
  | "probeDisk"
  | "waiting"
  | "health"
  | "failures"
  | "archived"
  | "archiveLags"
>;

/** What is going on now. Each reads a bounded number of rows by an index. */
export function overviewStore(session: Session): OverviewStore {
  return {
    waiting: (id, limit) => waiting(session, id, limit),
    live: (rowsMax) => live(session, rowsMax),
    async lanePauses() {
      const rows = await session.run(readLanes, [operationsLimits.slotGroupsShownMax]);
      return rows.map((row) => ({ lane: row.name, pause: pauseOf(row) }));
    },
    async slots(prefix) {
      const { slotGroupsShownMax, slotHoldersShownMax, countRowsMax } = operationsLimits;
      const rows = await session.run(readSlots, [prefix, slotGroupsShownMax, slotHoldersShownMax, countRowsMax]);
      return rows.map((row) => ({ ...row, holders: holdersOf(row) }));
    },
    async slot(key) {
      const [row] = await session.run(readSlot, [key, operationsLimits.slotHoldersShownMax]);
      return row === undefined ? null : { ...row, holders: holdersOf(row) };
    },
    async health(overdueMs) {
      const { countedRowsMax, deadRowsMin, longRunMs } = operationsLimits;
      const [row] = await session.run(readHealth, [overdueMs, countedRowsMax, deadRowsMin, longRunMs]);
      if (row === undefined) throw new Error("the health statement gave no row");
      return {
        now: row.now,
        overdue: row.overdue,
        longRuns: row.long_runs,
        deadRowsPercent: row.dead_percent,
        oldestTransactionMs: row.oldest_ms,
        clockBehindMs: row.behind_ms,
      };
    },
    async trouble() {
      const [row] = await session.run(readTrouble, [operationsLimits.resentBatchesReadMax]);
      if (row === undefined) throw new Error("the statement of troubles gave no row");
      const resent = row.lanes.map((lane, n) => ({ lane, messages: row.messages[n] ?? 0 }));
      return { clockBehindMs: row.behind_ms, resent };
    },
    failures: () => failures(session),
    workers: (since) => workers(session, since),
    async registerWorker({ id, lane, version, logGroup = null }) {
      await session.run(writeWorker, [id, lane, version, logGroup]);
    },
    failureGroups: ({ kind }) => failureGroups(session, kind),
    async lastPass(lockName) {
      const [row] = await session.run(readPassed, [lockName]);
      return row === undefined ? null : { at: row.at, ageMs: row.age_ms };
    },
    probeDisk: () =>
      session.transaction(async (tx) => {
        await execute(tx, keepSortsSmall);
        await execute(tx, spill);
      }),
    fences: () => fences(session),
    async archiveLags() {
      const rows = await session.run(archiveLag, [contractLimits.historyMs]);
      return rows.map(({ part, lag_ms: lagMs }) => ({ part, lagMs }));
    },
    async archived() {
      const rows = await session.run(readArchive);
      return rows.map(({ failing_since: since, failure: error, until_ms: until, ...row }) => ({
        ...row,
        until,
        failing: since === null ? null : { since, error: error ?? "" },
      }));
    },
  };
}

async function fences(session: Session): ReturnType<OverviewStore["fences"]> {
  const rows = await session.run(readFences, [operationsLimits.locksShownMax]);
  return rows.map((row) => ({
    name: row.name,
    token: row.token,
    installedAt: row.installed_at,
    fallback:
      row.fallback_owner === null || row.fallback_until === null
        ? null
        : { owner: row.fallback_owner, leaseUntil: row.fallback_until },
  }));
}

async function failures(session: Session): ReturnType<OverviewStore["failures"]> {
  const { failuresMs, countedRowsMax, worstKindMs, worstKindMin } = operationsLimits;
  const [row] = await session.run(readFailures, [failuresMs, countedRowsMax]);
  const worst = await session.run(readWorstKinds, [worstKindMs, worstKindMin]);
  const found = (what: WorstIn): WorstKind | null => {
    const kind = worst.find((each) => each.what === what);
    return kind === undefined ? null : { kind: kind.kind, percent: kind.percent };
  };
  return {
    jobs: row?.jobs ?? 0,
    runs: row?.runs ?? 0,
    dead: row?.dead ?? 0,
    worst: Object.fromEntries(worstIn.map((what) => [what, found(what)])) as Record<WorstIn, WorstKind | null>,
  };
}

async function live(session: Session, rowsMax: number): ReturnType<OverviewStore["live"]> {
  const rows = await session.run(countLive, [rowsMax, operationsLimits.openRunsMax]);
  const [first] = rows;
  const now = first?.now ?? (await session.run(selectNow))[0]?.now ?? 0;
  const parts = Map.groupBy(rows, ({ part, lane }) => (part === "out" || part === "paused" ? `${part} ${lane}` : part));
  const cut = [...parts.values()].flatMap((same) => {
    const [row] = same;
    if (row === undefined || same.reduce((sum, { jobs }) => sum + jobs, 0) < rowsMax) return [];
    return [{ part: row.part, lane: row.part === "out" || row.part === "paused" ? row.lane : null }];
  });
  return {
    now,
    cut: first?.is_more === true ? [...cut, { part: "blocked", lane: null }] : cut,
    // What a pause holds is counted lane by lane.
    counts: rows
      .filter(({ part, hold }) => part !== "slot" || hold === "slot")
      .map((row) => ({
        lane: row.lane,
        state: row.state as State,
        hold: row.hold,
        blocked: row.blocked,
        jobs: row.jobs,
        due: row.due,
        oldestDueAt: row.oldest_due_at,
      })),
  };
}

const holdersOf = ({ holders }: Pick<SlotRow, "holders">): SlotUse["holders"] =>
  holders.map((holder) => ({ ...holder, jobId: holder.jobId as JobId }));

async function waiting(session: Session, id: JobId, limit: number): ReturnType<OverviewStore["waiting"]> {
  const { predecessorsShown, runningCountedMax, countedRowsMax } = operationsLimits;
  const values = [id, limit + 1, predecessorsShown, runningCountedMax + 1, countedRowsMax];
  const [row] = await session.run(readWaiting, values);
  if (row === undefined) return null;
  const bounded = (count: number) => ({ count: Math.min(count, limit), isMore: count > limit });
  return {
    lanePause: row.lane_pause === null ? null : pauseOf(row.lane_pause),
    schedule: row.schedule === null ? null : { pause: pauseOf(row.schedule), enabled: row.schedule.enabled },
    openPredecessors: row.preds_open,
    predecessors: (row.preds ?? []) as JobId[],
    ahead: bounded(row.ahead),
    heldBefore: bounded(row.held_before),
    runningInLane: {
      count: Math.min(row.running, runningCountedMax),
      isMore: row.running > runningCountedMax || row.is_more_running,
    },
    workerSeenAt: row.seen_at,
    failedFirst: failedFirstOf(row.failed_first),
    lastReason: row.last_reason,
  };
}

const failedFirstOf = (row: WaitingRow["failed_first"]): WaitingFacts["failedFirst"] =>
  row === null ? null : { jobId: row.id as JobId, runId: row.run as RunId, task: row.task, errorCode: row.code };

async function workers(session: Session, since: number): ReturnType<OverviewStore["workers"]> {
  const rows = await session.run(readWorkers, [
    since,
    operationsLimits.workersShownMax,
    deliveryLimits.runningSampleMax,
  ]);
  return rows.map((row) => ({
    id: row.id,
    lane: row.lane,
    version: row.version,
    startedAt: row.started_at,
    seenAt: row.seen_at,
    ended: row.ended,
    failed: row.failed,
    lost: row.lost,
    lostAt: row.lost_at,
    running: (row.running ?? [])
      .slice(0, operationsLimits.workerJobsShownMax)
      .map((job) => ({ ...job, jobId: job.jobId as JobId })),
  }));
}

async function failureGroups(session: Session, kind: string | null): ReturnType<OverviewStore["failureGroups"]> {
  const { failureRowsMax, failureGroupsMax, failureSamplesShown } = operationsLimits;
  const found = await session.run(readFailureGroups, [failureRowsMax, kind, failureGroupsMax + 1, failureSamplesShown]);
  const rows = found.flatMap((row) => (row.fingerprint === null ? [] : [row]));
  return {
    isMore: (found[0]?.looked ?? 0) >= failureRowsMax || rows.length > failureGroupsMax,
    groups: rows.slice(0, failureGroupsMax).map((row) => ({
      fingerprint: row.fingerprint,
      kind: row.kind,
      errorCode: row.error_code,
      errorMessage: row.samples[0]?.message ?? null,
      jobs: row.jobs,
      firstAt: row.first_at,
      lastAt: row.last_at,
      samples: row.samples.map((sample) => ({ ...sample, jobId: sample.jobId as JobId })),
    })),
  };
}
