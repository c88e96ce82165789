import type { Evidence, Violation } from "./evidence.ts";

/** C12: slots held = jobs running that need one; at no time did more run than a cap allows. */
export function* slots(evidence: Evidence): Generator<Violation> {
  const jobs = new Map(evidence.jobs.map((job) => [job.id, job]));
  for (const slot of evidence.slots) {
    if (slot.jobId === null) continue;
    const isRunning = jobs.get(slot.jobId)?.state === "RUNNING";
    if (slot.freeFrom === null && !isRunning)
      yield broken(`a slot of ${slot.key} is held by job ${slot.jobId}, which does not run`);
    if (slot.freeFrom !== null && isRunning)
      yield broken(`the slot of ${slot.key} was left by job ${slot.jobId}, which runs`);
  }
  for (const cap of evidence.caps) yield* peak(evidence, cap, jobs);
}

function* peak(
  evidence: Evidence,
  cap: Evidence["caps"][number],
  jobs: ReadonlyMap<string, { readonly kind: string }>,
): Generator<Violation> {
  const running = new Set<string>();
  for (const event of evidence.events) {
    if (!cap.kinds.includes(jobs.get(event.jobId)?.kind ?? "")) continue;
    if (event.to !== "RUNNING") running.delete(event.jobId);
    else if (running.add(event.jobId).size > cap.size) {
      yield broken(`${running.size} jobs of ${cap.key} ran at once; the cap is ${cap.size}`);
      return;
    }
  }
}

const broken = (detail: string): Violation => ({ invariant: "C12", detail });
