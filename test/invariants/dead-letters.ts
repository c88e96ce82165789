import type { Evidence, Violation } from "./evidence.ts";

/**
 * C10: no message stays in a dead-letter queue, none that died under a row's generation is without a resolving event,
 * and none walked there because it was given back in order to wait.
 */
export function* deadLetters(evidence: Evidence): Generator<Violation> {
  for (const letter of evidence.deadLetters) {
    const what = `message of job ${letter.jobId}, generation ${letter.generation}`;
    if (!letter.drained) yield broken(`${what} lies in the dead-letter queue`);
    if (letter.receives - letter.troubledReceives > 2)
      yield broken(
        `${what} died after ${letter.receives} receives, of which only ${letter.troubledReceives} met a fault`,
      );
  }
  const died = Map.groupBy(evidence.deadLetters, (letter) => letter.jobId);
  for (const event of evidence.events) {
    if (event.reason !== "undeliverable") continue;
    const deaths = died.get(event.jobId)?.length ?? 0;
    if (deaths < 3) yield broken(`job ${event.jobId} is undeliverable after ${deaths} dead messages`);
  }
}

const broken = (detail: string): Violation => ({ invariant: "C10", detail });
