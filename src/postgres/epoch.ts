import type { Tx } from "../machine/transaction.ts";
import { DatabaseUnfit } from "./failure.ts";
import type { Session } from "./session.ts";
import { carryReaders, type Epoch, moveRollUp, readEpoch, renewEpoch, type RenewedRow } from "./sql/epoch.ts";
import { addUp, addUpOf, lockRollUp } from "./sql/rollup.ts";
import { execute } from "./statement.ts";

/**
 * The epoch of the events here. A server that the newest epoch does not know begins the next one: after a restore in time, a
 * failover to a copy, a move. @throws DatabaseUnfit when a move left the sequences behind.
 */
export async function currentEpoch(session: Pick<Session, "run" | "transaction">): Promise<Epoch> {
  const [known] = await session.run(readEpoch);
  if (known?.is_here === true) return known;
  const renewed = await session.transaction((tx) => beginEpoch(tx, { isRestored: false }));
  if (renewed !== null) return renewed;
  const [newest] = await session.run(readEpoch);
  if (newest === undefined) throw new DatabaseUnfit("the table belfry.epoch is empty: restore it with the others");
  return newest;
}

/**
 * In the caller's transaction. `isRestored`: also on the same server, because a copy of its disks took its place. The readers
 * in the books of a restored database go on; on another server, what the roll-up had not added up is added up now, and the
 * publisher gets a gap notice. @returns null when the epoch is current.
 */
export async function beginEpoch(tx: Tx, { isRestored }: { isRestored: boolean }): Promise<RenewedRow | null> {
  const [begun] = await execute(tx, renewEpoch, [isRestored]);
  if (begun === undefined) return null;
  if (!begun.is_ahead) {
    throw new DatabaseUnfit(
      "the sequences did not come along with the rows of this database: run `npx belfry migrate`",
    );
  }
  if (!begun.is_moved) {
    await execute(tx, carryReaders, [begun.was, begun.name]);
    return begun;
  }
  const [rollUp] = await execute(tx, lockRollUp);
  if (rollUp !== undefined && begun.xid_end !== null) {
    const from = rollUp.upto;
    if (BigInt(from) < BigInt(begun.xid_end)) {
      await execute(tx, addUp, addUpOf({ from, upto: begun.xid_end, first: begun.was_first }));
    }
  }
  await execute(tx, moveRollUp);
  return begun;
}
