import { iso } from "../../core/job/units.ts";
import { z } from "zod";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import type { LastPass } from "../../core/ports/overview.ts";
import { count, idText, maybeTime, time } from "./shape.ts";
import { job } from "./job.ts";
import { paused } from "./pause.ts";

/** A lane: what waits, what runs, who may. */
export const lane = z
  .object({
    name: z.string(),
    ...paused,
    /** Due, and may start. */
    waiting: count,
    running: count,
    retrying: count,
    /** Due later. */
    scheduled: count,
    held: z.object({ slot: count, paused: count, predecessors: count }),
    /** Since the earliest due time of what waits; null when nothing waits. */
    oldestWaitingMs: z.number().min(0).nullable(),
    /** Worker processes at once; null for a lane no app of this release has. */
    concurrency: count.nullable(),
    batchSize: count.nullable(),
    atLeast: z
      .array(z.enum(["waiting", "running", "retrying", "scheduled", "held"]))
      .describe("Not counted to the end."),
  })
  .meta({ id: "Lane" });

export const lanePause = z
  .object({ name: z.string(), ...paused, released: count.describe("Jobs that were on hold and may start again.") })
  .meta({ id: "LanePause" });

export const slotUse = z
  .object({
    key: z.string(),
    size: count,
    taken: count,
    waiting: count,
    holders: z.array(z.object({ job: idText, kind: z.string().nullable(), since: maybeTime })),
  })
  .meta({ id: "SlotUse" });

export const worker = z
  .object({
    id: z.string(),
    lane: z.string().nullable(),
    version: z.string().nullable(),
    /** `busy` runs something; `lost` runs something past its lease; `silent` was not seen for a minute. */
    status: z.enum(["busy", "idle", "silent", "lost"]),
    startedAt: maybeTime,
    seenAt: time,
    ended: count,
    failed: count,
    lost: count,
    lostAt: maybeTime,
    running: z.array(
      z.object({
        job: idText,
        kind: z.string(),
        attempt: count,
        progress: z.number().nullable(),
        startedAt: time,
        beatAt: time,
        leaseUntil: time,
      }),
    ),
  })
  .meta({ id: "Worker" });

export const laneList = z
  .object({
    lanes: z.array(lane),
    caps: z.array(slotUse),
    workers: z.array(worker).describe("Those seen in the last hour. `lost` runs something past its lease."),
    isMore: z.boolean(),
  })
  .meta({ id: "LaneList" });

export const failureGroup = z
  .object({
    fingerprint: z.string(),
    kind: z.string(),
    errorCode: z.string().nullable(),
    errorMessage: z.string().nullable(),
    jobs: count,
    firstAt: time,
    lastAt: time,
    newest: idText,
    samples: z.array(z.object({ job: idText, at: time, message: z.string().nullable() })).describe("The newest ones."),
  })
  .meta({ id: "FailureGroup" });

export const failureGroupList = z
  .object({ groups: z.array(failureGroup), isMore: z.boolean() })
  .meta({ id: "FailureGroupList" });

export const lock = z
  .object({
    name: z.string(),
    /** Null when it is free, or when its store does not answer. */
    holder: z.string().nullable(),
    /** The number of the newest holder: only its writes are accepted. */
    fence: z.number().nullable(),
    leaseMs: z.number().nullable(),
    installedAt: maybeTime,
    fallback: z.object({ owner: z.string(), leaseUntil: time }).nullable(),
    /** False: the lock store did not answer; the rest is what Postgres knows. */
    isStoreUp: z.boolean(),
  })
  .meta({ id: "Lock" });

export const lockList = z.object({ locks: z.array(lock), jobLocks: z.array(slotUse) }).meta({ id: "LockList" });

/** The scheduler's last pass of which every step succeeded; null before the first one. */
export const lastPass = z.object({ at: time, ageMs: z.number().min(0), isLate: z.boolean() }).nullable();

/** What happened in a span of time. */
const happened = {
  succeeded: count,
  failed: count,
  retried: count,
  canceled: count,
  skipped: count,
  lost: count,
  meanRunMs: z.number().min(0).nullable(),
};

export const throughput = z
  .object({ minutes: z.array(z.object({ at: time, created: count, started: count, ...happened })) })
  .meta({ id: "Throughput" });

/** `first` is the id of one of them. `isMore`: more may be, as not every failure was looked at. */
const troubled = z.object({ total: count, isMore: z.boolean(), first: z.string().nullable() });
const stateCounts = z.object({ PENDING: count, QUEUED: count, RUNNING: count, RETRY_WAIT: count });

export const summary = z
  .object({
    at: time,
    live: z.object({
      total: count,
      byState: stateCounts,
      waiting: count,
      scheduled: count,
      held: count,
      oldestWaitingMs: z.number().min(0).nullable(),
      isMore: z.boolean(),
      atLeast: z
        .array(z.enum(["PENDING", "QUEUED", "RUNNING", "RETRY_WAIT", "waiting", "scheduled", "held"]))
        .describe("Not counted to the end."),
    }),
    deadLetters: z.object({ count, isMore: z.boolean() }),
    lastHour: z.object({ created: count, ...happened }),
    lanes: z.object({ total: count, paused: count }),
    workers: z.object({ busy: count, lost: count }),
    lastPass,
    lastFailures: z.array(job).describe("The newest ones."),
    minutes: throughput.shape.minutes.nullable().describe("Null unless the query names `minutes`."),
    schedules: z
      .object({
        failing: troubled.describe("Their last job or run failed."),
        late: troubled.describe("Their time is past and nothing was decided."),
      })
      .nullable()
      .describe("Null unless the query names `minutes`."),
  })
  .meta({ id: "Summary" });

export const auditList = z
  .object({
    audits: z.array(
      z.object({
        id: idText,
        at: time,
        caller: z.string(),
        role: z.string().nullable().describe("The IAM role of the caller; null for a user, and on the local system."),
        session: z.string().nullable().describe("The name that the role's session was given."),
        action: z.string(),
        target: z.string(),
        status: z.int(),
        detail: z.unknown(),
        trace: z.string(),
      }),
    ),
    nextCursor: idText.nullable(),
  })
  .meta({ id: "AuditList" });

export type AuditListReply = z.infer<typeof auditList>;
export type LaneReply = z.infer<typeof lane>;
export type LanePauseReply = z.infer<typeof lanePause>;
export type LaneListReply = z.infer<typeof laneList>;
export type LockListReply = z.infer<typeof lockList>;
export type FailureGroupListReply = z.infer<typeof failureGroupList>;
export type SlotUseReply = z.infer<typeof slotUse>;
export type WorkerReply = z.infer<typeof worker>;
export type LockReply = z.infer<typeof lock>;
export type SummaryReply = z.infer<typeof summary>;
export type ThroughputReply = z.infer<typeof throughput>;

export const lastPassJson = (pass: LastPass | null) =>
  pass === null
    ? null
    : { at: iso(pass.at), ageMs: Math.round(pass.ageMs), isLate: pass.ageMs > operationsLimits.passAgeMsMax };
