import type { ReferenceStore } from "../support/reference-store.ts";
import type { Record } from "./record.ts";

/** Writes down from when on which period is in force: what a release found decided stays. */
export function watchEras(reference: ReferenceStore, record: Record): void {
  const install = reference.installSchedules.bind(reference);
  reference.installSchedules = async (specs, options) => {
    await install(specs, options);
    for (const spec of specs) {
      const everyMs = spec.expression.form === "every" ? spec.expression.everyMs : 60_000;
      const eras = record.eras.get(spec.id) ?? [];
      if (eras.at(-1)?.everyMs === everyMs) continue;
      // An edit ends the version before it at once, also one that has not decided everything yet.
      const from = reference.tables.eras.rows.findLast((era) => era.scheduleId === spec.id)?.fromAt ?? 0;
      eras.push({ from, everyMs, kept: decidedAfter(reference, spec.id, from) });
      record.eras.set(spec.id, eras);
    }
  };
}

function decidedAfter(reference: ReferenceStore, scheduleId: string, from: number): number[] {
  return Array.from(reference.tables.occurrences.values())
    .filter((row) => row.scheduleId === scheduleId && row.outcome !== "PLANNED" && row.nominalAt > from)
    .map((row) => row.nominalAt);
}
