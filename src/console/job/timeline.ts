/** What happened to a job, cut into pieces of time: the waterfall draws them. */
import type { JobDetailReply } from "../../api/shape/job.ts";
import { isJobOver } from "../jobs/state.ts";

export type Phase = "wait" | "run" | "backoff";

export interface Piece {
  readonly phase: Phase;
  readonly from: number;
  readonly to: number;
}

/** One line of the waterfall: the wait before an attempt, the attempt, and the pause behind it. */
export interface TimelineLine extends Omit<Attempt, "from" | "to"> {
  readonly pieces: readonly Piece[];
}

export interface Timeline {
  readonly lines: readonly TimelineLine[];
  readonly from: number;
  readonly to: number;
}

/** An attempt that ended, runs, or is still to come (`from` is null then). */
interface Attempt {
  readonly attempt: number;
  readonly from: number | null;
  readonly to: number;
  /** Null for one that is still to come. */
  readonly outcome: JobDetailReply["attempts"][number]["outcome"] | "RUNNING" | null;
  readonly error: JobDetailReply["error"];
  readonly worker: string | null;
}

export function timelineOf(job: JobDetailReply, now: number): Timeline {
  const attempts = attemptsOf(job, now);
  const lines = attempts.map((each, index) => ({ ...each, pieces: piecesOf(job, attempts, index) }));
  const seen = lines.filter(({ pieces }) => pieces.length > 0);
  const all = seen.flatMap(({ pieces }) => pieces);
  const from = Math.min(...all.map((piece) => piece.from), now);
  return { lines: seen, from, to: Math.max(...all.map((piece) => piece.to), from + 1) };
}

function attemptsOf(job: JobDetailReply, now: number): readonly Attempt[] {
  const ended = job.attempts
    .map(({ attempt, startedAt, endedAt, outcome, error, worker }): Attempt => {
      return { attempt, from: Date.parse(startedAt), to: Date.parse(endedAt), outcome, error, worker };
    })
    .toSorted((a, b) => a.attempt - b.attempt);
  const next = { error: null, to: now };
  if (job.state === "RUNNING" && job.startedAt !== null) {
    const from = Date.parse(job.startedAt);
    return [...ended, { ...next, attempt: job.attempt, from, outcome: "RUNNING", worker: job.worker }];
  }
  return isJobOver(job.state)
    ? ended
    : [...ended, { ...next, attempt: job.attempt + 1, from: null, outcome: null, worker: null }];
}

/** Before an attempt: the wait since it might have started. Behind it: the pause until the next one is due. */
function piecesOf(job: JobDetailReply, attempts: readonly Attempt[], index: number): readonly Piece[] {
  const own = attempts[index];
  if (own === undefined) return [];
  const start = own.from ?? own.to;
  const wait: Piece = { phase: "wait", from: readyAt(job, attempts, index), to: start };
  const run: Piece = { phase: "run", from: start, to: own.to };
  const next = attempts[index + 1];
  const isPaused = waitsForRetry(job, own) && next !== undefined;
  const pause: Piece = {
    phase: "backoff",
    from: own.to,
    to: isPaused ? Math.min(next.from ?? next.to, readyAt(job, attempts, index + 1)) : own.to,
  };
  return [wait, ...(own.from === null ? [] : [run]), pause].filter(({ from, to }) => to > from);
}

/**
 * When an attempt might have started. Only the last due time is known: before earlier retries the whole gap is the pause,
 * and a first attempt counts from its nominal time.
 */
function readyAt(job: JobDetailReply, attempts: readonly Attempt[], index: number): number {
  const start = attempts[index]?.from ?? attempts[index]?.to ?? 0;
  const before = attempts[index - 1];
  const asked = before === undefined ? Date.parse(job.createdAt) : askedAgain(job, before.to, start);
  const isLast = index === attempts.length - 1;
  if (isLast) return Math.min(start, Math.max(asked, Date.parse(job.dueAt)));
  if (before === undefined) return Math.min(start, Math.max(asked, Date.parse(job.scheduledFor ?? job.createdAt)));
  return waitsForRetry(job, before) ? start : Math.min(start, asked);
}

/** Whether the next attempt got a time of its own when this one ended. */
const waitsForRetry = ({ events }: JobDetailReply, { attempt }: Attempt): boolean =>
  events.some(({ from, to, attempt: of }) => from === "RUNNING" && to === "RETRY_WAIT" && of === attempt);

/** When a job that had ended was retried, or else the end of the attempt before. */
function askedAgain({ events }: JobDetailReply, ended: number, start: number): number {
  const again = events.findLast(({ to, at }) => to === "PENDING" && Date.parse(at) >= ended && Date.parse(at) <= start);
  return again === undefined ? ended : Date.parse(again.at);
}
