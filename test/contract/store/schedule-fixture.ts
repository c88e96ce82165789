import type { TestStore } from "../../support/looks.ts";
import type { PlannedOccurrence, PlannedSchedule, ScheduleSpec } from "../../../src/machine/schedule.ts";
import { aJob, minute, only } from "./fixture.ts";

const { key: _key, dueAt: _due, delayMs: _delay, trace: _trace, ...template } = aJob({ kind: "sweep" });
const { payload: _payload, expiresAt: _expires, ...job } = template;

/** A schedule from code that fires every minute. */
export function aSpec(over: Partial<ScheduleSpec> = {}): ScheduleSpec {
  return {
    id: "every-minute",
    app: "capsule",
    expression: { form: "cron", cron: "* * * * *" },
    timezone: "UTC",
    dst: { gap: "auto", overlap: "auto" },
    misfire: { rule: "latest", maxAgeMs: null, maxCount: null, paceMs: 1_000 },
    overlap: "allow",
    startAt: null,
    endAt: null,
    enabled: true,
    tzVersion: "2026d",
    payload: null,
    job,
    materializeBeforeMs: 0,
    launch: "tick",
    ...over,
  };
}

/** One nominal time, planned with a job that is due then. The reading only has to be unique. */
export function occurrenceAt(nominalAt: number, over: Partial<PlannedOccurrence> = {}): PlannedOccurrence {
  return {
    localTime: new Date(nominalAt).toISOString().slice(0, 19),
    fold: 0,
    timezone: "UTC",
    nominalAt,
    outcome: "PLANNED",
    reason: null,
    isCatchUp: false,
    missedCount: 0,
    job: aJob({ kind: "sweep", dueAt: nominalAt }),
    ...over,
  };
}

/** Plans the occurrences of one schedule as a tick does. */
export async function planned(
  store: TestStore,
  occurrences: readonly PlannedOccurrence[],
  over: Partial<PlannedSchedule> = {},
) {
  const last = occurrences.at(-1)?.nominalAt ?? (await store.now());
  const plan = {
    scheduleId: "every-minute",
    version: 1,
    decidedUntil: last,
    nextAt: last + minute,
    occurrences,
    ...over,
  };
  return await store.plan([plan]);
}

/** A schedule with one occurrence that is due now. */
export async function dueOccurrence(
  store: TestStore,
  spec: Partial<ScheduleSpec> = {},
  over: Partial<PlannedOccurrence> = {},
) {
  await store.installSchedules([aSpec(spec)]);
  const nominalAt = await store.now();
  const { outbox } = (await planned(store, [occurrenceAt(nominalAt, over)])).aftermath;
  return { nominalAt, jobId: only(only(outbox).messages).jobId };
}

/** The newest ten rows of the schedule's ledger. */
export const ledger = async (store: TestStore) => await store.occurrences("every-minute");
