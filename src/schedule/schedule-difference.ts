import { canonical } from "../define/payload.ts";
import type { ScheduleRow, ScheduleSpec } from "../machine/schedule.ts";

/** One way in which the stored schedules are not what code says. */
export interface ScheduleDifference {
  readonly id: string;
  readonly what: "new" | "changed" | "removed" | "api" | "paused" | "taken-over";
  /** One sentence for people: what a deploy changes, or that it changes nothing. */
  readonly message: string;
}

/**
 * What a deploy of these apps with these specs changes, and what people changed outside code. Schedules of other apps are ignored. Pure, so
 * that `check` shows before a deploy what the start shows after it.
 */
export function scheduleDifferences(
  specs: readonly ScheduleSpec[],
  rows: readonly ScheduleRow[],
  deployed: readonly { readonly name: string }[],
): readonly ScheduleDifference[] {
  const stored = new Map(rows.map((row) => [row.id, row]));
  const ours = new Set(specs.map((spec) => spec.id));
  const apps = new Set(deployed.map(({ name }) => name));
  return [
    ...specs.flatMap((spec) => ofSpec(spec, stored.get(spec.id))),
    ...rows.flatMap((row) => (ours.has(row.id) ? [] : ofRow(row, apps))),
  ];
}

function ofSpec(spec: ScheduleSpec, row: ScheduleRow | undefined): readonly ScheduleDifference[] {
  const { id } = spec;
  if (row === undefined) return [{ id, what: "new", message: `schedule "${id}" is new` }];
  if (row.source === "api") {
    const what = changedFields(row.spec, spec);
    const changes = what.length === 0 ? "nothing of it" : `its ${what.join(", ")}`;
    const message = `schedule "${id}" was made through the API and is now in code, which wins: a deploy takes it over and changes ${changes}`;
    return [{ id, what: "taken-over", message }];
  }
  const fields = changedFields(row.spec, spec);
  const changed = `schedule "${id}" changes its ${fields.join(", ")} (version ${row.version + 1})`;
  const paused = `schedule "${id}" is paused by an operator; a deploy leaves it so`;
  return [
    ...(fields.length === 0 ? [] : [{ id, what: "changed", message: changed } as const]),
    ...(row.pause !== null ? [{ id, what: "paused", message: paused } as const] : []),
  ];
}

function ofRow({ id, source, pause, spec }: ScheduleRow, apps: ReadonlySet<string>): readonly ScheduleDifference[] {
  if (source === "api") {
    const message = `schedule "${id}" was made through the API${pause === null ? "" : " and is paused"}; code does not know it`;
    return [{ id, what: "api", message }];
  }
  if (!apps.has(spec.app)) return [];
  return [
    { id, what: "removed", message: `schedule "${id}" is not in code any more and is removed; its history stays` },
  ];
}

/** Names of the settings that differ; newer time-zone data alone counts too, because times are computed again. */
function changedFields(before: ScheduleSpec, after: ScheduleSpec): readonly string[] {
  const names = Object.keys({ ...before, ...after }) as (keyof ScheduleSpec)[];
  return names.filter((name) => canonical(before[name]) !== canonical(after[name]));
}
