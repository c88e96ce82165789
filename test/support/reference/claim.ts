import { isOfRate } from "../../../src/admission/rate.ts";
import type { AttemptRef, JobId } from "../../../src/machine/job.ts";
import { isFinal } from "../../../src/machine/state.ts";
import { type Claimed, type AttemptProgress, type JobPeek, type Store } from "../../../src/machine/store.ts";
import { type Message, noAftermath } from "../../../src/machine/outbox.ts";
import { decideOccurrence } from "./occurrence.ts";
import { inRunOf, runsOf } from "./runs.ts";
import { isLeftByRemoval, storedSchedule } from "./schedules.ts";
import { dropKept, groupOf, takeSlots } from "./slots.ts";
import type { JobRow } from "./rows.ts";
import { idOf, type Tables } from "./tables.ts";
import { pauseAt } from "../../../src/machine/pause.ts";

/**
 * Due QUEUED rows under the generation of their message: run, hold or skip. The earliest due comes first to a slot. Those without slots,
 * schedule and expiry have leases of their own.
 */
export function claim(
  t: Tables,
  messages: readonly Message[],
  options: { worker: string; alone: boolean; asked?: readonly JobId[] },
): Awaited<ReturnType<Store["claim"]>> {
  const generations = new Map(messages.map((message) => [Number(message.jobId), message.generation]));
  const claimable = [...generations.keys()]
    .flatMap((id) => t.jobs.get(id) ?? [])
    .filter((row) => row.state === "QUEUED" && row.generation === generations.get(row.id) && row.dueAt <= t.now())
    .filter((row) => !row.alone || options.alone)
    .filter((row) => !row.hasCondition || options.asked?.includes(idOf(row)) === true)
    .toSorted(inTurn);
  const leases = new Map<string, number>();
  const leaseOf = (row: JobRow): number => {
    const isPlain = row.slotKeys.length === 0 && row.scheduleId === null && row.expiresAt === null;
    const key = JSON.stringify([row.lane, row.leaseMs, isPlain]);
    const known = leases.get(key) ?? newLease(t, row, { ...options, leaseMs: row.leaseMs });
    leases.set(key, known);
    return known;
  };
  const claimed = claimable.map((row) => decide(t, row, options.worker, leaseOf));
  for (const { jobId } of claimed) dropKept(t, { id: Number(jobId) });
  const ended = claimed.filter((row) => isFinal(row.state));
  const aftermath = {
    ...noAftermath,
    runs: runsOf(ended.map((row) => t.jobs.row(Number(row.jobId)))),
    freed: [
      ...new Set(
        claimed.flatMap(({ state, slotKeys }) => (state === "RUNNING" ? slotKeys.filter(isOfRate) : slotKeys)),
      ),
    ],
  };
  return { claimed, aftermath };
}

/** The jobs that hold a lease, by id. */
export const membersOf = (t: Tables, leaseId: number): JobRow[] =>
  t.inStates("RUNNING").filter((row) => row.leaseId === leaseId);

interface NewLease {
  readonly worker: string;
  readonly alone: boolean;
  readonly leaseMs: number;
}

function newLease(t: Tables, { lane }: JobRow, { worker, alone, leaseMs }: NewLease): number {
  const id = t.draw("lease");
  t.leases.set(id, { id, lane, worker, alone, leaseMs, until: t.now() + leaseMs, cause: null });
  return id;
}

/** Puts one job under a lease of its own. */
function leaseAlone(t: Tables, row: JobRow, lease: NewLease): JobRow {
  const moved = t.change(row, { worker: lease.worker, leaseId: newLease(t, row, lease) });
  if (row.leaseId !== null && membersOf(t, row.leaseId).length === 0) t.leases.delete(row.leaseId);
  return moved;
}

const inTurn = (a: JobRow, b: JobRow): number => a.dueAt - b.dueAt || a.id - b.id;

function decide(t: Tables, row: JobRow, worker: string, leaseOf: (row: JobRow) => number): Claimed {
  const run = row.runId === null ? undefined : t.runs.get(row.runId);
  if (run !== undefined && run.state !== "RUNNING") return cancelWithRun(t, row);
  if (run?.stopped === true) return skip(t, row, "run stopped");
  const unwanted = whyUnwanted(t, row);
  if (unwanted !== null) return skip(t, row, unwanted);
  const replaces = row.slotKeys.some((key) => groupOf(t, key).reason === "replaced") ? { replaces: true as const } : {};
  return { ...start(t, row, worker, leaseOf), ...replaces };
}

