import { z } from "zod";
import { boundedCount, count, idText, time } from "../../insight/atoms.ts";
import { audit } from "../../insight/audit.ts";
import { job } from "../../insight/job.ts";
import { blackoutShape } from "../../insight/lanes.ts";
import { fence, lastPass } from "../../insight/locks.ts";
import { readLastHour, throughput } from "../../insight/minutes.ts";
import { pauseShape } from "../../insight/pause.ts";
import { slotUse } from "../../insight/slots.ts";
import { worker } from "../../insight/workers.ts";

export const lane = z
  .object({
    name: z.string(),
    ...pauseShape,
    ...blackoutShape,
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
  .object({ name: z.string(), ...pauseShape, released: count.describe("Jobs that were on hold and may start again.") })
  .meta({ id: "LanePause" });

export const laneList = z
  .object({
    lanes: z.array(lane),
    caps: z.array(slotUse),
    workers: z.array(worker).describe("Those seen in the last hour. `lost` runs something past its lease."),
    isMore: z.boolean(),
  })
  .meta({ id: "LaneList" });

export const lock = z
  .object({
    ...fence.shape,
    /** Null when it is free, or when its store does not answer. */
    holder: z.string().nullable(),
    leaseMs: z.number().nullable(),
    /** False: the lock store did not answer; the rest is what Postgres knows. */
    isStoreUp: z.boolean(),
  })
  .meta({ id: "Lock" });

export const lockList = z.object({ locks: z.array(lock), jobLocks: z.array(slotUse) }).meta({ id: "LockList" });

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
    deadLetters: boundedCount,
    lastHour: readLastHour.row,
    lanes: z.object({ total: count, paused: count }).describe("And the kinds that are paused by themselves."),
    workers: z.object({ busy: count, lost: count }),
    lastPass: lastPass.nullable(),
    lastFailures: z.array(job).describe("The newest ones."),
    minutes: throughput.shape.minutes.nullable().describe("Null unless the query names `minutes`."),
    schedules: z
      .object({
        failing: troubled.describe("Their last job or run failed."),
        late: troubled.describe("Their time is past and nothing was decided."),
        burning: troubled.describe("They miss so many times that their objective will not be kept."),
      })
      .nullable()
      .describe("Null unless the query names `minutes`."),
  })
  .meta({ id: "Summary" });

export const auditList = z
  .object({
    audits: z.array(
      z.object({
        ...audit.shape,
        role: z.string().nullable().describe("The IAM role of the caller; null for a user, and on the local system."),
        session: z.string().nullable().describe("The name that the role's session was given."),
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
export type LockReply = z.infer<typeof lock>;
export type SummaryReply = z.infer<typeof summary>;
