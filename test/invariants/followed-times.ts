import type { ChainFact, Evidence, OccurrenceFact, Violation } from "./evidence.ts";

/** An end that commits while its time runs out may be followed or not. */
const commitMs = 2_000;

/** C8, of a schedule that follows another: one row for each of its times, and a start only behind an end that was in time. */
export function* followedTimes(evidence: Evidence): Generator<Violation> {
  for (const chain of evidence.chains ?? []) yield* timesOf(chain, evidence);
}

function* timesOf({ id, after, withinMs }: ChainFact, evidence: Evidence): Generator<Violation> {
  const own = Map.groupBy(
    evidence.occurrences.filter(({ scheduleId }) => scheduleId === id),
    ({ nominalAt }) => nominalAt,
  );
  const leaders = evidence.occurrences.filter(({ scheduleId }) => scheduleId === after);
  const ends = endsOf(leaders, evidence);
  const starts = firstMoves(evidence, "RUNNING");
  for (const leader of leaders) {
    const [row, more] = own.get(leader.nominalAt) ?? [];
    const until = leader.nominalAt + withinMs;
    const end = ends.get(leader) ?? null;
    const isInTime = end !== null && end <= until;
    const where = `${id} ${new Date(leader.nominalAt).toISOString()}`;
    if (more !== undefined) yield broken(`${where} has two rows`);
    if (row === undefined) {
      if (until + commitMs < evidence.readAt && leader.nominalAt < evidence.endedBefore)
        yield broken(`${where} has no row within its time`);
    } else if (row.jobId === null) {
      if (isInTime && end < until - commitMs) yield broken(`${where} is ${row.outcome}, and what it follows was done`);
    } else if (!isInTime) yield broken(`${where} is ${row.outcome}, and what it follows was not done in time`);
    else if ((starts.get(row.jobId) ?? end) < end) yield broken(`${where} started before the end of what it follows`);
  }
  const times = new Set(leaders.map(({ nominalAt }) => nominalAt));
  for (const time of own.keys())
    if (!times.has(time)) yield broken(`${id} ${new Date(time).toISOString()} follows no time of ${after}`);
}

/** When the job of each was done: itself, or the run that it started. */
function endsOf(rows: readonly OccurrenceFact[], evidence: Evidence): ReadonlyMap<OccurrenceFact, number | null> {
  const runs = new Map((evidence.runs ?? []).map((run) => [run.starterId, run]));
  const done = firstMoves(evidence, "SUCCESS");
  return new Map(
    rows.map((row) => {
      const run = row.jobId === null ? undefined : runs.get(row.jobId);
      if (run !== undefined) return [row, run.state === "DONE" ? (run.finishedAt ?? null) : null];
      return [row, row.jobId === null ? null : (done.get(row.jobId) ?? null)];
    }),
  );
}

/** When each job first came to that state. */
export function firstMoves({ events }: Evidence, to: string): ReadonlyMap<string, number> {
  const first = new Map<string, number>();
  for (const event of events) if (event.to === to && !first.has(event.jobId)) first.set(event.jobId, event.at);
  return first;
}

const broken = (detail: string): Violation => ({ invariant: "C8", detail });
