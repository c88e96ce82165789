import { z } from "zod";
import type { Instant } from "../../core/job/job.ts";
import { type State, states } from "../../core/job/state.ts";
import type { JobRecord } from "../../core/ports/job-search.ts";
import { jobJson } from "../view.ts";
import { count, failure, idText, maybeTime, state, time } from "./shape.ts";

const base = {
  id: idText,
  kind: z.string(),
  key: z.string().nullable(),
  state,
  /** What a person would say about the state. */
  phase: z.string(),
  lane: z.string(),
  attempt: count,
  failures: count,
  interruptions: count,
  maxAttempts: count,
  payload: z.unknown(),
  result: z.unknown(),
  progress: z.number().nullable(),
  error: failure,
  worker: z.string().nullable(),
  trace: z.string(),
  schedule: z.string().nullable(),
  scheduledFor: maybeTime,
  createdAt: time,
  dueAt: time,
  startedAt: maybeTime,
  leaseUntil: maybeTime,
  finishedAt: maybeTime,
};

export const plainJob = z.object(base).meta({ id: "PlainJob" });

const record = {
  ...base,
  run: idText.nullable(),
  task: z.string().nullable(),
  /** The slot group it waits for. */
  heldOn: z.string().nullable(),
  payloadBytes: count,
};

export const job = z.object(record).meta({ id: "Job" });

export const jobList = z
  .object({
    jobs: z.array(job),
    nextCursor: z.string().nullable(),
    /** False: the search ended before it had filled the page; go on with the cursor. */
    complete: z.boolean(),
  })
  .meta({ id: "JobList" });

const boundedCount = z.object({ count, isMore: z.boolean() });
/** By state. `isMore`: the count stopped at its bound, or its time was over. */
export const jobCounts = z
  .object(Object.fromEntries(states.map((each) => [each, boundedCount])) as Record<State, typeof boundedCount>)
  .meta({ id: "JobCounts" });

export const attempt = z
  .object({
    attempt: count,
    worker: z.string(),
    startedAt: time,
    endedAt: time,
    durationMs: z.number().min(0),
    outcome: state,
    error: failure,
  })
  .meta({ id: "Attempt" });

export const jobEvent = z
  .object({
    id: z.string().min(1).max(64),
    at: time,
    from: state.nullable(),
    to: state,
    attempt: count,
    generation: count,
    worker: z.string().nullable(),
    reason: z.string().nullable(),
  })
  .meta({ id: "JobEvent" });

export const jobDetail = z
  .object({ ...record, attempts: z.array(attempt), events: z.array(jobEvent) })
  .meta({ id: "JobDetail" });

export const createdJob = z
  .object({
    created: z.boolean(),
    notes: z.array(z.string()),
    ...record,
    attempts: z.array(attempt),
    events: z.array(jobEvent),
  })
  .meta({ id: "CreatedJob" });

export type JobReply = z.infer<typeof job>;
export type JobDetailReply = z.infer<typeof jobDetail>;
export type JobListReply = z.infer<typeof jobList>;
export type CreatedJobReply = z.infer<typeof createdJob>;
export type JobCountsReply = z.infer<typeof jobCounts>;

export const recordJson = (record: JobRecord, now: Instant): JobReply => ({
  ...jobJson(record, now),
  run: record.runId,
  task: record.task,
  heldOn: record.heldOn,
  payloadBytes: record.payloadBytes,
});
