import type { SlotHolders, Wait } from "../admission/gate.ts";
import { gateCauses, waitOf } from "../admission/gates.ts";
import { countText } from "../admission/slots.ts";
import { stopText } from "./bulk.ts";
import { reasonWordsOf } from "./reason-words.ts";
import { iso } from "../machine/units.ts";
import { reasons } from "../machine/reasons.ts";
import { type Instant, type JobId, type JobView, workerLost } from "../machine/job.ts";
import { taskOf } from "../machine/launcher.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { workerLimits } from "../run/worker-limits.ts";
import { isFinal } from "../machine/state.ts";
import { piece, type WaitPiece, waitText } from "../machine/wait-texts.ts";
import type { WaitingFacts } from "../machine/waiting.ts";

/** Stable, for programs. */
export const causes = [
  "not-due",
  "retrying",
  "no-room",
  "not-started",
  "unknown-kind",
  "predecessors",
  "signal",
  "rows",
  ...gateCauses,
  "no-worker",
  "lock",
  "queued",
  "dispatching",
  "running",
  "ended",
] as const;
export type Cause = (typeof causes)[number];

export interface JobExplanation {
  readonly cause: Cause;
  readonly sentence: string;
  /** What the sentence of a job that waits is made of, for other languages. */
  readonly pieces: readonly WaitPiece[];
  /** What to do, or null when nothing has to be done. */
  readonly advice: string | null;
  /** When it goes on, where that is known. */
  readonly until: Instant | null;
  /** The jobs that it waits for: holders of its slot, or predecessors. */
  readonly waitsFor: readonly JobId[];
}

/** A lane has no workers when a due job has waited this long and no worker of the lane was seen since. */
const noWorkerMs = 10_000;

/** Why a job is not running. Of several causes, the one that blocks the others. */
export function explainJob(
  job: JobView,
  facts: WaitingFacts,
  { now, slot, batchWaitMs = 0 }: { now: Instant; slot: SlotHolders | null; batchWaitMs?: number },
): JobExplanation {
  if (isFinal(job.state)) return ended(job, facts, slot);
  if (job.state === "RUNNING") return running(job, facts, now);
  if (job.blocked) {
    const pieces = [piece("predecessors", { open: facts.openPredecessors })];
    return waits("predecessors", pieces, { waitsFor: facts.predecessors });
  }
  const wait = waitOf({ job, facts, slot, now });
  if (wait !== null) return waits(wait.cause, wait.pieces, wait);
  if (job.dueAt > now) return facts.awaitsSignal ? awaited(job) : early(job, facts, now + batchWaitMs);
  if (job.state !== "QUEUED") return waits("dispatching", [piece("dispatching", {})]);
  return queued(job, facts, now);
}

function running(job: JobView, { batchOthers }: WaitingFacts, now: Instant): JobExplanation {
  const task = taskOf(job.worker);
  const where = task === null ? String(job.worker) : `ECS task ${task}, as ${job.worker}`;
  const others = batchOthers === 0 ? "" : `, in one call with ${batchOthers} others of batch "${job.batchKey}"`;
  return say("running", `it runs since ${iso(job.startedAt ?? now)} on ${where}${others}`);
}

function ended(
  job: JobView,
  { lastReason, failedFirst, started, redrive }: WaitingFacts,
  slot: SlotHolders | null,
): JobExplanation {
  if (job.state === "SKIPPED" && lastReason === reasons.lockHeld) {
    const holders = slot?.holders.map(({ job }) => job as JobId) ?? [];
    const sentence = `it was SKIPPED: ${reasonWordsOf(lastReason).job} ${slot?.key ?? ""}`.trimEnd();
    return say("lock", sentence, { waitsFor: holders, advice: `run it again: belfry jobs retry ${job.id}` });
  }
  // A job that was ended after a failed try has that try's error, and the reason that counts is the later one.
  const error = job.errorCode === workerLost ? `${workerLost}: ${job.errorMessage}` : job.errorCode;
  const reason = lastReason === null ? null : reasonWordsOf(lastReason).job;
  const why = job.state === "FAILED" ? (error ?? reason) : (reason ?? error);
  const at = job.finishedAt === null ? "" : ` at ${iso(job.finishedAt)}`;
  const isUpstream = job.state === "SKIPPED" && lastReason === reasons.upstream;
  if (failedFirst !== null && (isUpstream || job.state === "SUCCESS")) {
    const { jobId, runId, task, errorCode } = failedFirst;
    const failed = `failed first${errorCode === null ? "" : ` with ${errorCode}`}, as job ${jobId}`;
    const sentence = isUpstream
      ? `it was SKIPPED${at}: task "${task}" before it ${failed}`
      : `it ended as SUCCESS${at}, and run ${runId} that it started is FAILED: task "${task}" ${failed}`;
    const advice = `repeat that task and what waited for it: belfry runs retry ${runId}`;
    return say("ended", sentence, { waitsFor: [jobId], advice });
  }
  if (started !== null && started.state === "DONE" && started.failed > 0) {
    const dead = `${started.failed} dead letters of ${started.total}`;
    const sentence = `it ended as ${job.state}${at}, and run ${started.runId} that it started is DONE with ${dead}, which it tolerates`;
    return say("ended", sentence, { advice: `repeat them: belfry runs retry ${started.runId}` });
  }
  const isOver = job.state === "SUCCESS" || lastReason === reasons.removed;
  const advice = isOver ? null : `run it again: belfry jobs retry ${job.id}`;
  return say("ended", `it ended as ${job.state}${at}${why === null ? "" : ` (${why})`}${redriveText(redrive)}`, {
    advice,
  });
}

