import type { Evidence, EventFact, JobFact, RunFact, Violation } from "./evidence.ts";

/** C12: slots held = jobs running that need one, and runs that such jobs started; at no time did more run than a cap allows. */
export function* slots(evidence: Evidence): Generator<Violation> {
  const jobs = new Map(evidence.jobs.map((job) => [job.id, job]));
  const runs = evidence.runs ?? [];
  const openRuns = new Set(runs.flatMap((run) => (isOpen(run) ? (run.starterId ?? []) : [])));
  for (const slot of evidence.slots) {
    if (slot.jobId === null || (slot.keptFor ?? null) !== null) continue;
    const isRunning = jobs.get(slot.jobId)?.state === "RUNNING" || openRuns.has(slot.jobId);
    if (slot.freeFrom === null && !isRunning)
      yield broken(`a slot of ${slot.key} is held by job ${slot.jobId}, which does not run`);
    if (slot.freeFrom !== null && jobs.get(slot.jobId)?.state === "RUNNING")
      yield broken(`the slot of ${slot.key} was left by job ${slot.jobId}, which runs`);
  }
  for (const cap of evidence.caps) yield* peak(evidence, cap, jobs);
  yield* oneAtATime(runs);
}

const isOpen = ({ state }: RunFact): boolean => state === "RUNNING" || state === "CANCELING";

/** Two runs of a schedule that says `overlap: "skip"` are never open together. */
function* oneAtATime(runs: readonly RunFact[]): Generator<Violation> {
  for (const [key, alike] of Map.groupBy(runs, (run) => run.overlapKey ?? null)) {
    if (key === null) continue;
    const inOrder = alike.toSorted((a, b) => a.createdAt - b.createdAt);
    for (const [index, run] of inOrder.entries()) {
      const before = inOrder[index - 1];
      if (before !== undefined && (before.finishedAt ?? Infinity) > run.createdAt)
        yield broken(`runs ${before.id} and ${run.id} of ${key} were open together`);
    }
  }
}

function* peak(
  evidence: Evidence,
  cap: Evidence["caps"][number],
  jobs: ReadonlyMap<string, JobFact>,
): Generator<Violation> {
  const running = new Map<string, number>();
  for (const event of evidence.events) {
    const job = jobs.get(event.jobId);
    if (job === undefined || !cap.kinds.includes(job.kind) || cap.of?.(job) === false) continue;
    for (const [tried, until] of running) if (until <= event.at) running.delete(tried);
    const tried = `${event.jobId}/${event.attempt}`;
    if (event.to === "RUNNING") running.set(tried, Infinity);
    else if (event.to === "CANCELED" && running.has(tried)) running.set(tried, leavesAt(evidence, event));
    else running.delete(tried);
    if (running.size > cap.size) {
      yield broken(`${running.size} jobs of ${cap.key} ran at once; the cap is ${cap.size}`);
      return;
    }
  }
}

/** A canceled job's handler may go on until it notices, or until its lease ends: so long its slot is taken. */
function leavesAt(evidence: Evidence, event: EventFact): number {
  if (evidence.gone === undefined) return event.at;
  const isTry = (fact: { jobId: string; attempt: number }): boolean =>
    fact.jobId === event.jobId && fact.attempt === event.attempt;
  const leases = evidence.workers.filter(isTry).map((fact) => (fact.is === "settled" ? 0 : fact.at + fact.leaseMs));
  const gone = evidence.gone.find(isTry)?.at ?? Infinity;
  return Math.min(gone, Math.max(event.at, ...leases));
}

const broken = (detail: string): Violation => ({ invariant: "C12", detail });
