import type { JobId, Json, RunId } from "../machine/job.ts";
import type { InSameTransaction, Moved, MovedRows, Tx } from "../machine/transaction.ts";
import { type Aftermath, type Message, noAftermath, type OutboxBatch, type OutMessage } from "../machine/outbox.ts";
import type { DispatchedRow } from "./sql/dispatch.ts";
import { isFinal } from "../machine/state.ts";
import type { Fence } from "../machine/fence.ts";
import type { Session } from "./session.ts";
import { readSettled } from "./sql/settle.ts";
import type { HookRow, MovedRow } from "./sql/rescue.ts";
import { execute, type Statement } from "./statement.ts";

/** The batches of a statement's rows, in the order of the rows. Rows without one are left out. */
export function outboxOf(rows: readonly DispatchedRow[]): readonly OutboxBatch[] {
  const byId = new Map<string, OutboxBatch & { messages: OutMessage[] }>();
  for (const row of rows) {
    if (row.batch === null) continue;
    let batch = byId.get(row.batch);
    if (batch === undefined) {
      batch = { id: row.batch, resent: row.resent ?? 0, lane: row.lane, messages: [] };
      byId.set(row.batch, batch);
    }
    batch.messages.push({
      jobId: row.id as JobId,
      generation: row.generation,
      trace: row.trace,
      delayMs: row.delay_ms,
    });
  }
  return [...byId.values()];
}

/** What a statement's rows say is left to do. */
interface Followed extends Partial<DispatchedRow> {
  readonly freed?: readonly string[] | null;
  /** Of a job of a run that ended. */
  readonly run_id?: string | null;
}

/** `run_id` counts only in rows whose job ended: the statement, or its caller, leaves it out elsewhere. */
export function aftermathOf(rows: readonly Followed[]): Aftermath {
  if (rows.length === 0) return noAftermath;
  return {
    ...noAftermath,
    outbox: outboxOf(rows.filter(isDispatched)),
    runs: [...new Set(rows.flatMap((row) => row.run_id ?? []))] as RunId[],
    freed: [...new Set(rows.flatMap((row) => row.freed ?? []))],
  };
}

const isDispatched = (row: Followed): row is DispatchedRow => row.batch !== undefined && row.batch !== null;

export const movedFrom = (row: HookRow): Moved => ({
  jobId: row.id as JobId,
  kind: row.kind,
  payload: row.payload as Json,
  state: row.state,
  attempt: row.attempt,
  errorCode: row.error_code,
  errorMessage: row.error_message,
});

/** By job, in id order: of several messages only the one with the newest generation can still change anything. */
export function newest(messages: readonly Pick<Message, "jobId" | "generation">[]): Map<JobId, number> {
  const generations = new Map<JobId, number>();
  for (const { jobId, generation } of messages.toSorted((a, b) => byId(a.jobId, b.jobId))) {
    generations.set(jobId, Math.max(generation, generations.get(jobId) ?? 0));
  }
  return generations;
}

/** The same as two columns, for `unnest`. */
export function newestColumns(messages: readonly Pick<Message, "jobId" | "generation">[]): [JobId[], number[]] {
  const generations = newest(messages);
  return [[...generations.keys()], [...generations.values()]];
}

/** Ids are decimal numbers, larger than JavaScript counts exactly. */
export const byId = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : Number(a > b));

/** Runs a statement that moves rows, and the hook in its transaction when it moved any. */
export async function moveRows(
  session: Session,
  statement: Statement<MovedRow>,
  values: unknown[],
  options: { fence?: Fence | undefined; inSameTransaction?: InSameTransaction | undefined },
): Promise<MovedRows> {
  const { fence, inSameTransaction } = options;
  if (inSameTransaction === undefined) return movedRows(await session.fenced(fence, statement, values));
  return await session.transaction(async (tx) => {
    const moved = movedRows(await execute(tx, statement, values));
    if (moved.rows.length > 0) await inSameTransaction(tx, await withRunInput(tx, moved.rows));
    return moved;
  }, fence);
}

/** A task of a graph has no payload: its hook gets its run's input, which takes one more read. */
async function withRunInput(tx: Tx, rows: readonly Moved[]): Promise<readonly Moved[]> {
  const ids = rows.filter((row) => row.payload === null).map((row) => row.jobId);
  if (ids.length === 0) return rows;
  const inputs = new Map((await movedOf(tx, ids)).map((row) => [row.jobId, row]));
  return rows.map((row) => ({ ...row, payload: inputs.get(row.jobId)?.payload ?? row.payload }));
}

const movedRows = (rows: readonly MovedRow[]): MovedRows => ({
  rows: rows.map(movedFrom),
  aftermath: aftermathOf(rows.map((row) => (isFinal(row.state) ? row : { ...row, run_id: null }))),
});

/** For a hook in the same transaction. */
export const movedOf = async (tx: Tx, ids: readonly string[]): Promise<readonly Moved[]> =>
  (await execute(tx, readSettled, [ids])).map(movedFrom);
