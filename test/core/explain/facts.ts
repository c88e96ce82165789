import type { TimeQuery } from "../../../src/calendar/asked-time.ts";
import type { VersionInterval } from "../../../src/calendar/version-intervals.ts";
import type { ExplainInput } from "../../../src/insight/explanation.ts";
import type { JobId, JobView } from "../../../src/machine/job.ts";
import type { Pause } from "../../../src/machine/pause.ts";
import type { OccurrenceView, ScheduleSpec } from "../../../src/machine/schedule.ts";
import type { SlotHolder } from "../../../src/insight/occurrences.ts";
import type { ScheduleFacts } from "../../../src/machine/schedule-store.ts";
import { aRow, aSpec, hour, midnight } from "../../schedules/spec.ts";

/** Nine o'clock UTC: when the time that is asked about was nominal. */
export const nine = midnight + 9 * hour;

export const aPause: Pause = { at: midnight, by: "ana", reason: null, until: null };

export const daily = (over: Partial<ScheduleSpec> = {}): ScheduleSpec =>
  aSpec({ expression: { form: "cron", cron: "0 9 * * *" }, ...over });

export const intervalOf = (spec: ScheduleSpec, over: Partial<VersionInterval> = {}): VersionInterval => ({
  version: 1,
  spec,
  from: 0,
  until: Number.POSITIVE_INFINITY,
  ...over,
});

export const factsOf = (over: Partial<ScheduleFacts> = {}): ScheduleFacts => ({
  now: nine + hour,
  row: aRow({ spec: daily(), decidedUntil: nine + hour }),
  ledgerFrom: midnight,
  versions: [{ version: 1, spec: daily(), fromAt: 0 }],
  ...over,
});

export const asked: TimeQuery = { localTime: "2026-11-21T09:00", isInstant: false, instants: [nine], near: nine };

export const anOccurrence = (over: Partial<OccurrenceView> = {}): OccurrenceView => ({
  nominalAt: nine,
  localTime: "2026-11-21T09:00",
  fold: 0,
  timezone: "UTC",
  scheduleId: "s",
  effectiveAt: null,
  outcome: "FIRED",
  reason: null,
  calendar: null,
  decidedAt: nine - hour,
  latenessMs: 0,
  version: 1,
  jobId: "41" as JobId,
  ...over,
});

export const aJob = (over: Partial<JobView> = {}): JobView => ({
  id: "41" as JobId,
  kind: "work",
  key: null,
  state: "SUCCESS",
  lane: "mail",
  hold: "none",
  generation: 1,
  attempt: 1,
  failures: 0,
  interruptions: 0,
  maxAttempts: 4,
  payload: null,
  result: null,
  progress: null,
  errorCode: null,
  errorMessage: null,
  worker: null,
  trace: "t",
  scheduleId: "s",
  scheduledFor: nine,
  effectiveAt: null,
  createdAt: nine,
  dueAt: nine,
  joined: null,
  dueAtMost: null,
  batchKey: null,
  batchOf: null,
  startedAt: null,
  leaseUntil: null,
  finishedAt: null,
  runId: null,
  task: null,
  blocked: false,
  heldOn: null,
  slotKeys: [],
  payloadBytes: 4,
  ...over,
});

export const aHolder = (over: Partial<SlotHolder>): SlotHolder => ({
  id: "9" as JobId,
  kind: "work",
  scheduleId: "s",
  scheduledFor: nine,
  runId: null,
  canceledAt: null,
  ...over,
});

export const inputOf = (over: Partial<ExplainInput> = {}): ExplainInput => ({
  facts: factsOf(),
  asked,
  interval: intervalOf(daily()),
  occurrence: anOccurrence(),
  job: aJob(),
  lastReason: null,
  lastCaller: null,
  end: null,
  holder: null,
  into: null,
  followed: null,
  ...over,
});
