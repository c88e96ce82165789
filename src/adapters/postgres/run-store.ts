import type { JobId, Json } from "../../core/job.ts";
import { limits } from "../../core/limits.ts";
import type { NewRun, NewTask, Paged, RunId, RunStore, Tx } from "../../core/ports.ts";
import { insertInto } from "./enqueue-store.ts";
import { type Handed, handoffsOf } from "./handoffs.ts";
import { moveRows } from "./moved.ts";
import type { Session } from "./session.ts";
import { cancelJobs } from "./sql/control.ts";
import * as sql from "./sql/run.ts";
import { chooseAgain, lockRun, lockWaiting, putBack, recount, reopenRun } from "./sql/resume.ts";
import { arrayLiteral, execute } from "./statement.ts";

type Writes = "startRun" | "addPage" | "sealRun" | "skip" | "cancelRun" | "cancelPage" | "resumeRun";

export function runStore(session: Session): Pick<RunStore, Writes> {
  const inTx = <T>(tx: Tx | undefined, work: (tx: Tx) => Promise<T>): Promise<T> =>
    tx === undefined ? session.transaction(work) : work(tx);
  return {
    startRun: (run, { tx }) => inTx(tx, (client) => startRun(client, run)),
    addPage: (runId, page, { lookAheadMs, tx }) => inTx(tx, (client) => addPage(client, runId, page, lookAheadMs)),
    sealRun: (runId, { tx }) => inTx(tx, async (client) => (await execute(client, sql.sealRun, [runId])).length > 0),
    async skip(messages, { reason, notTaken }) {
      if (messages.length === 0) return [];
      const ids = messages.map((message) => message.jobId);
      const generations = messages.map((message) => message.generation);
      const rows = await session.run(sql.skipJobs, [ids, generations, reason, notTaken]);
      return rows.map((row) => row.id as JobId);
    },
    cancelRun: async (runId) => (await session.run(sql.cancelRun, [runId])).length > 0,
    async cancelPage(runId, { limit, inSameTransaction }) {
      const open = await session.run(sql.openJobs, [runId, limit]);
      if (open.length === 0) return 0;
      const ids = open.map((row) => row.id);
      await moveRows(session, cancelJobs, [ids, "run canceled"], { inSameTransaction });
      // A job that ended meanwhile was not canceled, but this page was not empty either.
      return open.length;
    },
    resumeRun: (runId, { ids }) => session.transaction((tx) => resumeRun(tx, runId, ids)),
  };
}

async function startRun(tx: Tx, run: NewRun): ReturnType<RunStore["startRun"]> {
  const { kind, key, version, sealed, tasks, starterId, parentId, onFailure, retentionMs, trace } = run;
  const input = JSON.stringify(run.input);
  const values = [kind, key, version, sealed, tasks.length, starterId, parentId, input, onFailure, retentionMs, trace];
  const [inserted] = await execute(tx, sql.insertRun, values);
  if (inserted === undefined) {
    const [known] = await execute(tx, sql.findRun, [kind, key]);
    if (known === undefined) throw new Error(`run "${key}" of "${kind}" exists but cannot be seen: use READ COMMITTED`);
    const cursor = (known.cursor ?? null) as Json | null;
    return { runId: known.id as RunId, created: false, sealed: known.sealed, cursor, handoffs: [] };
  }
  const handed = await insertTasks(tx, inserted.id, run);
  if (tasks.length === 0) await execute(tx, sql.nudgeRun, [inserted.id]);
  return { runId: inserted.id as RunId, created: true, sealed, cursor: null, handoffs: handoffsOf(handed) };
}

