import { limits } from "../../core/limits.ts";
import type { Operations } from "../../core/ports/operations.ts";
import { durationBuckets } from "../../core/ports/overview.ts";
import type { Session } from "./session.ts";
import { addUp, createRollUp, findRollUpEnd, lockRollUp, readKindTotals, readMinutes } from "./sql/rollup.ts";
import { execute } from "./statement.ts";

type RollUpStore = Pick<Operations, "minutes" | "kindTotals" | "rollUp">;

/** Counts by the minute and totals by kind, added up from the events. */
export function rollUpStore(session: Session): RollUpStore {
  return {
    async minutes({ since, kind, lane }) {
      const rows = await session.run(readMinutes, [since, kind, lane, limits.minutesShownMax]);
      return rows.map(({ run_ms, ...row }) => ({ ...row, runMs: run_ms }));
    },
    async kindTotals() {
      const rows = await session.run(readKindTotals, [limits.kindsShownMax]);
      return rows.map((row) => ({
        kind: row.kind,
        tries: row.tries,
        seconds: row.seconds,
        buckets: row.buckets,
        itemsProcessed: row.items_processed,
        itemsSucceeded: row.items_succeeded,
        itemsFailed: row.items_failed,
        locksAcquired: row.locks_acquired,
        locksFailed: row.locks_failed,
      }));
    },
    rollUp: (limit) => rollUp(session, limit),
  };
}

/** The counts and how far they go are one transaction: an event is added up exactly once, whoever dies. */
async function rollUp(session: Session, limit: number): Promise<number> {
  return await session.transaction(async (tx) => {
    await execute(tx, createRollUp);
    const [reader] = await execute(tx, lockRollUp);
    if (reader === undefined || BigInt(reader.xmin) <= BigInt(reader.upto)) return 0;
    const [end] = await execute(tx, findRollUpEnd, [reader.upto, reader.xmin, limit]);
    const [added] = await execute(tx, addUp, [reader.upto, end?.upto ?? reader.xmin, durationBuckets]);
    return added?.events ?? 0;
  });
}
