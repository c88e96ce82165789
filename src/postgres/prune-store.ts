import { postgresLimits } from "./postgres-limits.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { insightLimits } from "../insight/insight-limits.ts";
import { runLimits } from "../machine/run-limits.ts";
import type { Fence } from "../machine/fence.ts";
import type { Store } from "../machine/store.ts";
import { isLockTimeout } from "./failure.ts";
import type { Session } from "./session.ts";
import * as sql from "./sql/prune.ts";
import { forgetBursts } from "./sql/debounce.ts";
import { forgetTurns } from "./sql/turn.ts";

/** @param archives whether what the archive takes is left to it: see `archive-source.ts`. */
export function pruneStore(session: Session, archives: boolean) {
  const refused = new Set<string>();
  return {
    async prune({ limit, fence }) {
      const deleted = archives ? { jobs: 0, occurrences: 0 } : await pruneArchivable(session, limit, fence);
      await session.fenced(fence, sql.pruneQuarantine, [contractLimits.retentionMsDefault, limit]);
      const { requestKeysMs, requestKeysMax } = insightLimits;
      await session.fenced(fence, sql.prunePast, [contractLimits.historyMs, limit, requestKeysMs, requestKeysMax]);
      const { historyMs, usageMs } = contractLimits;
      await session.fenced(fence, sql.pruneCounts, [historyMs, insightLimits.hourCountsMs, limit, usageMs]);
      await session.fenced(fence, sql.forgetKeys, [postgresLimits.keyForgottenMs, limit]);
      await session.fenced(fence, forgetTurns, [limit]);
      await session.fenced(fence, forgetBursts, [postgresLimits.keyForgottenMs, limit]);
      return { ...deleted, partitions: await turnPartitions(session, refused, { fence, drops: !archives }) };
    },
  } satisfies Partial<Store>;
}

async function pruneArchivable(
  session: Session,
  limit: number,
  fence: Fence | undefined,
): Promise<{ readonly jobs: number; readonly occurrences: number }> {
  const jobs = await session.fenced(fence, sql.pruneJobs, [limit]);
  const [ofRuns] = await session.fenced(fence, sql.pruneRuns, [limit, runLimits.prunedRunsMax]);
  const [past] = await session.fenced(fence, sql.pruneOccurrences, [contractLimits.historyMs, limit]);
  await session.fenced(fence, sql.pruneAudit, [limit]);
  await session.fenced(fence, sql.pruneRest, [contractLimits.historyMs, limit]);
  return { jobs: jobs.length + (ofRuns?.jobs ?? 0), occurrences: past?.pruned ?? 0 };
}

/**
 * Makes the next days' partitions and drops those past the history's retention. Each step waits at most half a second for
 * its lock; the next prune repeats it. @returns the number dropped.
 */
export async function turnPartitions(
  session: Pick<Session, "run" | "fenced">,
  refused: Set<string>,
  { fence, drops }: { readonly fence?: Fence | undefined; readonly drops: boolean },
): Promise<number> {
  let dropped = 0;
  for (const { parent, day, action } of await session.run(sql.partitionWork, [
    postgresLimits.partitionDaysAhead,
    contractLimits.historyMs,
  ])) {
    if (refused.has(`${parent}_${day}`) || (action === "drop" && !drops)) continue;
    try {
      if (action === "drop") {
        await session.fenced(fence, sql.dropPartition, [parent, day]);
        dropped += 1;
      } else {
        const [row] = await session.fenced(fence, sql.makePartition, [parent, day]);
        if (row?.made !== true) refused.add(`${parent}_${day}`);
      }
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
    }
  }
  return dropped;
}
