import { durationBuckets } from "../insight/kind-totals.ts";
import type { Tally } from "../machine/ports.ts";
import { currentEpoch } from "./epoch.ts";
import type { Session } from "./session.ts";
import * as sql from "./sql/rollup.ts";
import { execute } from "./statement.ts";

/** Counts by the minute and the hour and totals by kind, added up from the events. */
export const createTally = (session: Session): Tally => ({
  async countBatches({ kind, lane }, { processed, succeeded, failed }) {
    await session.run(sql.writeBatchCount, [kind, lane, processed, succeeded, failed]);
  },
  /** Counts and position are written in one transaction, so an event is added up exactly once, even after a crash. */
  async rollUp(limit) {
    const { first_event_id: first } = await currentEpoch(session);
    const [look] = await session.run(sql.isRollUpIdle);
    if (look?.idle === true) return 0;
    return await session.transaction(async (tx) => {
      await execute(tx, sql.createRollUp);
      const [reader] = await execute(tx, sql.lockRollUp);
      if (reader === undefined || BigInt(reader.xmin) <= BigInt(reader.upto)) return 0;
      const [end] = await execute(tx, sql.findRollUpEnd, [reader.upto, reader.xmin, limit, first]);
      const [added] = await execute(
        tx,
        sql.addUp,
        sql.addUpOf({ from: reader.upto, upto: end?.upto ?? reader.xmin, first }),
      );
      await execute(tx, sql.addUpBatches, [limit, durationBuckets.length + 1]);
      return added?.events ?? 0;
    });
  },
});
