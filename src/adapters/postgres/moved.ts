import type { JobId, Json } from "../../core/job.ts";
import type { Fence, InSameTransaction, Moved, MovedRows } from "../../core/ports.ts";
import { handoffsOf } from "./handoffs.ts";
import type { Session } from "./session.ts";
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
    if (moved.rows.length > 0) await inSameTransaction(tx, moved.rows);
    return moved;
  }, fence);
}

const movedRows = (rows: readonly MovedRow[]): MovedRows => ({
  rows: rows.map((row): Moved => ({
    jobId: row.id as JobId,
    kind: row.kind,
    payload: row.payload as Json,
    state: row.state,
    attempt: row.attempt,
    errorCode: row.error_code,
    errorMessage: row.error_message,
  })),
  handoffs: handoffsOf(rows),
  freed: [...new Set(rows.flatMap((row) => row.freed ?? []))],
});
