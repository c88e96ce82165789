import type { Evidence, Violation } from "./evidence.ts";

/** C8: nominal times expected = occurrences recorded, exactly; none that is past is still PLANNED. */
export function* nominalTimes(evidence: Evidence): Generator<Violation> {
  const jobs = new Map(evidence.jobs.map((job) => [job.id, job]));
  const recorded = Map.groupBy(evidence.occurrences, (occurrence) => occurrence.scheduleId);
  for (const [scheduleId, expected] of evidence.expectedTimes) {
    const rows = recorded.get(scheduleId) ?? [];
    const times = new Set(rows.map((row) => row.nominalAt));
    if (times.size !== rows.length) yield broken(`${scheduleId} has two rows for one nominal time`);
    const wanted = new Set(expected);
    for (const time of expected) if (!times.has(time)) yield broken(`${scheduleId} has no row for ${at(time)}`);
    for (const time of times)
      if (!wanted.has(time)) yield broken(`${scheduleId} has a row for ${at(time)}, which is not nominal`);
  }
  for (const row of evidence.occurrences) {
    if (row.outcome === "PLANNED" && row.nominalAt < evidence.endedBefore)
      yield broken(`${row.scheduleId} ${at(row.nominalAt)} is past and still PLANNED`);
    const job = row.jobId === null ? undefined : jobs.get(row.jobId);
    if ((row.outcome === "FIRED" || row.outcome === "CAUGHT_UP") && (job === undefined || job.attempt === 0))
      yield broken(`${row.scheduleId} ${at(row.nominalAt)} is ${row.outcome} and its job never ran`);
  }
}

const at = (instant: number): string => new Date(instant).toISOString();
const broken = (detail: string): Violation => ({ invariant: "C8", detail });
