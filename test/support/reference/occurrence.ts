import type { OccurrenceOutcome } from "../../../src/machine/schedule.ts";
import type { JobRow } from "./rows.ts";
import type { Tables } from "./tables.ts";

/** The occurrence follows what happened to its job; the first decision stays, unless a person ran it after all. */
export function decideOccurrence(t: Tables, row: JobRow, outcome: OccurrenceOutcome, reason: string | null): void {
  const occurrence = t.occurrenceOf(row.id);
  const isOpen = occurrence?.outcome === "PLANNED" || (occurrence?.outcome === "SKIPPED" && row.state === "RUNNING");
  if (occurrence === undefined || !isOpen) return;
  const latenessMs = Math.max(0, t.now() - (occurrence.effectiveAt ?? occurrence.nominalAt));
  t.putOccurrence({ ...occurrence, outcome, reason, decidedAt: t.now(), latenessMs });
}
