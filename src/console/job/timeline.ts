/** What happened to a job, cut into pieces of time: the waterfall draws them. */
import type { ShownJob, ShownJobDetail, ShownJobEvent } from "../shape.ts";

export type Phase = "wait" | "run" | "backoff";

export interface Piece {
  readonly phase: Phase;
  readonly from: number;
  readonly to: number;
}

/** One line of the waterfall: the wait before a try, the try, and the pause behind it. */
export interface Try {
  readonly attempt: number;
  readonly pieces: readonly Piece[];
  readonly outcome: ShownJob["state"] | null;
  readonly error: ShownJobDetail["error"];
  readonly worker: string | null;
}

export interface Timeline {
  readonly tries: readonly Try[];
  readonly from: number;
  readonly to: number;
}

export function timelineOf(job: ShownJobDetail, now: number): Timeline {
  const events = inOrder(job.events);
  const lines = new Map<number, Piece[]>();
  for (const [index, event] of events.entries()) {
    const next = events[index + 1];
    const span = { from: Date.parse(event.at), to: next === undefined ? now : Date.parse(next.at) };
    for (const { attempt, piece } of piecesOf(job, events, index, span)) {
      if (piece.to > piece.from) lines.set(attempt, [...(lines.get(attempt) ?? []), piece]);
    }
  }
  const tries = [...lines].toSorted(([a], [b]) => a - b).map(([attempt, pieces]) => tryOf(job, attempt, pieces));
  const all = tries.flatMap(({ pieces }) => pieces);
  const from = Math.min(...all.map((piece) => piece.from), now);
  return { tries, from, to: Math.max(...all.map((piece) => piece.to), from + 1) };
}

const inOrder = (events: readonly ShownJobEvent[]): readonly ShownJobEvent[] =>
  events.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at) || Number(BigInt(a.id) - BigInt(b.id)));

interface Span {
  readonly from: number;
  readonly to: number;
}

interface Placed {
  readonly attempt: number;
  readonly piece: Piece;
}

/** What the time between an event and the next one was. */
function piecesOf(job: ShownJobDetail, events: readonly ShownJobEvent[], index: number, span: Span): readonly Placed[] {
  const event = events[index];
  if (event === undefined) return [];
  if (event.to === "RUNNING") return [{ attempt: event.attempt, piece: { phase: "run", ...span } }];
  if (event.to === "RETRY_WAIT") return [{ attempt: event.attempt, piece: { phase: "backoff", ...span } }];
  if (event.to !== "PENDING" && event.to !== "QUEUED") return [];
  const attempt = nextAttempt(events, index);
  const wait = (from: number): Placed => ({ attempt, piece: { phase: "wait", from, to: span.to } });
  // The message of a short pause is sent at its beginning: the job is queued then, and still not due.
  const isPause = events[index - 1]?.to === "RETRY_WAIT";
  if (!isPause && event.attempt > 0) return [wait(span.from)];
  // Only the last due time is known. Earlier pauses are shown whole, and what was planned for later does not wait before.
  const isLast = events.slice(index + 1).every(({ to }) => to !== "RETRY_WAIT");
  const due = isLast ? Math.min(span.to, Math.max(span.from, Date.parse(job.dueAt))) : isPause ? span.to : span.from;
  const pause: Placed = { attempt: event.attempt, piece: { phase: "backoff", from: span.from, to: due } };
  return isPause ? [pause, wait(due)] : [wait(due)];
}

function tryOf(job: ShownJobDetail, attempt: number, pieces: readonly Piece[]): Try {
  const ended = job.attempts.find((each) => each.attempt === attempt);
  const isRunning = job.state === "RUNNING" && job.attempt === attempt;
  return {
    attempt,
    pieces,
    outcome: ended?.outcome ?? (isRunning ? "RUNNING" : null),
    error: ended?.error ?? null,
    worker: ended?.worker ?? (isRunning ? job.worker : null),
  };
}

/** The try that a wait leads to. */
function nextAttempt(events: readonly ShownJobEvent[], index: number): number {
  const started = events.slice(index).find(({ to }) => to === "RUNNING");
  return started?.attempt ?? (events[index]?.attempt ?? 0) + 1;
}
