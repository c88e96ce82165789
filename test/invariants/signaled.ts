import type { Signaled } from "../../src/machine/run.ts";
import type { Evidence, JobFact, Violation } from "./evidence.ts";
import { firstMoves } from "./followed-times.ts";

/** What the senders of signals and the tasks behind the waits saw. */
export interface SignalFacts {
  /** By the kind of a task that waits: how long at most. */
  readonly waitMs: ReadonlyMap<string, number>;
  readonly sent: readonly Sent[];
  readonly seen: readonly Seen[];
}

export interface Sent {
  readonly runId: string;
  /** Of the task that waits. */
  readonly kind: string;
  /** All that its payload holds. */
  readonly by: string;
  /** Null when the sender got no answer: it may be taken or not. */
  readonly answer: Signaled["is"] | null;
  /** When it was answered. */
  readonly at: number;
}

/** What a task found in the output of the one that waited before it; `by` is null where no signal came. */
export interface Seen {
  readonly jobId: string;
  readonly kind: string;
  readonly by: string | null;
}

/** C15: each task takes one signal, keeps it until it waits, and ends by it or by its time; what follows sees that one. */
export function* signaled(evidence: Evidence): Generator<Violation> {
  const { signals } = evidence;
  if (signals === undefined) return;
  const place = (runId: string | null | undefined, kind: string): string => `${kind} of run ${runId}`;
  const sent = Map.groupBy(signals.sent, ({ runId, kind }) => place(runId, kind));
  const runOf = new Map(evidence.jobs.map(({ id, runId }) => [id, runId]));
  const seen = Map.groupBy(signals.seen, ({ jobId, kind }) => place(runOf.get(jobId), kind));
  const ended = endsOf(evidence);
  for (const job of evidence.jobs) {
    const ms = signals.waitMs.get(job.kind);
    if (ms === undefined) continue;
    const where = place(job.runId, job.kind);
    const own = sent.get(where) ?? [];
    yield* answered(where, own);
    const taken = own.find(({ answer }) => answer === "taken");
    const possible = taken === undefined ? own.filter(({ answer }) => answer === null) : [taken];
    const brought = new Set(seen.get(where)?.map(({ by }) => by));
    if (brought.size > 1) yield broken(`${where}: what follows saw ${[...brought].join(" and ")}`);
    for (const by of brought)
      if (by === null ? taken !== undefined : possible.every((one) => one.by !== by))
        yield broken(`${where}: what follows saw ${by}, taken was ${taken?.by ?? "nothing"}`);
    const { startedAt, releasedAt, timedOutAt } = ended(job);
    if (possible.length === 0 && startedAt < releasedAt + ms)
      yield broken(`${where} waited ${startedAt - releasedAt} ms of ${ms}, and no signal came`);
    if (taken !== undefined && timedOutAt > taken.at) yield broken(`${where} ended by its time after its signal`);
  }
}

function* answered(where: string, sent: readonly Sent[]): Generator<Violation> {
  const taken = sent.filter(({ answer }) => answer === "taken");
  if (taken.length > 1) yield broken(`${where} took ${taken.length} signals`);
  const [first] = taken;
  const isWrong = ({ by, answer }: Sent): boolean =>
    first !== undefined && (answer === "repeated" ? by !== first.by : answer === "conflict" && by === first.by);
  for (const { by, answer } of sent.filter(isWrong)) yield broken(`${where} took ${first?.by}, and ${by} is ${answer}`);
}

/** Of a job that waits: its first start, the earliest moment at which it may have begun to wait, and its last end by its time. */
function endsOf(
  evidence: Evidence,
): (job: JobFact) => Readonly<Record<"startedAt" | "releasedAt" | "timedOutAt", number>> {
  const started = firstMoves(evidence, "RUNNING");
  const done = firstMoves(evidence, "SUCCESS");
  const tasks = new Map((evidence.runs ?? []).flatMap((run) => run.tasks.map((task) => [task.jobId, task] as const)));
  const codes = new Map(evidence.attempts.map((row) => [`${row.jobId}/${row.attempt}`, row.errorCode]));
  const timedOut = new Map<string, number>();
  for (const { jobId, attempt, to, at } of evidence.events)
    if (to === "FAILED" && codes.get(`${jobId}/${attempt}`) === "SIGNAL_TIMEOUT") timedOut.set(jobId, at);
  return ({ id }) => ({
    startedAt: started.get(id) ?? Number.POSITIVE_INFINITY,
    releasedAt: Math.max(0, ...(tasks.get(id)?.after ?? []).map((before) => done.get(before) ?? 0)),
    timedOutAt: timedOut.get(id) ?? 0,
  });
}

const broken = (detail: string): Violation => ({ invariant: "C15", detail });
