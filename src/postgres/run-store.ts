import type { JobId, Json, RunId } from "../machine/job.ts";
import { reasons } from "../machine/reasons.ts";
import { type NewRun, type Paged, type RunStore, type Signaled, type StartedRun } from "../machine/run.ts";
import { noAftermath } from "../machine/outbox.ts";
import { type Tx } from "../machine/transaction.ts";
import { aftermathOf, moveRows, newestColumns } from "./outbox.ts";
import type { Session } from "./session.ts";
import { cancelOpen } from "./sql/control.ts";
import { redispatchNow, runNow } from "./sql/relay.ts";
import { decidePrematerialized } from "./sql/prematerialized.ts";
import * as sql from "./sql/run.ts";
import { type SignaledRow, writeSignal } from "./sql/signal.ts";
import { readOutputs, readResult } from "./sql/rows.ts";
import { execute } from "./statement.ts";
import { putBackRun } from "./resume-run.ts";
import { insertTasks } from "./task-store.ts";
import { insertPage } from "./prematerialized.ts";

export function runStore(session: Session) {
  const inTx = <T>(tx: Tx | undefined, work: (tx: Tx) => Promise<T>): Promise<T> =>
    tx === undefined ? session.transaction(work) : work(tx);
  return {
    startRun: (run, { tx } = {}) => inTx(tx, (client) => startRun(client, run)),
    addPage: (runId, page, { tx } = {}) => inTx(tx, (client) => addPage(client, runId, page, session.dispatchWindowMs)),
    sealRun: (runId, { tx }) => inTx(tx, async (client) => (await execute(client, sql.sealRun, [runId])).length > 0),
    async runResult(runId, { tx } = {}) {
      const read = (client: Tx) => execute(client, readResult, [runId]);
      const [row] = await (tx === undefined ? session.run(readResult, [runId]) : read(tx));
      return row === undefined ? null : { runId, ...row };
    },
    async runOutputs(runId, { after, limit }) {
      const rows = await session.run(readOutputs, [runId, after ?? 0, limit]);
      return rows.map(({ id, result }) => ({ id: id as JobId, result: (result ?? null) as Json | null }));
    },
    async skip(messages, { reason }) {
      if (messages.length === 0) return { ids: [], aftermath: noAftermath };
      const rows = await session.run(sql.skipJobs, [...newestColumns(messages), reason]);
      return {
        ids: rows.map((row) => row.id as JobId),
        aftermath: aftermathOf(rows.map(({ run_id }) => ({ run_id }))),
      };
    },
    cancelRun: async (runId, { caller } = {}) =>
      (await session.run(sql.markCanceling, [runId, caller ?? null])).length > 0,
    async cancelPage(runId, { limit, inSameTransaction }) {
      const open = await session.run(sql.openJobs, [runId, limit]);
      if (open.length === 0) return { canceled: 0, isEmpty: true, aftermath: noAftermath };
      const ids = open.map((row) => row.id);
      const values = [ids, open[0]?.reason, false, open[0]?.caller ?? null];
      const { rows, aftermath } = await moveRows(session, cancelOpen, values, { inSameTransaction });
      return { canceled: rows.length, isEmpty: false, aftermath };
    },
    async cancelingRuns(limit, only) {
      return (await session.run(sql.findCanceling, [limit, only?.withdrawn ?? null])).map((row) => row.id as RunId);
    },
    async decidePrematerialized({ limit, fence }) {
      const [row] = await session.fenced(fence, decidePrematerialized, [limit]);
      return { decided: row?.decided ?? 0, withdrawn: row?.withdrawn ?? 0 };
    },
    signal: (runId, name, signaled) => session.transaction((tx) => signal(tx, runId, name, signaled)),
    resumeRun: (runId, options) => session.transaction((tx) => putBackRun(tx, runId, options)),
  } satisfies Partial<RunStore>;
}

async function startRun(tx: Tx, run: NewRun): Promise<StartedRun> {
  const { kind, key, version, sealed, tasks, starterId, parentId, onFailure, retentionMs, trace, shape, tolerate } =
    run;
  const continuation = run.continuation === null ? null : JSON.stringify(run.continuation);
  const input = JSON.stringify(run.input);
  const total = tasks.length;
  const means = [onFailure, retentionMs, trace, shape, tolerate, continuation];
  const values = [kind, key, version, sealed, total, starterId, parentId, input, ...means];
  const [inserted] = await execute(tx, sql.insertRun, values);
  if (inserted === undefined) {
    if (!sealed) await execute(tx, sql.reopenForStarter, [kind, key, starterId]);
    const [known] = await execute(tx, sql.findRun, [kind, key]);
    if (known === undefined) throw new Error(`run "${key}" of "${kind}" exists but cannot be seen: use READ COMMITTED`);
    return {
      runId: known.id as RunId,
      created: false,
      sealed: known.sealed,
      cursor: (known.cursor ?? null) as Json | null,
      input: known.input as Json,
      parentId: known.parent_id as RunId | null,
      aftermath: noAftermath,
    };
  }
  const { dispatched } = await insertTasks(tx, inserted.id, run);
  if (sealed && starterId !== null) await execute(tx, sql.passSlots, [starterId]);
  if (tasks.length === 0) await execute(tx, sql.nudgeRun, [inserted.id]);
  const runId = inserted.id as RunId;
  const ended = tasks.length === 0 ? [{ run_id: inserted.id }] : [];
  const aftermath = aftermathOf([...dispatched, ...ended]);
  return { runId, created: true, sealed, cursor: null, input: run.input, parentId, aftermath };
}

const notWritten: Paged = { written: false, created: 0, conflicts: 0, aftermath: noAftermath };

async function addPage(
  tx: Tx,
  runId: RunId,
  page: Parameters<RunStore["addPage"]>[1],
  dispatchWindowMs: number,
): Promise<Paged> {
  const may = await execute(tx, sql.lockForPage, [runId, page.by.jobId, page.by.attempt]);
  if (may.length === 0) return notWritten;
  const { results, aftermath } = await insertPage(tx, page.targets, { runId, dispatchWindowMs });
  const created = results.filter((result) => result.created).length;
  await execute(tx, sql.writePage, [runId, JSON.stringify(page.cursor), created]);
  const conflicts = results.filter(({ isConflict }) => isConflict).length;
  return { written: true, created, conflicts, aftermath };
}

async function signal(
  tx: Tx,
  runId: RunId,
  name: string,
  { payload, caller = null }: Parameters<RunStore["signal"]>[2],
): Promise<Signaled> {
  const [row] = await execute(tx, writeSignal, [runId, name, JSON.stringify(payload), caller]);
  if (row?.written !== true) return refused(row);
  const ids = [row.id];
  const rows = [
    ...(await execute(tx, runNow, [ids, caller, reasons.signal])),
    ...(await execute(tx, redispatchNow, [ids])),
  ];
  return { is: "taken", jobId: row.id as JobId, aftermath: aftermathOf(rows) };
}

function refused(row: SignaledRow | undefined): Signaled {
  if (row === undefined || !row.awaits_signal) return { is: "unknown" };
  const jobId = row.id as JobId;
  if (row.at !== null) return { is: row.same ? "repeated" : "conflict", jobId, at: row.at, by: row.by };
  return { is: "late", jobId, state: row.state, runState: row.run_state };
}
