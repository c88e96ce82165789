import type { Evidence, Violation } from "./evidence.ts";

/** Every rescue hides something: where there was no fault, nothing was rescued, sent again or given back to death. */
export function* unneededHelp(evidence: Evidence): Generator<Violation> {
  const kinds = new Map(evidence.jobs.map((job) => [job.id, job.kind]));
  for (const event of evidence.events) {
    if (isHelp.has(event.reason ?? ""))
      yield broken(`job ${event.jobId} (${kinds.get(event.jobId)}) needed help without a fault: ${event.reason}`);
  }
  for (const letter of evidence.deadLetters) yield broken(`a message of job ${letter.jobId} died without a fault`);
}

const isHelp = new Set(["lost", "interrupted", "message-lost", "undelivered", "undeliverable"]);

const broken = (detail: string): Violation => ({ invariant: "healthy", detail });