async function insertTasks(tx: Tx, runId: string, run: NewRun): Promise<readonly Handed[]> {
  if (run.tasks.length === 0) return [];
  const ids = (await execute(tx, sql.drawIds, [run.tasks.length]))[0]?.ids ?? [];
  const kinds = kindsOf(run.tasks);
  const handed: Handed[] = [];
  for (let from = 0; from < run.tasks.length; from += limits.insertTasksMax) {
    const page = run.tasks.slice(from, from + limits.insertTasksMax);
    handed.push(
      ...(await execute(tx, sql.insertTasks, [
        ids.slice(from, from + page.length),
        page.map((task) => kinds.place(task)),
        page.map((task) => task.task),
        page.map((task) => task.after.length),
        page.map((task) => task.join),
        page.map((task) => task.asks),
        ...kinds.columns,
        runId,
        run.trace,
        limits.wideJoinOver,
      ])),
    );
  }
  await insertEdges(tx, runId, run.tasks, ids);
  return handed;
}

/** Tasks of one definition share everything but their name and place, so that is sent once. */
function kindsOf(tasks: readonly NewTask[]) {
  const shared = tasks.map(
    ({ job }) => [job.kind, job.lane, job.leaseMs, job.maxAttempts, job.retentionMs, job.slotKeys] as const,
  );
  const places = new Map<string, number>();
  const distinct: (typeof shared)[number][] = [];
  const byTask = new Map<NewTask, number>();
  for (const [place, task] of tasks.entries()) {
    const one = shared[place];
    if (one === undefined) continue;
    const key = JSON.stringify(one);
    if (!places.has(key)) places.set(key, distinct.push(one));
    byTask.set(task, places.get(key) ?? 0);
  }
  const columns = [0, 1, 2, 3, 4].map((column) => distinct.map((one) => one[column]));
  return {
    place: (task: NewTask) => byTask.get(task) ?? 0,
    columns: [...columns, distinct.map((one) => arrayLiteral(one[5]))],
  };
}

async function insertEdges(tx: Tx, runId: string, tasks: readonly NewTask[], ids: readonly string[]): Promise<void> {
  const from: (string | undefined)[] = [];
  const to: (string | undefined)[] = [];
  const wide: boolean[] = [];
  const write = async (): Promise<void> => {
    if (from.length > 0) await execute(tx, sql.insertEdges, [from, to, wide, runId]);
    from.length = 0;
    to.length = 0;
    wide.length = 0;
  };
  for (const [place, task] of tasks.entries()) {
    for (const before of task.after) {
      from.push(ids[before]);
      to.push(ids[place]);
      wide.push(task.after.length > limits.wideJoinOver);
    }
    if (from.length >= limits.insertEdgesMax) await write();
  }
  await write();
}

const notWritten: Paged = { written: false, created: 0, conflicts: 0, handoffs: [] };

async function addPage(
  tx: Tx,
  runId: RunId,
  page: Parameters<RunStore["addPage"]>[1],
  lookAheadMs: number,
): Promise<Paged> {
  const may = await execute(tx, sql.lockForPage, [runId, page.by.jobId, page.by.attempt]);
  if (may.length === 0) return notWritten;
  const { results, handoffs } = await insertInto(
    tx,
    page.targets.map((target) => target.job),
    lookAheadMs,
  );
  const adopted = results.flatMap((result, place) =>
    result.created ? [{ id: result.id, row: page.targets[place]?.row ?? null }] : [],
  );
  if (adopted.length > 0) {
    const rows = adopted.map(({ row }) => (row === null ? null : JSON.stringify(row)));
    await execute(tx, sql.adoptTargets, [runId, adopted.map(({ id }) => id), rows]);
  }
  await execute(tx, sql.writePage, [runId, JSON.stringify(page.cursor), adopted.length]);
  const conflicts = results.filter((result) => result.conflict !== null).length;
  return { written: true, created: adopted.length, conflicts, handoffs };
}

async function resumeRun(tx: Tx, runId: RunId, ids: readonly JobId[] | undefined): Promise<readonly JobId[]> {
  if ((await execute(tx, lockRun, [runId])).length === 0) return [];
  const chosen = (await execute(tx, chooseAgain, [runId, ids ?? null])).map((row) => row.id);
  if (chosen.length === 0) return [];
  await execute(tx, lockWaiting, [runId, chosen]);
  const again = await execute(tx, putBack, [chosen]);
  await execute(tx, recount, [runId]);
  await execute(tx, reopenRun, [runId]);
  return again.map((row) => row.id as JobId);
}
