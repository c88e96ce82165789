import { reasons } from "../job/reasons.ts";
import type { TimeDecision } from "./catch-up.ts";
import type { JobDefinition, Occurrence, Registry } from "../define/definition.ts";
import type { Instant, NewJob } from "../job/job.ts";
import { checkedJson, newJob, slotKeysOf } from "../define/new-job.ts";
import { slotKeysOfFire } from "./overlap.ts";
import type { PlannedOccurrence, ScheduleRow } from "../ports/schedule.ts";

export interface FireOptions {
  readonly registry: Registry;
  readonly stage: string;
  readonly trace: string;
}

/** A time without a payload: its function threw, or the job's schema refused the value. */
export interface PayloadFailure {
  readonly localTime: string;
  readonly message: string;
}

/**
 * The occurrences of decided times. An ended version may name a job that is no longer defined; its times become SKIPPED
 * `no-job`, because nothing else would ever decide them.
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
        : await occurrenceOf(row, decision, definition, { registry, stage, trace: trace() });
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
 * The occurrence of a decided time, with its job if it gets one. Without a payload it is SKIPPED `payload`, so that every
 * time has its row and the other schedules continue.
 */
export async function occurrenceOf(
  row: ScheduleRow,
  decision: TimeDecision,
  definition: JobDefinition,
  options: FireOptions,
): Promise<{ readonly occurrence: PlannedOccurrence; readonly failure: PayloadFailure | null }> {
  if (decision.outcome !== "PLANNED") return { occurrence: write(row, decision, null), failure: null };
  try {
    const job = await jobOf(row, decision, definition, options);
    return { occurrence: write(row, decision, job), failure: null };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const skipped: TimeDecision = { ...decision, outcome: "SKIPPED", reason: reasons.payload, isCatchUp: false };
    return { occurrence: write(row, skipped, null), failure: { localTime: decision.time.localTime, message } };
  }
}

/**
 * The job has no key: its occurrence makes it unique. A key would outlive an edit that plans the same time again, or refuse
 * tomorrow's equal payload.
 */
async function jobOf(
  row: ScheduleRow,
  decision: TimeDecision,
  definition: JobDefinition,
  { registry, stage, trace }: FireOptions,
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

/** A job of a trigger or a backfill has no due time here and never expires. */
function expiryOf({ spec }: ScheduleRow, { time, dueAt }: TimeDecision): Instant | null {
  return dueAt === null || spec.startDeadlineMs === undefined ? null : time.instant + spec.startDeadlineMs;
}

/** The occurrence as handlers, payload functions and queries get it. */
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
