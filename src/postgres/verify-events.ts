import type { Tx } from "../machine/transaction.ts";
import { createEventCheck } from "./sql/verify-events.ts";
import { execute } from "./statement.ts";

/**
 * From now on a statement of this database that moves a job without the event row it names fails, and one that writes an event
 * whose id it did not draw by `next_event`. For tests.
 * @throws Error unless the caller says that this database is for tests.
 */
export async function installEventCheck(tx: Tx, options: { thisIsATestDatabase: boolean }): Promise<void> {
  if (!options.thisIsATestDatabase) {
    throw new Error("the event check is refused: pass { thisIsATestDatabase: true } only for a database you may lose");
  }
  await execute(tx, createEventCheck);
}
