import type { JobId } from "../machine/job.ts";
import { type CellMap, type CellStore, cellLimits, checkCellMap } from "../machine/cell-map.ts";
import { CellMapChanged } from "../machine/fence.ts";
import { type InsertResult } from "../machine/store.ts";
import { type CallerTx } from "../machine/transaction.ts";
import { DatabaseUnfit } from "./failure.ts";
import type { Session } from "./session.ts";
import { lockMapShared, readCellMap, readIdSteps, writeCellMap } from "./sql/cell.ts";
import { lockFence } from "./sql/fence.ts";
import { findKeys, keyColumns } from "./sql/insert.ts";
import { setLockTimeout } from "./sql/transaction.ts";
import { execute } from "./statement.ts";

/** The name of the lock that writes hold shared and a move takes alone. */
const mapLock = "cell-map";
/** A move waits so long for writes under way, then gives up and may be repeated. */
const moveWaitMs = 10_000;

export function createCellStore(session: Pick<Session, "run" | "transaction">): CellStore {
  return {
    async map() {
      const [row] = await session.run(readCellMap);
      return row === undefined ? null : checkCellMap(row.map as CellMap);
    },
    async install(map) {
      const rows = await session.transaction(async (tx) => {
        await execute(tx, setLockTimeout, [`${moveWaitMs}ms`]);
        await execute(tx, lockFence, [mapLock]);
        return await execute(tx, writeCellMap, [map.version, JSON.stringify(map)]);
      });
      return rows.length === 1;
    },
    async find(jobs) {
      const answers: (InsertResult | null)[] = jobs.map(() => null);
      for (const { ord, id, conflicts } of await session.run(findKeys, keyColumns(jobs)))
        answers[Number(ord) - 1] = { id: id as JobId, created: false, isConflict: conflicts };
      return answers;
    },
  };
}

/**
 * Keeps a newer map out of this cell until the transaction ends. The check is a second statement: it must see what was
 * written while the first one waited. @throws CellMapChanged
 */
export async function holdCellMap(tx: CallerTx, version: number): Promise<void> {
  await execute(tx, lockMapShared, [mapLock]);
  const [row] = await execute(tx, readCellMap);
  if (row !== undefined && row.version <= version) return;
  const has = row === undefined ? "has no cell map" : `is at version ${row.version} of the cell map`;
  throw new CellMapChanged(`this cell ${has}, and the job was routed by version ${version}: nothing was written`);
}

/** Sequences of what the API addresses by a number. */
const stepped = ["job_id_seq", "run_id_seq", "bulk_id_seq", "audit_id_seq"] as const;

/** From now on ids tell the cell, by its number 0 to 63. @throws DatabaseUnfit when they tell another one already. */
export async function stepIds(tx: CallerTx, number: number): Promise<void> {
  const [now] = await execute(tx, readIdSteps);
  if (now?.step === cellLimits.cellsMax && now.rest === number) return;
  if (now?.step === cellLimits.cellsMax) {
    throw new DatabaseUnfit(
      `BELFRY_CELL is ${number}; ids of this database tell cell ${now.rest}, which never changes: correct the setting`,
    );
  }
  for (const name of stepped) {
    await tx.query(
      `alter sequence belfry.${name} increment by ${cellLimits.cellsMax} start with ${cellLimits.firstId + number} restart`,
    );
  }
}