function redriveText(redrive: WaitingFacts["redrive"]): string {
  if (redrive === null) return "";
  const stopped = stopText(redrive);
  if (stopped !== null) return `; redrive ${redrive.id} ${stopped}`;
  const { isOver, id, steps } = redrive;
  return isOver || steps.state === "passed" ? "" : `; redrive ${id} first tries ${steps.jobs.length} of its group`;
}

function awaited({ runId, task, dueAt }: JobView): JobExplanation {
  return waits("signal", [piece("signal", { task: String(task), until: iso(dueAt) })], {
    until: dueAt,
    advice: `send it: belfry runs signal ${runId} ${shellWord(task ?? "")}`,
  });
}

const shellWord = (text: string): string =>
  /^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** `takenUntil`: a job that is due later is not taken along by others of its batch. */
function early(job: JobView, facts: WaitingFacts, takenUntil: Instant): JobExplanation {
  const { started, batchOthers } = facts;
  const [at, message] = [iso(job.dueAt), String(job.errorMessage)];
  if (job.errorCode === "ROWS_OPEN" && started !== null) {
    const { runId, done, total, failed } = started;
    const pieces = [piece("rows", { run: runId, done, total, failed })];
    return waits("rows", pieces, { advice: `look at them: belfry runs show ${runId}` });
  }
  if (job.attempt > 0 && job.errorCode === "NO_ROOM") {
    return waits("no-room", [piece("noRoom", { message, at })], {
      until: job.dueAt,
      advice: "if it lasts, ask AWS for a larger quota of the account",
    });
  }
  if (job.attempt > 0 && job.errorCode === "RATE_LIMITED")
    return waits("rate", [piece("rateLimited", { message, at })], { until: job.dueAt });
  if (job.attempt > 0 && job.errorCode === "TASK_NOT_STARTED") {
    const of = { interruptions: job.interruptions, most: contractLimits.interruptionsMax };
    return waits("not-started", [piece("notStarted", { message, at, ...of })], {
      until: job.dueAt,
      advice: "look at the image, its roles and its network",
    });
  }
  if (job.attempt > 0 && job.errorCode === "UNKNOWN_KIND") {
    const until = iso(job.createdAt + workerLimits.unknownKindMs);
    return waits("unknown-kind", [piece("unknownKind", { message, at, until })], {
      until: job.dueAt,
      advice: `deploy the code that defines "${job.kind}" to the workers of lane ${job.lane}`,
    });
  }
  if (job.failures > 0) {
    const pieces = [
      piece("retrying", { at }),
      ...(job.errorCode === null ? [] : [piece("retryingAfter", { code: job.errorCode })]),
      piece("retryingFailure", { failures: job.failures, most: job.maxAttempts }),
      ...(facts.lastReason === reasons.retryBudget ? [piece("retryBudget", { kind: job.kind })] : []),
    ];
    return waits("retrying", pieces, { until: job.dueAt, advice: `do not wait: belfry jobs run-now ${job.id}` });
  }
  const { joined, dueAtMost, attempt, batchKey: batch } = job;
  const calls =
    joined === null || dueAtMost === null || attempt > 0
      ? []
      : [piece("joined", { joined, since: iso(job.createdAt), latest: iso(dueAtMost) })];
  const pieces =
    batch === null || job.dueAt > takenUntil
      ? [piece("due", { at }), ...calls]
      : [piece("batch", { until: at, batch, others: batchOthers })];
  return waits("not-due", pieces, {
    until: job.dueAt,
    advice: `do not wait: belfry jobs run-now ${job.id}`,
  });
}

function queued(job: JobView, facts: WaitingFacts, now: Instant): JobExplanation {
  const unseenMs = facts.workerSeenAt === null ? Number.POSITIVE_INFINITY : now - facts.workerSeenAt;
  const waitedMs = now - Math.max(job.dueAt, job.createdAt);
  const { runningInLane } = facts;
  if (runningInLane.count === 0 && !runningInLane.isMore && waitedMs > noWorkerMs && unseenMs > noWorkerMs) {
    const { lane } = job;
    const since = facts.workerSeenAt === null ? null : iso(facts.workerSeenAt);
    return waits(
      "no-worker",
      [since === null ? piece("noWorker", { lane }) : piece("noWorkerSince", { lane, since })],
      {
        advice: `look whether the lane's workers start: belfry workers, and the log of lane ${job.lane}`,
      },
    );
  }
  // None was found among the leases that were looked at, and there are more.
  const isUnknown = runningInLane.count === 0 && runningInLane.isMore;
  return waits("queued", [
    piece("queued", { lane: job.lane, ahead: countText(facts.ahead) }),
    ...(isUnknown ? [] : [piece("queuedRunning", { running: countText(runningInLane) })]),
  ]);
}

type More = Omit<Wait, "pieces">;

const say = (
  cause: Cause,
  sentence: string,
  { advice = null, until = null, waitsFor = [] }: More = {},
): JobExplanation => ({ cause, sentence, pieces: [], advice, until, waitsFor });

const waits = (cause: Cause, pieces: readonly WaitPiece[], more: More = {}): JobExplanation => ({
  ...say(cause, waitText(pieces), more),
  pieces,
});
