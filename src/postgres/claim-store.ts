import { isOfRate } from "../admission/rate.ts";
import type { JobId, Json } from "../machine/job.ts";
import { type Claimed, type Store } from "../machine/store.ts";
import type { InRun } from "../machine/run.ts";
import { type Message, noAftermath } from "../machine/outbox.ts";
import { isFinal } from "../machine/state.ts";
import { workerLimits } from "../run/worker-limits.ts";
import { isLockTimeout } from "./failure.ts";
import { aftermathOf, newest, newestColumns } from "./outbox.ts";
import type { Session } from "./session.ts";
import { claimFull, type ClaimedRow, claimPlain, lookAt, makeSlots, type PlainClaims } from "./sql/claim.ts";
import { holdClosed, readClosed } from "./sql/lane.ts";
import { extendLease, renewLeases, takeOverLease } from "./sql/lease.ts";
import { columns, type Statement } from "./statement.ts";
import { readInRuns } from "./sql/read.ts";

interface ClaimOptions {
  readonly worker: string;
  readonly alone: boolean;
  readonly asked?: readonly JobId[];
}

export function claimStore(session: Session) {
  return {
    async closed(lane) {
      return (await session.run(readClosed, [lane]))[0]?.names ?? [];
    },
    async holdClosed(messages) {
      return (await session.run(holdClosed, newestColumns(messages))).map(({ id }) => id as JobId);
    },
    claim: (messages, options) => claim(session, messages, options),
    peek: async (ids) => (ids.length === 0 ? [] : await session.run(lookAt, [ids])),
    async heartbeat(held, worker) {
      if (held.length === 0) return [];
      return await session.run(renewLeases, [...columns(held, "jobId", "attempt", "progress"), worker]);
    },
    async extendLease({ jobId, attempt }, { worker, leaseMs }) {
      return (await session.run(extendLease, [jobId, attempt, worker, worker, leaseMs])).length === 1;
    },
    async takeOver({ jobId, attempt }, { from, worker }) {
      const [row] = await session.run(takeOverLease, [jobId, attempt, from, worker, null]);
      if (row === undefined) return null;
      return (await withRuns(session, [row]))[0] ?? null;
    },
  } satisfies Partial<Store>;
}

/**
 * One statement when every row is plain, and one for the rest; two more for the first jobs of a key. Each statement
 * commits by itself: if a later one fails, the caller still gets the jobs claimed before, and the rest stay QUEUED.
 */
async function claim(
  session: Session,
  messages: readonly Message[],
  { worker, alone, asked = [] }: ClaimOptions,
): ReturnType<Store["claim"]> {
  const waiting: Map<string, number> = newest(messages);
  if (waiting.size === 0) return { claimed: [], aftermath: noAftermath };
  const claimAll = <R>(statement: Statement<R>): Promise<R[]> =>
    unlessLockedEach(waiting, (ids) =>
      session.run(statement, [ids, ids.map((id) => waiting.get(id)), worker, alone, asked]),
    );
  const plain = (await claimAll(claimPlain)).flatMap(claimedTogether);
  for (const { jobId } of plain) waiting.delete(jobId);
  if (waiting.size === 0) return { claimed: await withRuns(session, plain), aftermath: noAftermath };
  const rows: ClaimedRow[] = [];
  try {
    for (let isAgain = false; ; isAgain = true) {
      rows.push(...(await claimAll(claimFull)));
      for (const { jobId } of rows) waiting.delete(jobId);
      // What is still there is early, claimed by another, or the first of its key.
      if (isAgain || waiting.size === 0 || (await session.run(makeSlots, [[...waiting.keys()]])).length === 0) break;
    }
  } catch (error) {
    if (plain.length + rows.length === 0) throw error;
  }
  return { claimed: await withRuns(session, [...plain, ...rows]), aftermath: aftermathOf(rows.map(followed)) };
}

/**
 * A row that another session keeps locked (a person's open transaction) delays its batch but does not block it: each row is
 * then claimed by itself. Locked rows are left out, also of what waits for the next text, and so is everything after the second one.
 */
async function unlessLockedEach<R>(
  waiting: Map<string, number>,
  claimOf: (ids: readonly string[]) => Promise<R[]>,
): Promise<R[]> {
  const ids = [...waiting.keys()];
  const together = await unlessLocked(claimOf(ids));
  if (together !== null) return together;
  const rows: R[] = [];
  let locked = 0;
  for (const id of ids) {
    const row = ids.length === 1 ? null : await unlessLocked(claimOf([id])).catch(() => null);
    rows.push(...(row ?? []));
    if (row === null) {
      waiting.delete(id);
      locked += 1;
    }
    if (locked >= workerLimits.lockedClaimsMax) break;
  }
  return rows;
}

/** @returns null when another session kept a row locked for too long. */
const unlessLocked = <R>(claiming: Promise<R[]>): Promise<R[] | null> =>
  claiming.catch((error: unknown) => {
    if (!isLockTimeout(error)) throw error;
    return null;
  });

/** A refused slot may have been freed since, and when a spent one is back is known now, so their waiting jobs are woken. */
const followed = (row: ClaimedRow) => ({
  freed: row.state === "RUNNING" ? row.slotKeys.filter(isOfRate) : row.slotKeys,
  run_id: isFinal(row.state) ? row.runId : null,
});

function claimedTogether({ numbers, kinds, keys, payloads, traces, now }: PlainClaims): ClaimedRow[] {
  if (numbers === null) return [];
  return numbers.split(",").map((row, n) => {
    const [id = "", ...more] = row.split(" ");
    const [generation = 0, attempt = 0, failures = 0, interruptions = 0, maxAttempts = 0, leaseMs = 0, dueAt = 0] =
      more.map(Number);
    return {
      jobId: id as JobId,
      state: "RUNNING",
      reason: null,
      kind: kinds[n] ?? "",
      key: keys[n] ?? null,
      payload: payloads[n] as Json,
      generation,
      attempt,
      failures,
      interruptions,
      maxAttempts,
      leaseMs,
      trace: traces[n] ?? "",
      slotKeys: [],
      dueAt,
      scheduleId: null,
      scheduledFor: null,
      effectiveAt: null,
      latenessMs: Math.max(0, now - dueAt),
      isCatchUp: false,
      missedCount: 0,
      runId: more[7] ?? null,
    };
  });
}

async function withRuns(session: Session, rows: readonly ClaimedRow[]): Promise<Claimed[]> {
  const runs = await inRuns(
    session,
    rows.flatMap(({ runId, jobId }) => (runId === null ? [] : jobId)),
  );
  return rows.map(({ runId: _runId, replaces, ...row }) => {
    const run = runs.get(row.jobId);
    return { ...row, ...(run === undefined ? {} : { run }), ...(replaces === true ? { replaces } : {}) };
  });
}

/** What jobs know about their runs, by job id. Outputs are final, so they are read without a lock. */
export async function inRuns<Id extends string>(session: Session, ids: readonly Id[]): Promise<ReadonlyMap<Id, InRun>> {
  if (ids.length === 0) return new Map();
  const rows = await session.run(readInRuns, [ids]);
  return new Map(rows.map(({ jobId, ...run }) => [jobId as string as Id, run]));
}
