import type { RunId } from "../../core/job/job.ts";
import { runLimits } from "../../core/ports/run-limits.ts";
import { type Aftermath, type Fence, noAftermath, type Resolved, type RunStore } from "../../core/ports/ports.ts";
import { aftermathOf } from "./outbox.ts";
import { mergeAftermaths } from "../../core/ports/aftermath.ts";
import type { Session } from "./session.ts";
import { addUpJoins, addUpRuns, countUncounted, lookAtRuns, type ReleasedRow, skipStopped } from "./sql/resolve.ts";
import { freePassedSlots, sealOrphans } from "./sql/run.ts";
import type { Statement } from "./statement.ts";

/**
 * One round: a read without locks, then only the statements that have work, each in its own transaction, so that locks are
 * short and taken in one order. A new read afterwards sees what was appended by statements that found a lock taken. If the
 * first read found nothing, no lock was taken and nothing can have been missed.
 */
export function resolveStore(session: Session): Pick<RunStore, "resolve"> {
  return {
    async resolve({ runs, limit, fence }) {
      const asked = runs === "all" ? null : runs;
      const open = await look(session, asked);
      if (!isOpen(open) && asked !== null) return noSteps;
      let steps = 0;
      const parts: Aftermath[] = [];
      const closed: Resolved["closed"][number][] = [];
      const release = async (statement: Statement<ReleasedRow>): Promise<void> => {
        const rows = await session.fenced(fence, statement, [asked, limit, session.dispatchWindowMs]);
        steps += rows[0]?.taken ?? 0;
        parts.push(aftermathOf(rows));
      };
      if (open.orphans) steps += (await session.fenced(fence, sealOrphans, [limit])).length;
      if (open.ends) await release(countUncounted);
      if (open.joins) await release(addUpJoins);
      for (const run of await addUp(session, fence, open.sums)) {
        steps += 1;
        const { state } = run;
        if (state !== "RUNNING" && state !== "CANCELING")
          closed.push({ runId: run.id as RunId, kind: run.kind, state });
      }
      if (open.stops !== null) steps += (await session.fenced(fence, skipStopped, [open.stops, limit])).length;
      const freed = closed.length > 0 || asked === null ? await session.fenced(fence, freePassedSlots, []) : [];
      parts.push({ ...noAftermath, freed: freed.map((row) => row.key) });
      const more = isOpen(open) && isOpen(await look(session, asked));
      return { steps, more, closed, aftermath: mergeAftermaths(parts) };
    },
  };
}

const noSteps: Resolved = { steps: 0, more: false, closed: [], aftermath: noAftermath };

type Open = Awaited<ReturnType<typeof look>>;

async function look(session: Session, runs: readonly RunId[] | null) {
  const [open] = await session.run(lookAtRuns, [runs, runLimits.runDeltasMax]);
  return open ?? { ends: false, joins: false, orphans: false, sums: null, stops: null };
}

const isOpen = (open: Open): boolean =>
  open.ends || open.joins || open.orphans || open.sums !== null || open.stops !== null;

const addUp = async (session: Session, fence: Fence | undefined, runs: readonly string[] | null) =>
  runs === null ? [] : await session.fenced(fence, addUpRuns, [runs]);
