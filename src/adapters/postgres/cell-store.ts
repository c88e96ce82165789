import { hash } from "node:crypto";
import type { JobId } from "../../core/job/job.ts";
import { type CellMap, type CellStore, cellLimits, checked } from "../../core/ports/cell-map.ts";
import { CellMapChanged, type InsertResult, type StoreTx, type Tx } from "../../core/ports/ports.ts";
import { DatabaseUnfit } from "./failure.ts";
import type { Session } from "./session.ts";
import { lockMove, readCellMap, readIdSteps, writeCellMap } from "./sql/cell.ts";
import { lockFence, lockFenceShared } from "./sql/fence.ts";
import { findKeys } from "./sql/insert.ts";
import { setLockTimeout } from "./sql/transaction.ts";
import { columns, execute } from "./statement.ts";

/** The name of the lock that writes hold shared and a move takes alone. */
const mapLock = "cell-map";
/** A move waits so long for writes under way, then gives up and may be repeated. */
const moveWaitMs = 10_000;

export function createCellStore(session: Pick<Session, "run" | "transaction">): CellStore {
  return {
    async map() {
      const [row] = await session.run(readCellMap);
      return row === undefined ? null : checked(row.map as CellMap);
    },
    async install(map) {
      await session.transaction(async (tx) => {
        await execute(tx, setLockTimeout, [`${moveWaitMs}ms`]);
        await execute(tx, lockFence, [mapLock]);
        await execute(tx, writeCellMap, [map.version, JSON.stringify(map)]);
      });
    },
    async find(jobs) {
      const answers: (InsertResult | null)[] = jobs.map(() => null);
      const given = columns(
        jobs,
        ({ kind }) => kind,
        ({ key }) => key,
      );
      for (const { ord, id, hash: existing } of await session.run(findKeys, given)) {
        const at = Number(ord) - 1;
        const own = hash("sha256", jobs[at]?.canonicalInput ?? "", "hex");
        answers[at] = { id: id as JobId, created: false, isConflict: existing !== own };
      }
      return answers;
    },
    alone: (work) =>
      session.transaction(async (tx: StoreTx) => {
        const [row] = await execute(tx, lockMove);
        if (row?.is_free !== true)
          throw new RangeError("another process moves a range of the cell map: wait for its end");
        return await work();
      }),
  };
}

/**
 * Keeps a newer map out of this cell until the transaction ends. The check is a second statement: it must see what was
 * written while the first one waited. @throws CellMapChanged
 */
export async function holdCellMap(tx: Tx, version: number): Promise<void> {
  await execute(tx, lockFenceShared, [mapLock]);
  const [row] = await execute(tx, readCellMap);
  if (row !== undefined && row.version <= version) return;
  const has = row === undefined ? "has no cell map" : `is at version ${row.version} of the cell map`;
  throw new CellMapChanged(`this cell ${has}, and the job was routed by version ${version}: nothing was written`);
}

/** Sequences of what the API addresses by a number. */
const stepped = ["job_id_seq", "run_id_seq", "bulk_id_seq", "audit_id_seq"] as const;

/** From now on ids tell the cell, by its number 0 to 63. @throws DatabaseUnfit when they tell another one already. */
export async function stepIds(tx: Tx, number: number): Promise<void> {
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
