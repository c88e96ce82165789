import { reasons } from "../job/reasons.ts";
import type { TimeDecision } from "./catch-up.ts";
import type { JobDefinition, Occurrence, Registry } from "../define/definition.ts";
import type { Instant, NewJob } from "../job/job.ts";
import { checkedJson, newJob, slotKeysOf } from "../define/new-job.ts";
import { slotKeysOfFire } from "./overlap.ts";
import type { PlannedOccurrence, ScheduleRow } from "../ports/schedule.ts";

export interface FireOptions {
  readonly stage: string;
  readonly trace: string;
}

/** A time whose payload could not be made: the function threw, or the job's schema refuses what it gave. */
export interface PayloadFailure {
  readonly localTime: string;
  readonly message: string;
}

/**
 * The occurrences of decided times. A version that an edit has ended may want a job that nobody defines any more; its times
 * are accounted for all the same, SKIPPED `no-job`, because nothing can ever decide them otherwise.
 */
export async function occurrencesOf(
  row: ScheduleRow,
  decisions: readonly TimeDecision[],
  registry: Registry,
  { stage, trace }: { readonly stage: string; readonly trace: () => string },
): Promise<{ readonly occurrences: readonly PlannedOccurrence[]; readonly failures: readonly PayloadFailure[] }> {
  const definition = registry.jobs.get(row.spec.job.kind);
  const occurrences: PlannedOccurrence[] = [];
  const failures: PayloadFailure[] = [];
  for (const decision of decisions) {
    const { occurrence, failure } =
      definition === undefined
        ? withoutJob(row, decision)
        : await occurrenceOf(row, decision, definition, registry, { stage, trace: trace() });
    occurrences.push({ ...occurrence, version: row.version });
    if (failure !== null) failures.push(failure);
  }
  return { occurrences, failures };
}

function withoutJob(row: ScheduleRow, decision: TimeDecision): { occurrence: PlannedOccurrence; failure: null } {
  const skipped: TimeDecision = { ...decision, outcome: "SKIPPED", reason: reasons.noJob, isCatchUp: false };
  return { occurrence: write(row, decision.outcome === "PLANNED" ? skipped : decision, null), failure: null };
}

/**
 * The occurrence of a decided time, with its job when it gets one. A payload that cannot be made is an answer too:
 * SKIPPED `payload`, so that the time is accounted for and the other schedules go on.
 */
export async function occurrenceOf(
  row: ScheduleRow,
  decision: TimeDecision,
  definition: JobDefinition,
  registry: Registry,
  options: FireOptions,
): Promise<{ readonly occurrence: PlannedOccurrence; readonly failure: PayloadFailure | null }> {
  if (decision.outcome !== "PLANNED") return { occurrence: write(row, decision, null), failure: null };
  try {
    const job = await jobOf(row, decision, definition, registry, options);
    return { occurrence: write(row, decision, job), failure: null };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const skipped: TimeDecision = { ...decision, outcome: "SKIPPED", reason: reasons.payload, isCatchUp: false };
    return { occurrence: write(row, skipped, null), failure: { localTime: decision.time.localTime, message } };
  }
}

/**
 * The job has no key: its occurrence row makes it unique, and a key would outlive an edit that plans the same time
 * again, or refuse tomorrow's equal payload.
 */
async function jobOf(
  row: ScheduleRow,
  decision: TimeDecision,
  definition: JobDefinition,
  registry: Registry,
  { stage, trace }: FireOptions,
): Promise<NewJob> {
  const given = row.spec.payload ?? registry.schedules.get(row.id)?.payload(occurrenceFor(row, decision));
  const payload = checkedJson(definition.id, given);
  const checked = await definition.check(payload);
  if (!checked.ok) {
    throw new Error(
      checked.issues.map((issue) => `${issue.path === "" ? "payload" : issue.path}: ${issue.message}`).join("; "),
    );
  }
  return newJob(definition, stage, {
    payload,
    key: null,
    dueAt: decision.dueAt,
    delayMs: 0,
    expiresAt: expiryOf(row, decision),
    trace,
    slotKeys: [...slotKeysOf(definition), ...slotKeysOfFire(row.spec, decision.isCatchUp)],
  });
}

/** What a person asks for, by a trigger or a backfill, has no due time of its own and never expires. */
function expiryOf({ spec }: ScheduleRow, { time, dueAt }: TimeDecision): Instant | null {
  return dueAt === null || spec.startDeadlineMs === undefined ? null : time.instant + spec.startDeadlineMs;
}

/** What handlers, payload functions and queries are told of it. */
export function occurrenceFor(row: ScheduleRow, { time, isCatchUp, missedCount }: TimeDecision): Occurrence {
  return {
    scheduleId: row.id,
    scheduledFor: new Date(time.instant),
    timezone: row.spec.timezone,
    day: time.localTime.slice(0, 10),
    isCatchUp,
    missedCount,
  };
}

const write = (
  { spec }: ScheduleRow,
  { time, outcome, reason, isCatchUp, missedCount }: TimeDecision,
  job: NewJob | null,
): PlannedOccurrence => ({
  localTime: time.localTime,
  fold: time.fold,
  timezone: spec.timezone,
  nominalAt: time.instant,
  outcome,
  reason,
  isCatchUp,
  missedCount,
  job,
});
