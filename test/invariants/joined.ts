import { joinVerdict } from "../../src/machine/join.ts";
import { isFinal, type State } from "../../src/machine/state.ts";
import type { Evidence, EventFact, JobFact, RunFact, TaskFact, Violation } from "./evidence.ts";

/**
 * C7: no job starts before its join rule holds over its predecessors' states; counters equal a recount; a run that is
 * closed says what became of its jobs, and one whose jobs have all ended is closed. A task has one run of its rows, and ends after it.
 */
export function* joined(evidence: Evidence): Generator<Violation> {
  const { runs = [] } = evidence;
  if (runs.length === 0) return;
  const tasks = new Map(runs.flatMap((run) => run.tasks.map((task) => [task.jobId, { task, run }] as const)));
  yield* starts(evidence.events, tasks);
  const followers = Map.groupBy(evidence.jobs, (job) => job.followsRun ?? null);
  for (const run of runs) {
    yield* counted(run, evidence);
    yield* ofRows(run, tasks.get(run.starterId ?? "")?.task, runs);
    if (run.isFollowed === true) yield* followed(run, followers.get(run.id) ?? []);
  }
}

/** Nothing when no task started it. */
function* ofRows(run: RunFact, task: TaskFact | undefined, runs: readonly RunFact[]): Generator<Violation> {
  if (task === undefined) return;
  if (runs.some(({ id, starterId }) => starterId === task.jobId && id !== run.id))
    yield broken(`task ${task.jobId} has another run of rows than ${run.id}`);
  const isRight = task.state === "SUCCESS" ? run.state === "DONE" : !isFinal(task.state) || run.state !== "RUNNING";
  if (!isRight) yield broken(`task ${task.jobId} is ${task.state}, but run ${run.id} of its rows is ${run.state}`);
}

/** One job is written by the first end of a run, and enqueues one. */
function* followed({ id, finishedAt }: RunFact, jobs: readonly JobFact[]): Generator<Violation> {
  const [written = [], enqueued = []] = [true, false].map((by) =>
    jobs.filter(({ kind }) => kind.endsWith(".then") === by),
  );
  const isEnded = (finishedAt ?? null) !== null;
  const isRight = written.length === 1 || (written.length === 0 && !isEnded);
  if (!isRight) yield broken(`the end of run ${id} wrote ${written.length} jobs`);
  const due = written.filter(({ state }) => state === "SUCCESS").length;
  if (enqueued.length !== due) yield broken(`${enqueued.length} jobs follow run ${id} instead of ${due}`);
}

type Members = ReadonlyMap<string, { readonly task: TaskFact; readonly run: RunFact }>;

/**
 * Event by event: each start needs a moment at which the rule held over the predecessors' states. It may be over: a retry of a
 * predecessor that had ended does not take back the successors it had released.
 */
function* starts(events: readonly EventFact[], members: Members): Generator<Violation> {
  const states = new Map<string, Ended>();
  const released = new Set<string>();
  const judge = (jobId: string): string => {
    const member = members.get(jobId);
    if (member === undefined || member.task.after.length === 0) return "ready";
    const { task, run } = member;
    const preds = count(
      task.after.map((before) => states.get(before) ?? { state: "PENDING", notTaken: false }),
      run,
    );
    const verdict = joinVerdict(task.join, preds);
    if (verdict === "ready") released.add(jobId);
    return `its join ${JSON.stringify(task.join)} says ${verdict}: ${JSON.stringify(preds)}`;
  };
  const successors = successorsOf(members);
  for (const event of events) {
    if (!members.has(event.jobId)) continue;
    states.set(event.jobId, { state: event.to, notTaken: event.to === "SKIPPED" && isNotTaken(event.reason) });
    if (isFinal(event.to)) for (const after of successors.get(event.jobId) ?? []) judge(after);
    // A job that was retried needs another moment: that of its retry, when its predecessors had ended before, or a later one.
    if (event.from !== null && isFinal(event.from)) {
      released.delete(event.jobId);
      judge(event.jobId);
    }
    if (event.to !== "RUNNING" || released.has(event.jobId)) continue;
    const verdict = judge(event.jobId);
    if (verdict !== "ready" && !released.has(event.jobId)) yield broken(`job ${event.jobId} started, but ${verdict}`);
  }
}

interface Ended {
  readonly state: State;
  readonly notTaken: boolean;
}

function successorsOf(members: Members): ReadonlyMap<string, readonly string[]> {
  const successors = new Map<string, string[]>();
  for (const { task } of members.values()) {
    for (const before of task.after) successors.set(before, [...(successors.get(before) ?? []), task.jobId]);
  }
  return successors;
}

const isNotTaken = (reason: string | null): boolean => reason === "not taken" || reason === "no longer wanted";

function count(before: readonly { state: State; notTaken: boolean }[], { onFailure }: RunFact) {
  const ended = before.filter((one) => isFinal(one.state));
  const isOk = (one: { state: State }): boolean =>
    one.state === "SUCCESS" || (one.state === "FAILED" && onFailure === "continue");
  const ok = ended.filter(isOk).length;
  const bad = ended.filter((one) => !isOk(one) && !one.notTaken).length;
  return { open: before.length - ended.length, ok, bad };
}

/** At the end: nothing waits whose predecessors have ended, and the run's own figures. */
function* counted(run: RunFact, evidence: Evidence): Generator<Violation> {
  const states = new Map(run.tasks.map((task) => [task.jobId, task]));
  // A run that is still going may lie between the end of a task and the count of it.
  const isSettled = run.createdAt < evidence.endedBefore;
  for (const task of isSettled ? run.tasks.filter((one) => one.blocked && !isFinal(one.state)) : []) {
    const preds = count(
      task.after.flatMap((before) => states.get(before) ?? []),
      run,
    );
    if (preds.open === 0) yield broken(`job ${task.jobId} waits, but all its predecessors have ended`);
    else if (JSON.stringify(preds) !== JSON.stringify(task.preds))
      yield broken(`job ${task.jobId} counts ${JSON.stringify(task.preds)} instead of ${JSON.stringify(preds)}`);
  }
  const open = run.tasks.filter((task) => !isFinal(task.state));
  const isClosed = run.state !== "RUNNING" && run.state !== "CANCELING";
  if (isClosed && open.length > 0) yield broken(`run ${run.id} is ${run.state} with ${open.length} open jobs`);
  if (!isClosed && isSettled && run.sealed && open.length === 0)
    yield broken(`run ${run.id} is ${run.state}, but all its jobs have ended`);
  if (!isClosed) return;
  const of = (state: State): number => run.tasks.filter((task) => task.state === state).length;
  const figures = { total: run.tasks.length, ok: of("SUCCESS"), failed: of("FAILED"), skipped: of("SKIPPED") };
  const shown = { total: run.total, ok: run.ok, failed: run.failed, skipped: run.skipped };
  if (JSON.stringify(figures) !== JSON.stringify(shown))
    yield broken(`run ${run.id} shows ${JSON.stringify(shown)} instead of ${JSON.stringify(figures)}`);
}

const broken = (detail: string): Violation => ({ invariant: "C7", detail });
