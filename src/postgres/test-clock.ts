import type { Tx } from "../machine/transaction.ts";
import { execute } from "./statement.ts";
import { createTestClock, moveTestClock, rateTestClock } from "./sql/test-clock.ts";

export interface TestClock {
  /** Moves now forward. */
  advance(ms: number): Promise<void>;
  /** From now on time passes `rate` times as fast; 0 stands still. Now itself does not jump. */
  set(rate: number): Promise<void>;
}

/**
 * Replaces the bodies of `belfry.now()`, `clock()` and `waited()` by ones that read a one-row table. Never in production: any
 * role that may write the table would own time, and each reading costs a look at it.
 * @throws Error unless the caller says that this database is for tests.
 */
export async function installTestClock(tx: Tx, options: { thisIsATestDatabase: boolean }): Promise<TestClock> {
  if (!options.thisIsATestDatabase) {
    throw new Error("the test clock is refused: pass { thisIsATestDatabase: true } only for a database you may lose");
  }
  await execute(tx, createTestClock);
  return testClock(tx);
}

/** The handle of a clock that is installed already. */
export const testClock = (tx: Tx): TestClock => ({
  async advance(ms) {
    await execute(tx, moveTestClock, [ms]);
  },
  async set(rate) {
    await execute(tx, rateTestClock, [rate]);
  },
});
