import { operationsLimits } from "../../core/ports/operations-limits.ts";
import type { Operations } from "../../core/ports/operations.ts";
import { durationBuckets } from "../../core/ports/overview.ts";
import { addUpTo } from "./add-up.ts";
import { currentEpoch } from "./epoch.ts";
import type { Session } from "./session.ts";
import {
  addUpBatches,
  createRollUp,
  findRollUpEnd,
  lockRollUp,
  readKindTotals,
  readMinutes,
  writeBatchCount,
} from "./sql/rollup.ts";
import { readKindHours } from "./sql/kind-hours.ts";
import { execute } from "./statement.ts";

type RollUpStore = Pick<Operations, "minutes" | "kindTotals" | "kindHours" | "rollUp" | "countBatches">;

/** Counts by the minute and totals by kind, added up from the events. */
export function rollUpStore(session: Session): RollUpStore {
  return {
    minutes: ({ since, kinds, lane }) =>
      session.run(readMinutes, [since, kinds, lane, operationsLimits.minutesShownMax]),
    async kindTotals() {
      const rows = await session.run(readKindTotals, [operationsLimits.kindsShownMax]);
      return rows.map((row) => ({
        kind: row.kind,
        attempts: { count: row.attempts, seconds: row.seconds, buckets: row.buckets },
        failedAttempts: { count: sum(row.failed_buckets), seconds: row.failed_seconds, buckets: row.failed_buckets },
        starts: { count: sum(row.late_buckets), seconds: row.late_seconds, buckets: row.late_buckets },
        created: row.created,
        succeeded: row.succeeded,
        failed: row.failed,
        retried: row.retried,
        lost: row.lost,
        released: row.released,
        canceled: row.canceled,
        skipped: row.skipped,
        itemsProcessed: row.items_processed,
        itemsSucceeded: row.items_succeeded,
        itemsFailed: row.items_failed,
        locksAcquired: row.locks_acquired,
        locksFailed: row.locks_failed,
      }));
    },
    async kindHours({ now, before, kind, lane }) {
      const periods = [now.from, now.to, before.from, before.to];
      const rows = await session.run(readKindHours, [...periods, kind, lane, operationsLimits.kindFigureRowsMax]);
      return rows.map(({ is_before, ...row }) => ({ ...row, isBefore: is_before }));
    },
    async countBatches({ kind, lane }, { processed, succeeded, failed }) {
      await session.run(writeBatchCount, [kind, lane, processed, succeeded, failed]);
    },
    rollUp: (limit) => rollUp(session, limit),
  };
}

/** Counts and position are written in one transaction, so an event is added up exactly once, even after a crash. */
async function rollUp(session: Session, limit: number): Promise<number> {
  const { first_event_id: first } = await currentEpoch(session);
  return await session.transaction(async (tx) => {
    await execute(tx, createRollUp);
    const [reader] = await execute(tx, lockRollUp);
    if (reader === undefined || BigInt(reader.xmin) <= BigInt(reader.upto)) return 0;
    const [end] = await execute(tx, findRollUpEnd, [reader.upto, reader.xmin, limit, first]);
    const events = await addUpTo(tx, { from: reader.upto, upto: end?.upto ?? reader.xmin, first });
    await execute(tx, addUpBatches, [limit, durationBuckets.length + 1]);
    return events;
  });
}

const sum = (buckets: readonly number[]): number => buckets.reduce((total, count) => total + count, 0);
