import { deepStrictEqual } from "node:assert/strict";
import { backfillGate } from "../../src/admission/backfill.ts";
import { readJudgedTimes } from "../../src/insight/objectives.ts";
import type { Database } from "../../src/insight/sql-query.ts";
import type { ScheduleRow } from "../../src/machine/schedule.ts";
import type { ReferenceStore } from "../support/reference-store.ts";
import type { OccurrenceRow } from "../support/reference/rows.ts";
import type { Pair } from "./pair.ts";
import { scheduleIds } from "./schedule-commands.ts";

const promises = [
  { onTimeMs: 30_000, endsWithinMs: null },
  { onTimeMs: null, endsWithinMs: 90_000 },
] as const;
type Promised = (typeof promises)[number];
const overMs = 28 * 24 * 3_600_000;
const noFault = ["paused", "disabled", "excluded", "dst-gap", "deleted", "withdrawn", "canceled"];

/** Postgres judges the times of each schedule by an objective as a count by hand over the reference store's rows does. */
export async function expectEqualObjectives({ oracle }: Pair, insight: Database): Promise<void> {
  const now = await oracle.now();
  for (const promised of promises) {
    const objective = { ...promised, share: 0.99, overMs };
    const rows = scheduleIds.map((id) => ({ id, spec: { objective } }) as unknown as ScheduleRow);
    const judged = await insight.run(readJudgedTimes, { rows, isWhole: true });
    const counts = Object.fromEntries(judged.map(({ schedule, times, missed }) => [schedule, [times[0], missed[0]]]));
    deepStrictEqual(counts, Object.fromEntries(scheduleIds.map((id) => [id, byHand(oracle, id, promised, now)])));
  }
}

function byHand({ tables }: ReferenceStore, id: string, promised: Promised, now: number): [number, number] {
  const { onTimeMs, endsWithinMs } = promised;
  const until = now - Math.max(onTimeMs ?? 0, endsWithinMs ?? 0);
  const counted = [...tables.occurrences.values()].filter((time) => {
    const due = time.effectiveAt ?? time.nominalAt;
    const isIn = time.scheduleId === id && time.nominalAt <= until && due <= until && due > until - overMs;
    return (
      isIn &&
      !(time.outcome === "SKIPPED" && noFault.includes(time.reason ?? "")) &&
      !isOfPeople(tables, time, endsWithinMs)
    );
  });
  const missed = counted.filter((time) => {
    if (time.outcome === "COALESCED" || time.outcome === "SKIPPED") return true;
    if (onTimeMs !== null) return time.latenessMs === null || time.latenessMs > onTimeMs;
    const { state, finishedAt } = endOf(tables, time);
    const isGood = state === "DONE" || state === "SUCCESS";
    return !isGood || (finishedAt ?? 0) > (time.effectiveAt ?? time.nominalAt) + (endsWithinMs ?? 0);
  });
  return [counted.length, missed.length];
}

type Tables = ReferenceStore["tables"];

/** The run that its job started, or the job. */
function endOf({ runs, jobs }: Tables, { jobId }: OccurrenceRow) {
  const run = jobId === null ? undefined : [...runs.values()].findLast(({ starterId }) => starterId === jobId);
  const job = jobId === null ? undefined : jobs.get(jobId);
  return { run, job, state: run?.state ?? job?.state, finishedAt: run?.finishedAt ?? job?.finishedAt ?? null };
}

/** Backfilled by a caller, or canceled by one: only an end that is promised is looked at for that. */
function isOfPeople(tables: Tables, time: OccurrenceRow, endsWithinMs: number | null): boolean {
  const { run, job } = endOf(tables, time);
  const isLooked = endsWithinMs !== null || time.catchUp;
  if (isLooked && job?.slotKeys.includes(`${backfillGate.prefix}:${time.scheduleId}`) === true) return true;
  if (!isLooked || (time.outcome !== "FIRED" && time.outcome !== "CAUGHT_UP")) return false;
  if (endsWithinMs !== null && run !== undefined)
    return run.state === "CANCELED" && !/^schedule .*, its time /.test(run.canceledBy ?? "");
  const isStopped = job?.state === "CANCELED" || job?.state === "SKIPPED";
  return isStopped && tables.history.rows.findLast(({ jobId }) => jobId === job.id)?.reason === "canceled";
}
