import { z } from "zod";
import { clockChanges } from "../../calendar/preview.ts";
import { job } from "../../insight/job.ts";
import { jobCounts } from "./job.ts";
import { archivePart } from "../../insight/archived.ts";
import { appSchema, trouble } from "../../insight/health.ts";
import { lastPass } from "../../insight/locks.ts";
import { count, idText, maybeTime, time } from "../../insight/atoms.ts";
import { occurrenceOutcomes } from "../../machine/schedule.ts";
import { pauseShape } from "../../insight/pause.ts";

const base = {
  id: z.string(),
  app: z.string(),
  kind: z.string(),
  version: count,
  source: z.enum(["code", "api"]),
  expression: z.string(),
  timezone: z.string(),
  enabled: z.boolean(),
  ...pauseShape,
  overlap: z.string(),
  misfire: z.string(),
  decidedUntil: time,
  nextAt: maybeTime.describe("When its next time that fires is due; null where it has ended or is off in this stage."),
  looksAt: maybeTime.describe("When the scheduler plans it on; null where it has ended."),
};

export const schedule = z.object(base).meta({ id: "Schedule" });
export const scheduleList = z
  .object({ schedules: z.array(schedule), nextCursor: z.string().nullable() })
  .meta({ id: "ScheduleList" });

/** A deleted one keeps its id, its versions and its ledger. */
export const scheduleDetail = z
  .object({
    ...z.object(base).partial().shape,
    id: z.string(),
    deleted: z.boolean(),
    ledgerFrom: maybeTime,
    /** The expression and the spec are null where it was deleted. */
    versions: z.array(
      z.object({
        version: count,
        expression: z.string().nullable(),
        spec: z
          .looseObject({ timezone: z.string(), spread: z.object({ withinMs: count, offsetMs: count }).optional() })
          .nullable(),
        from: time,
      }),
    ),
  })
  .meta({ id: "ScheduleDetail" });

export const occurrence = z
  .object({
    schedule: z.string(),
    localTime: z.string(),
    fold: z.int(),
    timezone: z.string(),
    nominalAt: time,
    effectiveAt: maybeTime.describe("When it was due, if the schedule was spread; `latenessMs` counts from here."),
    outcome: z.enum(occurrenceOutcomes),
    reason: z.string().nullable(),
    calendar: z
      .string()
      .nullable()
      .describe("The calendar that excluded the day of `localTime`, and why; with a job it was moved to `nominalAt`."),
    decidedAt: maybeTime,
    latenessMs: z.number().nullable(),
    version: count,
    jobId: idText.nullable(),
  })
  .meta({ id: "Occurrence" });

export const previewTime = z.object({
  localTime: z.string(),
  fold: z.int(),
  at: time,
  effectiveAt: maybeTime.describe("When its job is due, if the schedule is spread."),
  fires: z.boolean(),
  change: z
    .object({
      what: z.enum(clockChanges),
      clock: z.string(),
      from: z.string(),
      to: z.string(),
      into: z.string().nullable(),
    })
    .nullable()
    .describe("What a clock change does to it; null on an ordinary day."),
  exclusion: z
    .object({ calendar: z.string(), movedTo: z.string().nullable() })
    .nullable()
    .describe("The calendar that excludes the day of `localTime`, and where the time is moved; null where none does."),
  note: z.string().nullable().describe("Both as a sentence."),
});
const previewed = { timezone: z.string(), times: z.array(previewTime), ended: z.boolean() };

export const nextTimes = z
  .object({ id: z.string(), enabled: z.boolean(), ...pauseShape, ...previewed })
  .meta({ id: "NextTimes" });

export const previewReply = z
  .object({ expression: z.string(), notes: z.array(z.string()), ...previewed })
  .meta({ id: "Preview" });

export const explainedTimes = z
  .object({
    answers: z.array(
      z.object({
        schedule: z.string(),
        localTime: z.string(),
        timezone: z.string(),
        version: count.nullable(),
        verdict: z.string(),
        sentence: z.string(),
        advice: z.string().nullable(),
        occurrence: occurrence.nullable(),
        job: job.nullable(),
      }),
    ),
  })
  .meta({ id: "ExplainedTimes" });

export const backfillPreview = z
  .object({
    dryRun: z.literal(true),
    times: z.array(
      z.object({
        localTime: z.string(),
        fold: z.int(),
        nominalAt: time,
        version: count,
        was: z.string(),
        runs: z.boolean(),
      }),
    ),
    failed: z.array(z.string()).describe("Times that would run but for which no payload can be made, and why."),
    paceMs: z.number().min(0),
  })
  .meta({ id: "BackfillPreview" });

export const scheduleTrigger = z.object({ id: idText, created: z.boolean() }).meta({ id: "Triggered" });
export const scheduleDeletion = z
  .object({ waiting: count.describe("Jobs of past times that the next passes cancel, counted up to 1,000.") })
  .meta({ id: "DeletedSchedule" });

export const refusedSave = z.object({ file: z.string(), problem: z.string(), at: time });

export const health = z
  .object({
    /**
     * The first that holds. `clock-behind`: the database's clock stepped back, so the age of the last pass says nothing and schedules
     * wait. `scheduler-silent`: the last pass is older than three minutes; what is due soon runs, later times wait.
     * `messages-resent`: a lane's messages are sent again and again.
     */
    status: z.enum(["ok", "clock-behind", "scheduler-silent", "messages-resent"]),
    lastPass: lastPass.nullable(),
    ...trouble.shape,
    version: z.string(),
    schemaVersion: count.nullable(),
    /** Of each app with tables of its own, the number of its newest migration; of a caller with bounds none. */
    appSchemas: z.array(appSchema),
    databaseTime: time,
    kinds: count,
    schedules: count,
    /** Jobs of removed schedules that are still to be canceled, counted up to 1,000; of a caller with bounds 0. */
    removedJobs: count,
    counts: jobCounts,
    /** What has left for the archive, by part; of a caller with bounds nothing. */
    archive: z.array(archivePart),
    /** Of a local system: which of the project's code runs, in which parts, and the newest save while it cannot be used. */
    code: z
      .object({
        version: z.string(),
        since: time,
        parts: z.array(z.string()),
        /** Whose schedules, limits and tables are installed. */
        definitions: z.object({ version: z.string(), since: time }),
        refused: refusedSave.nullable(),
      })
      .nullable(),
  })
  .meta({ id: "Health" });

export type ScheduleReply = z.infer<typeof schedule>;
export type ScheduleDetailReply = z.infer<typeof scheduleDetail>;
export type NextTimesReply = z.infer<typeof nextTimes>;
export type ExplainedTimesReply = z.infer<typeof explainedTimes>;
export type BackfillPreviewReply = z.infer<typeof backfillPreview>;
export type HealthReply = z.infer<typeof health>;
