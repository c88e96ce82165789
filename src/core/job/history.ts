import type { AttemptView, HistoryRow, JobView, MoveView } from "./job.ts";

/** The attempts that ended, oldest first. A success comes from the job's row, every other end from its kept move. */
export function attemptsOf(job: JobView, history: readonly HistoryRow[]): readonly AttemptView[] {
  const ended = history.flatMap((row): AttemptView[] =>
    row.from === "RUNNING" && row.startedAt !== null ? [attemptOf(row, row.startedAt)] : [],
  );
  if (job.state !== "SUCCESS" || job.startedAt === null || job.finishedAt === null) return ended;
  const success: AttemptView = {
    attempt: job.attempt,
    worker: job.worker ?? "",
    startedAt: job.startedAt,
    endedAt: job.finishedAt,
    outcome: "SUCCESS",
    errorCode: null,
    errorMessage: null,
  };
  return [...ended, success];
}

const attemptOf = (row: HistoryRow, startedAt: number): AttemptView => ({
  attempt: row.attempt,
  worker: row.worker ?? "",
  startedAt,
  endedAt: row.at,
  outcome: row.to,
  errorCode: row.errorCode,
  errorMessage: row.errorMessage,
});

/**
 * A job's known moves, oldest first: creation, kept moves, the start of the newest attempt, success. Only the event stream
 * has its dispatches and the starts of earlier attempts.
 */
export function movesOf(job: JobView, history: readonly HistoryRow[]): readonly MoveView[] {
  const { id: jobId, attempt, generation, worker } = job;
  const base = { jobId, attempt, generation, worker, reason: null, caller: null };
  const moves: MoveView[] = [
    { ...base, id: "created", at: job.createdAt, from: null, to: "PENDING", attempt: 0, generation: 0, worker: null },
    ...history.map(({ startedAt: _started, errorCode: _code, errorMessage: _message, ...move }) => ({
      ...move,
      jobId,
    })),
  ];
  const started = job.startedAt;
  if (started !== null && (job.state === "RUNNING" || job.state === "SUCCESS")) {
    moves.push({ ...base, id: "started", at: started, from: "QUEUED", to: "RUNNING" });
  }
  if (job.state === "SUCCESS" && job.finishedAt !== null) {
    moves.push({ ...base, id: "succeeded", at: job.finishedAt, from: "RUNNING", to: "SUCCESS" });
  }
  return moves;
}
