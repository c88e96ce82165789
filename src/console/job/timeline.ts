/** What happened to a job, cut into pieces of time: the waterfall draws them. */
import type { Job, JobDetail, JobEvent } from "../shape.ts";

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
  readonly outcome: Job["state"] | null;
  readonly error: JobDetail["error"];
  readonly worker: string | null;
}

export interface Timeline {
  readonly tries: readonly Try[];
  readonly from: number;
  readonly to: number;
}

/** Time before the due time is no wait: a job that is planned for tomorrow does not queue today. */
export function timelineOf(job: JobDetail, now: number): Timeline {
  const dueAt = Date.parse(job.dueAt);
  const events = job.events.toSorted(
    (a, b) => Date.parse(a.at) - Date.parse(b.at) || Number(BigInt(a.id) - BigInt(b.id)),
  );
  const lines = new Map<number, Piece[]>();
  for (const [index, event] of events.entries()) {
    const phase = phaseOf(event);
    if (phase === null) continue;
    const next = events[index + 1];
    const until = next === undefined ? now : Date.parse(next.at);
    const from =
      phase === "wait" && event.attempt === 0
        ? Math.min(until, Math.max(Date.parse(event.at), dueAt))
        : Date.parse(event.at);
    const line = phase === "wait" ? nextAttempt(events, index) : event.attempt;
    if (until > from) lines.set(line, [...(lines.get(line) ?? []), { phase, from, to: until }]);
  }
  const tries = [...lines.entries()]
    .toSorted(([a], [b]) => a - b)
    .map(([attempt, pieces]) => tryOf(job, attempt, pieces));
  const all = tries.flatMap(({ pieces }) => pieces);
  const from = Math.min(...all.map((piece) => piece.from), now);
  return { tries, from, to: Math.max(...all.map((piece) => piece.to), from + 1) };
}

function tryOf(job: JobDetail, attempt: number, pieces: readonly Piece[]): Try {
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

function phaseOf({ to }: JobEvent): Phase | null {
  if (to === "RUNNING") return "run";
  if (to === "RETRY_WAIT") return "backoff";
  return to === "PENDING" || to === "QUEUED" ? "wait" : null;
}

/** The try that a wait leads to. */
function nextAttempt(events: readonly JobEvent[], index: number): number {
  const started = events.slice(index).find(({ to }) => to === "RUNNING");
  return started?.attempt ?? (events[index]?.attempt ?? 0) + 1;
}
