import type { RunId } from "../machine/job.ts";
import { runLimits } from "../machine/run-limits.ts";
import type { Inserted } from "../machine/store.ts";
import type { NewTarget } from "../machine/run.ts";
import type { Tx } from "../machine/transaction.ts";
import type { ScheduleSpec } from "../machine/schedule.ts";
import { isWithdrawn } from "../schedule/prematerialized.ts";
import { insertTargetsInto } from "./enqueue-store.ts";
import { mergeAftermaths } from "../machine/outbox.ts";
import { DatabaseError } from "./failure.ts";
import { cancelOpen } from "./sql/control.ts";
import * as sql from "./sql/prematerialized.ts";
import { selectNow } from "./sql/transaction.ts";
import { execute } from "./statement.ts";

/**
 * Makes a change of these schedules that meets all targets of a prematerialized run or none: runs whose time has come, or comes
 * within the margin, are decided first, by the schedules as they are.
 * @throws DatabaseError that is retried, when the change took so long that another such time has come beside it.
 */
export async function changeInTime<T>(tx: Tx, ids: readonly string[], change: () => Promise<T>): Promise<T> {
  const { prematerializedRunsMax, prematerializedMarginMs, changeCommitMs } = runLimits;
  const [decided] = await execute(tx, sql.decideBeforeChange, [ids, prematerializedRunsMax, prematerializedMarginMs]);
  const value = await change();
  const nextAt = decided?.next_at ?? null;
  if (nextAt === null) return value;
  const [end] = await execute(tx, selectNow);
  if (end === undefined || end.now + changeCommitMs > nextAt)
    throw new DatabaseError("the change of a schedule met a nominal time whose targets are written", { code: "40001" });
  return value;
}

/** Withdraws prematerialized runs for times that `next` does not have. The schedules' rows are locked. */
export async function withdrawOutdated(
  tx: Tx,
  ids: readonly string[],
  next: (id: string) => ScheduleSpec | null,
): Promise<void> {
  const written = await execute(tx, sql.findPrematerialized, [ids]);
  const doomed = written.filter((row) =>
    isWithdrawn({ spec: row.spec as ScheduleSpec, nominalAt: row.nominal_at }, next(row.schedule_id)),
  );
  if (doomed.length === 0) return;
  const starters = doomed.map((row) => row.job_id);
  await execute(tx, sql.withdrawPrematerialized, [starters]);
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
    known.length === 0 ? [] : await execute(tx, sql.freeWithdrawnKeys, [known, runLimits.withdrawnKeyCharactersMax]);
  if (free.length === 0) return first;
  const open = free.find((row) => row.is_open);
  if (open !== undefined) throw new Error(`job ${open.id}, which has this key, is still being withdrawn`);
  const again = await insertTargetsInto(tx, targets, options);
  const results = again.results.map((result, place) =>
    first.results[place]?.created === true ? first.results[place] : result,
  );
  return { results, aftermath: mergeAftermaths([first.aftermath, again.aftermath]) };
}
