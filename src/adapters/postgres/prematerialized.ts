import type { RunId } from "../../core/job/job.ts";
import { runLimits } from "../../core/ports/run-limits.ts";
import type { Inserted, NewTarget, RunStore, Tx } from "../../core/ports/ports.ts";
import type { ScheduleSpec } from "../../core/ports/schedule.ts";
import { isWithdrawn } from "../../core/scheduler/prematerialized.ts";
import { insertTargetsInto } from "./enqueue-store.ts";
import { mergeAftermaths } from "../../core/ports/aftermath.ts";
import type { Session } from "./session.ts";
import { cancelOpen } from "./sql/control.ts";
import {
  decidePrematerialized,
  findPrematerialized,
  freeWithdrawnKeys,
  withdrawPrematerialized,
} from "./sql/prematerialized.ts";
import { execute } from "./statement.ts";

export function prematerializedStore(session: Session): Pick<RunStore, "decidePrematerialized"> {
  return {
    async decidePrematerialized({ limit, fence }) {
      const [row] = await session.fenced(fence, decidePrematerialized, [null, limit, 0]);
      return { decided: row?.decided ?? 0, withdrawn: row?.withdrawn ?? 0 };
    },
  };
}

/**
 * Before a change of these schedules: decides prematerialized runs whose time has come, or comes before the change is
 * committed for certain, by the schedules as they are. Else the change would meet some of a run's targets and not the others.
 */
export async function decidePrematerializedOf(tx: Tx, ids: readonly string[]): Promise<void> {
  await execute(tx, decidePrematerialized, [ids, runLimits.prematerializedRunsMax, runLimits.prematerializedMarginMs]);
}

/** Withdraws prematerialized runs for times that `next` does not have. The schedules' rows are locked. */
export async function withdrawOutdated(
  tx: Tx,
  ids: readonly string[],
  next: (id: string) => ScheduleSpec | null,
): Promise<void> {
  const written = await execute(tx, findPrematerialized, [ids]);
  const doomed = written.filter((row) =>
    isWithdrawn({ spec: row.spec as ScheduleSpec, nominalAt: row.nominal_at }, next(row.schedule_id)),
  );
  if (doomed.length === 0) return;
  const starters = doomed.map((row) => row.job_id);
  await execute(tx, withdrawPrematerialized, [starters]);
  await execute(tx, cancelOpen, [starters, "withdrawn", false, null]);
}

/**
 * A page of targets. A key of a target that was withdrawn before it ran is written again.
 * @throws Error while such a target is not CANCELED yet: the attempt that writes the page is repeated.
 */
export async function insertPage(
  tx: Tx,
  targets: readonly NewTarget[],
  options: { runId: RunId; dispatchWindowMs: number },
): Promise<Inserted> {
  const first = await insertTargetsInto(tx, targets, options);
  const known = first.results.flatMap((result) => (result.created ? [] : [result.id]));
  const free =
    known.length === 0 ? [] : await execute(tx, freeWithdrawnKeys, [known, runLimits.withdrawnKeyCharactersMax]);
  if (free.length === 0) return first;
  const open = free.find((row) => row.is_open);
  if (open !== undefined) throw new Error(`job ${open.id}, which has this key, is still being withdrawn`);
  const again = await insertTargetsInto(tx, targets, options);
  const results = again.results.map((result, place) =>
    first.results[place]?.created === true ? first.results[place] : result,
  );
  return { results, aftermath: mergeAftermaths([first.aftermath, again.aftermath]) };
}
