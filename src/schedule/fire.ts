import { reasons } from "../machine/reasons.ts";
import type { TimeDecision } from "./catch-up.ts";
import type { JobDefinition, Occurrence, Registry } from "../define/definition.ts";
import type { Instant, NewJob } from "../machine/job.ts";
import { newJob, slotKeysFor } from "../define/new-job.ts";
import { checkedJson } from "../define/payload.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { type Seals, sealValue } from "../machine/seal.ts";
import { catchUpGate } from "../admission/catch-up.ts";
import { overlapGate } from "../admission/overlap.ts";
import type { SchedulePlan } from "./plan.ts";
import type { Ports } from "../machine/ports.ts";
import { effectiveAt, type PlannedOccurrence, type PlannedSchedule, type ScheduleRow } from "../machine/schedule.ts";

export interface FireOptions {
  readonly registry: Registry;
  readonly trace: string;
  readonly seals: Seals | undefined;
}

/** A time without a payload: its function threw, or the job's schema refused the value. */
interface PayloadFailure {
  readonly localTime: string;
  readonly message: string;
}

/**
 * What a round writes for one schedule: its plan, with a job for each time that gets one. `decider` is the row with the version
 * that decides, which an edit may have ended, and which may name a job that is no longer defined: its times become SKIPPED `no-job`,
 * because nothing else would ever decide them.
 */
export async function plannedOf(
  { random, log, metrics, seals }: Pick<Ports, "random" | "log" | "metrics" | "seals">,
  { row, decider, plan }: { readonly row: ScheduleRow; readonly decider: ScheduleRow; readonly plan: SchedulePlan },
  registry: Registry,
): Promise<{ readonly planned: PlannedSchedule; readonly payloadFailed: number }> {
  const { kind } = decider.spec.job;
  const definition = registry.jobs.get(kind);
  const occurrences: PlannedOccurrence[] = [];
  const failures: PayloadFailure[] = [];
  for (const decision of plan.decisions) {
    const { occurrence, failure } =
      definition === undefined
        ? withoutJob(decider, decision)
        : await plannedRow(decider, decision, definition, { registry, trace: random.id(), seals });
    occurrences.push({ ...occurrence, version: decider.version });
    if (failure !== null) failures.push(failure);
  }
  const [first] = failures;
  if (first !== undefined) {
    const where = { schedule: row.id, kind, localTime: first.localTime, problem: first.message };
    log.error("no payload for an occurrence: SKIPPED", { ...where, times: failures.length });
    metrics.add("scheduler.payload.failed", failures.length, "Count", { job: kind });
  }
  const { decidedUntil, nextAt, carry } = plan;
  const { id: scheduleId, version, decidedUntil: decidedFrom } = row;
  const planned = { scheduleId, version, decidedFrom, decidedUntil, nextAt, carry, occurrences };
  return { planned, payloadFailed: failures.length };
}

function withoutJob(row: ScheduleRow, decision: TimeDecision): { occurrence: PlannedOccurrence; failure: null } {
  const skipped: TimeDecision = { ...decision, outcome: "SKIPPED", reason: reasons.noJob, isCatchUp: false };
  return { occurrence: rowOf(row, decision.outcome === "PLANNED" ? skipped : decision, null), failure: null };
}

/**
 * The occurrence of a decided time, with its job if it gets one. Without a payload it is SKIPPED `payload`, so that every
 * time has its row and the other schedules continue.
 */
export async function plannedRow(
  row: ScheduleRow,
  decision: TimeDecision,
  definition: JobDefinition,
  options: FireOptions,
): Promise<{ readonly occurrence: PlannedOccurrence; readonly failure: PayloadFailure | null }> {
  if (decision.outcome !== "PLANNED") return { occurrence: rowOf(row, decision, null), failure: null };
  try {
    const job = await jobOf(row, decision, definition, options);
    return { occurrence: rowOf(row, decision, job), failure: null };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const skipped: TimeDecision = { ...decision, outcome: "SKIPPED", reason: reasons.payload, isCatchUp: false };
    return { occurrence: rowOf(row, skipped, null), failure: { localTime: decision.time.localTime, message } };
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
  { registry, trace, seals }: FireOptions,
): Promise<NewJob> {
  const own = registry.schedules.get(row.id);
  const given = row.spec.payload ?? own?.payload?.(occurrenceOf(row, decision)) ?? null;
  const payload = given === null ? null : checkedJson(definition.id, given);
  // A job that takes no payload fits its schedule of code, which gives it none. A kind of Belfry's own has no schema either, but a check.
  const isNone = payload === null && definition.schema === null && own?.job === definition;
  const checked = isNone ? none : await definition.check(payload);
  if (!checked.ok) {
    throw new Error(
      checked.issues.map((issue) => `${issue.path === "" ? "payload" : issue.path}: ${issue.message}`).join("; "),
    );
  }
  const { seal } = definition;
  return newJob(definition, {
    payload: seal === null ? payload : await sealValue(seals, seal, payload, contractLimits.payloadBytesMax),
    key: null,
    dueAt: decision.dueAt,
    delayMs: 0,
    expiresAt: expiryOf(row, decision),
    trace,
    slotKeys: [...slotKeysFor(definition, checked.value), ...slotKeysOfFire(row, decision.isCatchUp)],
  });
}

const none = { ok: true, value: undefined } as const;

/**
 * The schedule's own slot keys of one job, beside those of its definition. A caught-up job waits for its slot, whatever the
 * schedule says about overlap.
 */
function slotKeysOfFire({ spec }: ScheduleRow, isCatchUp: boolean): readonly string[] {
  const both = isCatchUp ? [catchUpGate, overlapGate] : [overlapGate];
  return both.flatMap((gate) => gate.groupOf(spec)?.key ?? []);
}

/** A job of a trigger or a backfill has no due time here and never expires. */
function expiryOf({ spec }: ScheduleRow, { time, dueAt }: TimeDecision): Instant | null {
  return dueAt === null || spec.startDeadlineMs === undefined
    ? null
    : effectiveAt(spec, time.instant) + spec.startDeadlineMs;
}

/** The occurrence as handlers, payload functions and queries get it. */
export function occurrenceOf(row: ScheduleRow, { time, isCatchUp, missedCount }: TimeDecision): Occurrence {
  return {
    scheduleId: row.id,
    scheduledFor: new Date(time.instant),
    timezone: time.timezone ?? row.spec.timezone,
    day: time.localTime.slice(0, 10),
    isCatchUp,
    missedCount,
  };
}

const rowOf = (
  { spec }: ScheduleRow,
  { time, outcome, reason, isCatchUp, missedCount, dueAt }: TimeDecision,
  job: NewJob | null,
): PlannedOccurrence => ({
  localTime: time.localTime,
  fold: time.fold,
  timezone: time.timezone ?? spec.timezone,
  nominalAt: time.instant,
  ...(spec.spread === undefined || job === null || dueAt === null
    ? {}
    : { effectiveAt: effectiveAt(spec, time.instant) }),
  outcome,
  reason,
  ...(time.calendar === undefined ? {} : { calendar: time.calendar }),
  isCatchUp,
  missedCount,
  job,
});
