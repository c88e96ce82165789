import type { JobId, RunId } from "../machine/job.ts";
import { joinParts } from "../machine/join.ts";
import { type Aftermath, mergeAftermaths, noAftermath } from "../machine/outbox.ts";
import { type Renewal, renewalOf, rowsUndone } from "../machine/renewal.ts";
import type { NewRun, NewTask, Resumed, RunStore } from "../machine/run.ts";
import { runLimits } from "../machine/run-limits.ts";
import type { Tx } from "../machine/transaction.ts";
import { aftermathOf } from "./outbox.ts";
import * as sql from "./sql/resume.ts";
import { growAgain, lockRows } from "./sql/rows.ts";
import { arrayLiteral, execute } from "./statement.ts";
import { insertTasks } from "./task-store.ts";

const nothing: Resumed = { ids: [], aftermath: noAftermath };

export async function putBackRun(
  tx: Tx,
  runId: RunId,
  { ids, caller, newer }: Parameters<RunStore["resumeRun"]>[1],
): Promise<Resumed> {
  if ((await execute(tx, sql.lockRun, [runId])).length === 0) return nothing;
  const failed = (await execute(tx, sql.chooseAgain, [runId, ids ?? null])).map((row) => row.id);
  if (failed.length === 0 && newer === undefined) return nothing;
  const rows = await execute(tx, lockRows, [failed]);
  if (newer !== undefined) return await renew(tx, runId, newer, { caller, rows });
  await execute(tx, sql.lockWaiting, [runId, failed]);
  const again = await execute(tx, sql.resumeJobs, [failed, caller ?? null]);
  const aftermath = await goOn(tx, runId, { jobs: failed, removed: [], rows, caller });
  return { ids: again.map((row) => row.id as JobId), aftermath };
}

interface GoOn {
  readonly caller: string | null | undefined;
  /** Runs of rows that did not succeed. */
  readonly rows: readonly { readonly id: string; readonly starter_id: string }[];
}

/** Counts what waits again, and opens the run and those of its rows. */
async function goOn(
  tx: Tx,
  runId: RunId,
  { jobs, removed, rows, caller }: GoOn & { readonly jobs: readonly string[]; readonly removed: readonly string[] },
): Promise<Aftermath> {
  await execute(tx, sql.recount, [runId, removed]);
  const ready = await execute(tx, sql.readyLanes, [jobs]);
  await execute(tx, sql.reopenRun, [runId]);
  const parts: Aftermath[] = [{ ...noAftermath, runs: [runId], leftToRelay: ready.map((row) => row.lane) }];
  for (const { id } of rows) {
    parts.push((await putBackRun(tx, id as RunId, { caller })).aftermath);
    await execute(tx, growAgain, [id]);
  }
  return mergeAftermaths(parts);
}

async function renew(tx: Tx, runId: RunId, newer: NewRun, { caller, rows }: GoOn): Promise<Resumed> {
  const locked = (await execute(tx, sql.lockOpen, [runId])).map((row) => row.id);
  const standing = await execute(tx, sql.readStanding, [runId, locked]);
  const kept = new Set(newer.tasks.map(({ task }) => task));
  const undone = standing.filter(({ id, task }) => kept.has(task) && rows.some((row) => row.starter_id === id));
  if (undone.length > 0) return { ...nothing, differences: undone.map(({ task }) => rowsUndone(task)) };
  const renewal = renewalOf(
    standing.map(({ id, not_taken: notTaken, is_open: isOpen, is_counted: isCounted, ...row }) => {
      return { ...row, id: id as JobId, notTaken, isOpen, isCounted };
    }),
    newer.tasks,
  );
  const { differences, open, removed, again } = renewal;
  if (differences.length > 0) return { ...nothing, differences };
  if (open.size + removed.length === 0 && !renewal.jobs.includes(null)) return nothing;
  await execute(tx, sql.resumeJobs, [again, caller ?? null]);
  const { version, shape, onFailure, tolerate, retentionMs, continuation } = newer;
  const run = { version, shape, onFailure, tolerate, retentionMs, continuation };
  await execute(tx, sql.renewTasks, [runId, tasksAsJson(newer.tasks, renewal), removed, JSON.stringify(run)]);
  const added = await insertTasks(tx, runId, newer, renewal);
  const jobs = [...open, ...(added.ids as readonly JobId[])];
  const left = await goOn(tx, runId, { jobs, removed, rows: [], caller });
  return { ids: [...removed, ...jobs], aftermath: mergeAftermaths([aftermathOf(added.dispatched), left]) };
}

function tasksAsJson(tasks: readonly NewTask[], { jobs, open }: Renewal): string {
  const rows = tasks.flatMap(({ job, after, join, hasCondition, wait }, place) => {
    const id = jobs[place] ?? null;
    if (id === null || !open.has(id)) return [];
    const { lane, leaseMs, maxAttempts, payload, dueAt } = job;
    const waits = { waitMs: wait?.ms ?? null, forSignal: wait?.forSignal ?? false };
    const joins = { ...joinParts(join), wide: after.length > runLimits.wideJoinOver, hasCondition };
    const slots = arrayLiteral(job.slotKeys);
    return [{ id, lane, leaseMs, maxAttempts, payload, dueAt, slots, ...waits, ...joins }];
  });
  return JSON.stringify(rows);
}
