import type { ChainPage, FollowedTime } from "../../../src/machine/schedule.ts";
import { isFinal } from "../../../src/machine/state.ts";
import type { OccurrenceRow, RunRow } from "./rows.ts";
import { scheduleRow } from "./schedules.ts";
import { occurrenceKey, type Tables } from "./tables.ts";

/** What a tick may decide of these chains, by a walk over the whole ledger. */
export function chains(t: Tables, { ids, timesMax }: { ids: readonly string[]; timesMax: number }): ChainPage[] {
  return ids.toSorted().flatMap((id) => {
    const row = t.schedules.get(id);
    if (row === undefined || row.removed === true || row.nextAt !== null || !row.spec.enabled) return [];
    const { expression } = row.spec;
    if (expression.form !== "after") return [];
    const window = Array.from(t.occurrences.values())
      .filter(({ scheduleId }) => scheduleId === expression.schedule)
      .filter(({ nominalAt }) => nominalAt > row.decidedUntil && nominalAt <= t.now())
      .toSorted((a, b) => a.nominalAt - b.nominalAt || (placeOf(a) < placeOf(b) ? -1 : 1))
      .slice(0, timesMax);
    const ends = Math.min(t.now(), t.schedules.get(expression.schedule)?.decidedUntil ?? t.now());
    const until = window.length === timesMax ? (window.at(-1)?.nominalAt ?? 0) - 1 : ends;
    const times = window.flatMap((each) =>
      t.occurrences.get(occurrenceKey({ ...each, scheduleId: id })) === undefined ? [followedOf(t, each)] : [],
    );
    return times.length === 0 ? [] : [{ row: scheduleRow(t, row), times, until }];
  });
}

const placeOf = ({ localTime, fold, timezone }: OccurrenceRow): string => `${localTime} ${fold} ${timezone}`;

function followedOf(t: Tables, row: OccurrenceRow): FollowedTime {
  const { nominalAt, localTime, fold, timezone, outcome, reason, calendar, catchUp: isCatchUp, jobId } = row;
  const own = { nominalAt, localTime, fold, timezone, outcome, reason, calendar, isCatchUp };
  const run = [...t.runs.values()].findLast(({ starterId }) => jobId !== null && starterId === jobId);
  if (run !== undefined) return { ...own, result: resultOf(run), endedAt: run.finishedAt };
  const job = jobId === null ? undefined : t.jobs.get(jobId);
  if (job === undefined || !isFinal(job.state)) return { ...own, result: "open", endedAt: null };
  const result = job.state === "SUCCESS" ? "succeeded" : job.state === "FAILED" ? "failed" : "stopped";
  return { ...own, result, endedAt: job.finishedAt };
}

const resultOf = ({ state }: RunRow): FollowedTime["result"] =>
  state === "DONE" ? "succeeded" : state === "FAILED" ? "failed" : state === "CANCELED" ? "stopped" : "open";
