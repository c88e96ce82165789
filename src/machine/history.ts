import { attemptOutcomeOf } from "./decide.ts";
import type { AttemptView, HistoryRow, JobView, MoveView } from "./job.ts";

type Ended<T> = Pick<JobView, "state" | "attempt" | "worker"> & {
  readonly startedAt: T | null;
  readonly finishedAt: T | null;
};
type Moving<T> = Ended<T> & Pick<JobView, "generation"> & { readonly createdAt: T };

type AttemptOf<T> = Omit<AttemptView, "startedAt" | "endedAt"> & { readonly startedAt: T; readonly endedAt: T };

/** The attempts that ended, oldest first. A success comes from the job's row, every other end from its kept move. */
export function attemptsOf<T = number>(job: Ended<T>, history: readonly HistoryRow<T>[]): readonly AttemptOf<T>[] {
  const ended = history.flatMap((row): AttemptOf<T>[] =>
    row.from === "RUNNING" && row.startedAt !== null ? [attemptOf(row, row.startedAt)] : [],
  );
  if (job.state !== "SUCCESS" || job.startedAt === null || job.finishedAt === null) return ended;
  const success: AttemptOf<T> = {
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

const attemptOf = <T>(row: HistoryRow<T>, startedAt: T): AttemptOf<T> => ({
  attempt: row.attempt,
  worker: row.worker ?? "",
  startedAt,
  endedAt: row.at,
  outcome: attemptOutcomeOf(row),
  errorCode: row.errorCode,
  errorMessage: row.errorMessage,
});

/**
 * A job's known moves, oldest first: creation, kept moves, the start of the newest attempt, success. Only the event stream
 * has its dispatches and the starts of earlier attempts.
 */
export function movesOf<T = number>(job: Moving<T>, history: readonly HistoryRow<T>[]): MoveView<T>[] {
  const { attempt, generation, worker } = job;
  const base = { attempt, generation, worker, reason: null, caller: null };
  const moves: MoveView<T>[] = [
    { id: "created", at: job.createdAt, from: null, to: "PENDING", ...base, attempt: 0, generation: 0, worker: null },
    ...history.map(({ startedAt: _started, errorCode: _code, errorMessage: _message, ...move }) => move),
  ];
  const started = job.startedAt;
  if (started !== null && (job.state === "RUNNING" || job.state === "SUCCESS")) {
    moves.push({ id: "started", at: started, from: "QUEUED", to: "RUNNING", ...base });
  }
  if (job.state === "SUCCESS" && job.finishedAt !== null) {
    moves.push({ id: "succeeded", at: job.finishedAt, from: "RUNNING", to: "SUCCESS", ...base });
  }
  return moves;
}
