import { isFinal } from "../machine/state.ts";
import type { Fence } from "../machine/fence.ts";
import type { InSameTransaction, Moved, MovedRows, Tx } from "../machine/transaction.ts";
import { aftermathOf, movedFrom } from "./outbox.ts";
import type { Session } from "./session.ts";
import { movedOf } from "./settle-store.ts";
import type { MovedRow } from "./sql/rescue.ts";
import { execute, type Statement } from "./statement.ts";

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
