import type { JobDefinition, Registry } from "../define/definition.ts";
import type { Problem } from "../define/problem.ts";

export type RefusalCode =
  | "schedule-exists"
  | "schedule-in-code"
  | "unknown-schedule"
  | "unknown-kind"
  | "invalid-schedule"
  | "invalid-time"
  | "version-changed"
  | "backfill-refused";

/** A person's change of a schedule was refused; the message says why and what to do instead. */
export class ScheduleRefused extends Error {
  override readonly name = "ScheduleRefused";
  readonly code: RefusalCode;
  readonly problems: readonly Problem[];
  /** At which it stands, where another one was wanted. */
  readonly version: number | null;
  constructor(code: RefusalCode, message: string, problems: readonly Problem[] = [], version: number | null = null) {
    super(message);
    this.code = code;
    this.problems = problems;
    this.version = version;
  }
}

export const unknownSchedule = (id: string): ScheduleRefused =>
  new ScheduleRefused("unknown-schedule", `there is no schedule "${id}": npx belfry schedules list shows them all`);

/** @throws ScheduleRefused naming the kinds there are. */
export function definitionOfKind(registry: Registry, kind: string): JobDefinition {
  const definition = registry.jobs.get(kind);
  if (definition !== undefined) return definition;
  const known = [...registry.jobs.keys()].slice(0, 20).join(", ");
  throw new ScheduleRefused("unknown-kind", `no job is defined as "${kind}" in this process; there are ${known}`);
}
