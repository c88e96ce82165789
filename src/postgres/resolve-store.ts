import type { RunId } from "../machine/job.ts";
import { runLimits } from "../machine/run-limits.ts";
import { type Aftermath, noAftermath, mergeAftermaths } from "../machine/outbox.ts";
import { type Fence } from "../machine/fence.ts";
import { type Resolved, type RunStore } from "../machine/run.ts";
import { aftermathOf } from "./outbox.ts";
import type { Session } from "./session.ts";
import {
  addUpJoins,
  addUpRuns,
  countUncounted,
  lookAtRuns,
  lookAtWindow,
  type ReleasedRow,
  skipStopped,
} from "./sql/resolve.ts";
import { freePassedSlots, sealOrphans } from "./sql/run.ts";
import { writePlace } from "./sql/pass-place.ts";
import type { Statement } from "./statement.ts";

/**
 * One round: a read without locks, then only the statements that have work, each in its own transaction, so that locks are
 * short and taken in one order. A new read afterwards sees what was appended by statements that found a lock taken. If the
 * first read found nothing, no lock was taken and nothing can have been missed.
 */
export function resolveStore(session: Session) {
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
        if (run.lane !== null) parts.push({ ...noAftermath, leftToRelay: [run.lane] });
        const { state } = run;
        if (state !== "RUNNING" && state !== "CANCELING")
          closed.push({ runId: run.id as RunId, kind: run.kind, state });
      }
      if (open.stops !== null) steps += (await session.fenced(fence, skipStopped, [open.stops, limit])).length;
      const freed = closed.length > 0 || asked === null ? await session.fenced(fence, freePassedSlots, []) : [];
      parts.push({ ...noAftermath, freed: freed.map((row) => row.key) });
      const more = isOpen(open) && isOpen(await look(session, asked));
      // What another process has locked does not keep the pass at this window.
      const isDone = asked === null && (!more || steps === 0) && open.next !== open.behind;
      if (isDone) await session.fenced(fence, writePlace, ["resolve", open.next]);
      return { steps, more, closed, aftermath: mergeAftermaths(parts) };
    },
  } satisfies Partial<RunStore>;
}

const noSteps: Resolved = { steps: 0, more: false, closed: [], aftermath: noAftermath };

type Open = NonNullable<typeof lookAtRuns.answers>;

const noneOpen: Open = { ends: false, joins: false, orphans: false, sums: null, stops: null, behind: "", next: "" };

async function look(session: Session, runs: readonly RunId[] | null): Promise<Open> {
  const { runDeltasMax, passRunsMax, summedRunsMax } = runLimits;
  const bounds = [runDeltasMax, summedRunsMax, passRunsMax];
  const [open] =
    runs === null ? await session.run(lookAtWindow, bounds) : await session.run(lookAtRuns, [...bounds, runs]);
  return open ?? noneOpen;
}

const isOpen = (open: Open): boolean =>
  open.ends || open.joins || open.orphans || open.sums !== null || open.stops !== null;

const addUp = async (session: Session, fence: Fence | undefined, runs: readonly string[] | null) =>
  runs === null ? [] : await session.fenced(fence, addUpRuns, [runs]);
