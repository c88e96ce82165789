import type { OccurrenceOutcome } from "../../../src/core/schedule.ts";
import type { JobRow } from "./rows.ts";
import type { Tables } from "./tables.ts";

/** The occurrence follows what happened to its job; the first decision stays. */
export function decideOccurrence(t: Tables, row: JobRow, outcome: OccurrenceOutcome, reason: string | null): void {
  const occurrence = t.occurrenceOf(row.id);
  if (occurrence?.outcome !== "PLANNED") return;
  const latenessMs = Math.max(0, t.now() - occurrence.nominalAt);
  t.putOccurrence({ ...occurrence, outcome, reason, decidedAt: t.now(), latenessMs });
}
