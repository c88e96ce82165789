import { iso } from "../../core/job/units.ts";
import { z } from "zod";
import type { AttemptView, Instant, JobView, MoveView } from "../../core/job/job.ts";
import { isFinal, type State, states } from "../../core/job/state.ts";
import { jobExplanation } from "./explanation.ts";
import { count, failure, idText, maybeIso, maybeTime, state, time } from "./shape.ts";

const fields = {
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
  run: idText.nullable(),
  task: z.string().nullable(),
  /** The slot group it waits for. */
  heldOn: z.string().nullable(),
  payloadBytes: count,
} satisfies Record<Exclude<keyof JobView, Unshown>, z.ZodType> & Record<string, z.ZodType>;

export const job = z.object(fields).meta({ id: "Job" });

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
    /** Who asked for it; null for Belfry's own moves. */
    caller: z.string().nullable(),
  })
  .meta({ id: "JobEvent" });

export const jobDetail = z
  .object({
    ...fields,
    attempts: z.array(attempt),
    events: z.array(jobEvent),
    explanation: jobExplanation.optional().describe("With `include=explanation`, of a job that waits."),
  })
  .meta({ id: "JobDetail" });

export const createdJob = z
  .object({
    created: z.boolean(),
    notes: z.array(z.string()),
    ...fields,
    attempts: z.array(attempt),
    events: z.array(jobEvent),
  })
  .meta({ id: "CreatedJob" });

export type JobReply = z.infer<typeof job>;
export type JobDetailReply = z.infer<typeof jobDetail>;
export type JobListReply = z.infer<typeof jobList>;
export type CreatedJobReply = z.infer<typeof createdJob>;
export type JobCountsReply = z.infer<typeof jobCounts>;

/** Fields without a member of their name: other members say it. The compiler asks for each new field here or in `fields`. */
type Unshown = "hold" | "generation" | "blocked" | "slotKeys" | "errorCode" | "errorMessage" | "scheduleId" | "runId";

/** What the API answers for a job. Times are ISO 8601 in UTC, durations milliseconds; members are only ever added. */
export const jobJson = (job: JobView, now: Instant): JobReply => ({
  id: job.id,
  kind: job.kind,
  key: job.key,
  state: job.state,
  phase: phaseOf(job, now),
  lane: job.lane,
  attempt: job.attempt,
  failures: job.failures,
  interruptions: job.interruptions,
  maxAttempts: job.maxAttempts,
  payload: job.payload,
  result: job.result,
  progress: job.progress,
  error: job.errorCode === null ? null : { code: job.errorCode, message: job.errorMessage },
  worker: job.worker,
  trace: job.trace,
  schedule: job.scheduleId,
  scheduledFor: maybeIso(job.scheduledFor),
  createdAt: iso(job.createdAt),
  dueAt: iso(job.dueAt),
  startedAt: maybeIso(job.startedAt),
  leaseUntil: maybeIso(job.leaseUntil),
  finishedAt: maybeIso(job.finishedAt),
  run: job.runId,
  task: job.task,
  heldOn: job.heldOn,
  payloadBytes: job.payloadBytes,
});

export const attemptJson = (attempt: AttemptView) => ({
  attempt: attempt.attempt,
  worker: attempt.worker,
  startedAt: iso(attempt.startedAt),
  endedAt: iso(attempt.endedAt),
  durationMs: Math.max(0, attempt.endedAt - attempt.startedAt),
  outcome: attempt.outcome,
  error: attempt.errorCode === null ? null : { code: attempt.errorCode, message: attempt.errorMessage },
});

export const moveJson = (event: MoveView) => ({
  id: event.id,
  at: iso(event.at),
  from: event.from,
  to: event.to,
  attempt: event.attempt,
  generation: event.generation,
  worker: event.worker,
  reason: event.reason,
  caller: event.caller,
});

/** The state in words for people. */
export function phaseOf(job: Pick<JobView, "state" | "blocked" | "hold" | "failures" | "dueAt">, now: Instant): string {
  if (isFinal(job.state) || job.state === "RUNNING") return job.state.toLowerCase();
  if (job.blocked) return "waiting for predecessors";
  if (job.hold === "slot") return "held: slot";
  if (job.hold === "paused") return "paused";
  if (job.failures > 0 && job.dueAt > now) return `retrying at ${iso(job.dueAt)}`;
  if (job.dueAt > now) return `scheduled until ${iso(job.dueAt)}`;
  return job.state === "QUEUED" ? "queued" : "waiting for dispatch";
}
