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
  for (const rows of recorded.values()) {
    const last = rows.toSorted((a, b) => a.nominalAt - b.nominalAt).findLast(({ outcome }) => outcome !== "COALESCED");
    if (last?.reason === "replaced")
      yield broken(`${last.scheduleId} ${at(last.nominalAt)} was replaced by no later time`);
  }
  for (const row of evidence.occurrences) {
    if (row.outcome === "PLANNED" && row.nominalAt < evidence.endedBefore)
      yield broken(`${row.scheduleId} ${at(row.nominalAt)} is past and still PLANNED`);
    if (row.reason === "overlap" && evidence.keepsAll?.includes(row.scheduleId) === true)
      yield broken(`${row.scheduleId} ${at(row.nominalAt)} was to wait and is SKIPPED`);
    const job = row.jobId === null ? undefined : jobs.get(row.jobId);
    if ((row.outcome === "FIRED" || row.outcome === "CAUGHT_UP") && (job === undefined || job.attempt === 0))
      yield broken(`${row.scheduleId} ${at(row.nominalAt)} is ${row.outcome} and its job never ran`);
  }
}

/**
 * A claim that was refused cancels what is earlier, or, if its process has died, a pass some time later: each such death may let one
 * earlier time start. Without the cancel most of them do.
 */
const replacedWithinMs = 3_000;
const lateMax = 3;

/** C8: hardly a time starts for the first time long after a later one was to start. */
export function* onlyLatest(evidence: Evidence): Generator<Violation> {
  for (const id of evidence.keepsLatest ?? []) {
    const times = new Map(
      evidence.occurrences.flatMap((row) =>
        row.scheduleId === id && row.jobId !== null ? [[row.jobId, row.nominalAt] as const] : [],
      ),
    );
    const late: string[] = [];
    let refused = { nominalAt: 0, at: Number.POSITIVE_INFINITY };
    for (const event of evidence.events) {
      const nominalAt = times.get(event.jobId);
      if (nominalAt === undefined || event.from !== "QUEUED") continue;
      if (event.to === "PENDING" && nominalAt > refused.nominalAt) refused = { nominalAt, at: event.at };
      if (
        event.to === "RUNNING" &&
        event.attempt === 1 &&
        nominalAt < refused.nominalAt &&
        event.at > refused.at + replacedWithinMs
      )
        late.push(`${at(nominalAt)} began ${event.at - refused.at} ms after ${at(refused.nominalAt)} was to begin`);
    }
    if (late.length > lateMax) yield broken(`${id}: ${late.length} times began late: ${late.join("; ")}`);
  }
}

const at = (instant: number): string => new Date(instant).toISOString();
const broken = (detail: string): Violation => ({ invariant: "C8", detail });