function start(t: Tables, row: JobRow, worker: string, leaseOf: (row: JobRow) => number): Claimed {
  const refused = takeSlots(t, row, row.attempt + 1);
  if (refused?.decision === "skip") return skip(t, row, refused.reason);
  if (refused !== null) {
    const held = { state: "PENDING", hold: "slot", heldOn: refused.key, progress: null } as const;
    return claimedOf(
      t,
      t.move(row, { ...held, generation: row.generation + 1 }, { reason: refused.reason }),
      refused.reason,
    );
  }
  const begun = {
    state: "RUNNING",
    attempt: row.attempt + 1,
    worker,
    startedAt: t.now(),
    leaseId: leaseOf(row),
    progress: null,
  } as const;
  const running = t.move(row, begun, { worker });
  decideOccurrence(t, running, row.catchUp ? "CAUGHT_UP" : "FIRED", null);
  return claimedOf(t, running, null);
}

/** The reason why the row must not run at all, or null. What has begun is finished, whatever became of its schedule. */
function whyUnwanted(t: Tables, row: JobRow): string | null {
  const by = row.scheduleId ?? (row.runId === null ? null : (t.runs.get(row.runId)?.ahead?.by ?? null));
  const schedule = by === null ? undefined : storedSchedule(t, by);
  if (row.expiresAt !== null && row.expiresAt <= t.now()) return "expired";
  if (row.attempt > 0) return null;
  if (pauseAt(schedule ?? null, t.now()) !== null) return "paused";
  if (schedule?.spec.enabled === false) return "disabled";
  if (isLeftByRemoval(t, row.id)) return "deleted";
  return null;
}

function skip(t: Tables, row: JobRow, reason: string): Claimed {
  const skipped = t.move(row, { state: "SKIPPED", progress: null }, { reason });
  decideOccurrence(t, skipped, "SKIPPED", reason);
  return claimedOf(t, skipped, reason);
}

const cancelWithRun = (t: Tables, row: JobRow): Claimed =>
  claimedOf(
    t,
    t.move(row, { state: "CANCELED", progress: null }, { reason: "run canceled", caller: cancelerOf(t, row) }),
    "run canceled",
  );

const cancelerOf = (t: Tables, { runId }: JobRow): string | null =>
  runId === null ? null : (t.runs.get(runId)?.canceledBy ?? null);

function claimedOf(t: Tables, row: JobRow, reason: string | null): Claimed {
  return {
    jobId: idOf(row),
    state: row.state as Claimed["state"],
    reason,
    kind: row.kind,
    key: row.key,
    payload: row.payload,
    generation: row.generation,
    attempt: row.attempt,
    failures: row.failures,
    interruptions: row.interruptions,
    maxAttempts: row.maxAttempts,
    leaseMs: row.leaseMs,
    trace: row.trace,
    slotKeys: row.slotKeys,
    dueAt: row.dueAt,
    scheduleId: row.scheduleId,
    scheduledFor: row.scheduledFor,
    effectiveAt: row.effectiveAt,
    latenessMs: Math.max(0, t.now() - (row.effectiveAt ?? row.scheduledFor ?? row.dueAt)),
    isCatchUp: row.catchUp,
    missedCount: row.missed,
    ...(row.runId === null ? {} : { run: inRunOf(t, row, row.runId) }),
  };
}

export function look(t: Tables, ids: readonly JobId[]): JobPeek[] {
  return [...new Set(ids)].flatMap((id) => {
    const row = t.jobs.get(Number(id));
    if (row === undefined) return [];
    const { state, generation, attempt, worker, alone, hasCondition } = row;
    const ageMs = Math.max(0, t.now() - row.createdAt);
    return [
      { jobId: id, state, generation, attempt, worker, ageMs, dueInMs: row.dueAt - t.now(), alone, hasCondition },
    ];
  });
}

export function extendLease(t: Tables, held: AttemptRef, options: { worker: string; leaseMs: number }): boolean {
  const row = runningOf(t, held, options.worker);
  if (row !== null) leaseAlone(t, row, { ...options, alone: row.leaseId !== null && t.leases.row(row.leaseId).alone });
  return row !== null;
}

export function takeOver(
  t: Tables,
  held: AttemptRef,
  { from, worker }: { from: string; worker: string },
): Claimed | null {
  const row = runningOf(t, held, from);
  if (row === null) return null;
  return claimedOf(t, leaseAlone(t, row, { worker, alone: true, leaseMs: row.leaseMs }), null);
}

function runningOf(t: Tables, { jobId, attempt }: AttemptRef, worker: string): JobRow | null {
  const row = t.jobs.get(Number(jobId));
  return row?.state === "RUNNING" && row.attempt === attempt && row.worker === worker ? row : null;
}

export function heartbeat(t: Tables, held: readonly AttemptProgress[], worker: string): AttemptRef[] {
  return held.flatMap(({ jobId, attempt, progress }) => {
    const row = t.jobs.get(Number(jobId));
    if (row?.state !== "RUNNING" || row.attempt !== attempt || row.worker !== worker || row.leaseId === null) return [];
    const lease = t.leases.row(row.leaseId);
    t.leases.set(lease.id, { ...lease, until: t.now() + lease.leaseMs, cause: null });
    t.change(row, { progress: progress ?? row.progress });
    return [{ jobId, attempt }];
  });
}
