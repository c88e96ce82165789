import { isAllowed } from "../../src/machine/state.ts";
import type { Evidence, EventFact, Violation } from "./evidence.ts";

/** C3: each transition is legal and follows the one before; generations and attempts only grow. */
export function* chained(evidence: Evidence): Generator<Violation> {
  const histories = Map.groupBy(evidence.events, (event) => event.jobId);
  for (const [jobId, events] of histories) {
    let last: EventFact | null = null;
    for (const event of events) {
      const problem = problemOf(event, last);
      if (problem !== null) yield broken(`job ${jobId}: ${event.from} -> ${event.to}: ${problem}`);
      last = event;
    }
  }
  for (const job of evidence.jobs) {
    const last = histories.get(job.id)?.at(-1);
    if (last?.to !== job.state) yield broken(`job ${job.id} is ${job.state}, its last event says ${last?.to}`);
    else if (last.attempt !== job.attempt) yield broken(`job ${job.id}: attempt ${job.attempt}, event ${last.attempt}`);
  }
}

function problemOf(event: EventFact, last: EventFact | null): string | null {
  if (event.from !== (last?.to ?? null)) return `the event before left it ${last?.to}`;
  if (!isAllowed(event.from, event.to)) return "is not a legal transition";
  if (last === null) return null;
  if (event.generation < last.generation) return `generation went from ${last.generation} to ${event.generation}`;
  if (event.to === "QUEUED" && event.generation === last.generation) return `generation is still ${event.generation}`;
  const attempt = last.attempt + (event.to === "RUNNING" ? 1 : 0);
  return event.attempt === attempt ? null : `attempt ${event.attempt} after ${last.attempt}`;
}

const broken = (detail: string): Violation => ({ invariant: "C3", detail });
