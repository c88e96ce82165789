import type { RunId } from "../../../src/machine/job.ts";
import { iso } from "../../../src/machine/units.ts";
import { insertOne } from "./insert.ts";
import { joinVerdict } from "../../../src/machine/join.ts";
import { noAftermath } from "../../../src/machine/outbox.ts";
import { awaken, cancelRows } from "./each.ts";
import { continuationKey, type Resolved, type RunState } from "../../../src/machine/run.ts";
import { runLimits } from "../../../src/machine/run-limits.ts";
import { isFinal } from "../../../src/machine/state.ts";
import type { JobRow, RunRow } from "./rows.ts";
import { sealOrphans } from "./orphans.ts";
import { addDelta, funnelOf, runIdOf } from "./runs.ts";
import { freePassed } from "./slots.ts";
import type { Tables } from "./tables.ts";

/**
 * One round over everything that is open: ends, then wide joins, then runs. Which runs it adds up or stops is decided before
 * it counts an end, as a round of Postgres looks once: so the jobs that follow two runs are inserted in the same order.
 */
export function resolve(t: Tables, options: { runs: readonly RunId[] | "all"; limit: number }): Resolved {
  const isAsked = (runId: number): boolean => options.runs === "all" || options.runs.includes(runIdOf(runId));
  const open = [...t.runs.values()].filter((run) => isOpen(run) && isAsked(run.id));
  const sums = open.filter((run) => endsOrStops(t, run));
  const stops = open.filter((run) => isStopping(t, run));
  const ready: JobRow[] = [];
  let steps = options.runs === "all" ? sealOrphans(t) : 0;
  for (const [jobId, runId] of [...t.runDone.entries()].filter(([, run]) => isAsked(run)).slice(0, options.limit)) {
    t.runDone.delete(jobId);
    steps += 1;
    const row = t.jobs.get(jobId);
    if (row === undefined || !isFinal(row.state) || row.spread || row.runId !== runId) continue;
    ready.push(...countEnd(t, t.change(row, { spread: true })));
  }
  for (const [id, delta] of [...t.predDeltas.entries()].filter(([, one]) => isAsked(one.runId))) {
    t.predDeltas.delete(id);
    steps += 1;
    ready.push(...release(t, t.jobs.row(delta.toId), delta));
  }
  const outbox = t.dispatch(ready.map((row) => t.queue(row)));
  const lanes: string[] = [];
  const closed: { runId: RunId; kind: string; state: RunState }[] = [];
  for (const { id } of sums) {
    const { kind, state } = addUp(t, t.runs.row(id));
    steps += 1;
    if (state === "RUNNING" || state === "CANCELING") continue;
    lanes.push(...follow(t, t.runs.row(id)), ...awaken(t, t.runs.row(id)));
    closed.push({ runId: runIdOf(id), kind, state });
  }
  cancelRows(
    t,
    stops.flatMap((run) => startable(t, run)).filter(({ state }) => state === "RETRY_WAIT"),
    null,
  );
  for (const job of stops.flatMap((run) => startable(t, run)).slice(0, options.limit)) {
    t.move(job, { state: "SKIPPED", blocked: false }, { reason: "run stopped" });
    steps += 1;
  }
  const freed = closed.length > 0 || options.runs === "all" ? freePassed(t) : [];
  return {
    steps,
    more: isMore(t, isAsked),
    closed,
    aftermath: { ...noAftermath, outbox, freed, leftToRelay: [...new Set(lanes)] },
  };
}

const isOpen = (run: RunRow): boolean => run.state === "RUNNING" || run.state === "CANCELING";

function isMore(t: Tables, isAsked: (runId: number) => boolean): boolean {
  return (
    [...t.runDone.values()].some(isAsked) ||
    [...t.predDeltas.values()].some((delta) => isAsked(delta.runId)) ||
    [...t.runs.values()].some((run) => isOpen(run) && isAsked(run.id) && (endsOrStops(t, run) || isStopping(t, run)))
  );
}

const isStopping = (t: Tables, run: RunRow): boolean =>
  run.state === "RUNNING" && run.stopped && startable(t, run).length > 0;

/** Whether its deltas close it, stop it, or are many. */
function endsOrStops(t: Tables, run: RunRow): boolean {
  const deltas = [...t.runDeltas.values()].filter(({ runId }) => runId === run.id).length;
  const { done, total, failed } = funnelOf(t, run);
  const stops = run.onFailure === "stop" && !run.stopped && failed > 0;
  return deltas > 0 && (deltas >= runLimits.runDeltasMax || (run.sealed && done >= total) || stops);
}

/** Counts one end: in its run and at each successor. @returns the successors that may start now, not yet QUEUED. */
export function countEnd(t: Tables, row: JobRow): JobRow[] {
  const run = t.runs.row(row.runId ?? 0);
  addDelta(t, run.id, {
    done: 1,
    ok: row.state === "SUCCESS" ? 1 : 0,
    failed: row.state === "FAILED" ? 1 : 0,
    skipped: row.state === "SKIPPED" ? 1 : 0,
  });
  // What is being canceled is canceled by its pages, not skipped because a predecessor was.
  if (run.state !== "RUNNING") return [];
  const isOk = row.state === "SUCCESS" || (row.state === "FAILED" && run.onFailure === "continue");
  const end = { ok: isOk ? 1 : 0, bad: !isOk && !row.notTaken ? 1 : 0 };
  const ready: JobRow[] = [];
  for (const id of t.successors.get(row.id)?.to ?? []) {
    const successor = t.jobs.row(id);
    if (successor.wide) t.predDeltas.set(t.draw("delta"), { toId: id, runId: run.id, ...end });
    else ready.push(...release(t, successor, end));
  }
  return ready;
}

/** A wait ends with its time, or with its signal. */
export const releasedDue = (t: Tables, { signaledAt, wait, dueAt }: JobRow): number =>
  signaledAt !== null ? t.now() : wait?.ms == null ? dueAt : t.now() + wait.ms;

/** What one more end does to a waiting successor. What runs already is not changed by a late predecessor. */
function release(t: Tables, row: JobRow, end: { ok: number; bad: number }): JobRow[] {
  if (row.state !== "PENDING" || !row.blocked) return [];
  const preds = { predsOpen: row.predsOpen - 1, predsOk: row.predsOk + end.ok, predsBad: row.predsBad + end.bad };
  const verdict = joinVerdict(row.join, { open: preds.predsOpen, ok: preds.predsOk, bad: preds.predsBad });
  if (verdict === "wait") {
    t.change(row, preds);
    return [];
  }
  if (verdict !== "ready") {
    const columns = { ...preds, blocked: false, notTaken: verdict === "not taken" };
    t.move(row, { state: "SKIPPED", ...columns }, { reason: verdict });
    return [];
  }
  const free = t.change(row, { ...preds, blocked: false, dueAt: releasedDue(t, row) });
  return free.dueAt <= t.now() + t.dispatchWindowMs ? [free] : [];
}

/** Adds the deltas of a run up; stops it, or closes it when everything is done. */
function addUp(t: Tables, run: RunRow): RunRow {
  const funnel = funnelOf(t, run);
  for (const [id, delta] of t.runDeltas.entries()) if (delta.runId === run.id) t.runDeltas.delete(id);
  const stopped = run.stopped || (funnel.failed > 0 && run.onFailure === "stop" && run.state === "RUNNING");
  const row = { ...run, funnel, stopped };
  const isComplete = row.sealed && funnel.done === funnel.total;
  const ended = isComplete ? { ...row, state: endOf(row), finishedAt: t.now() } : row;
  t.runs.set(run.id, ended);
  return ended;
}

/** Writes the job that follows this end, if it is the first that asks for one. @returns its lane. */
function follow(t: Tables, run: RunRow): readonly string[] {
  const { continuation, state, funnel, input } = run;
  const named = { success: ["DONE"], failure: ["FAILED"], end: ["DONE", "FAILED", "CANCELED"] };
  const isAsked = continuation !== null && named[continuation.on].includes(state);
  if (continuation === null || run.continuedBy !== null || run.withdrawn !== null || !isAsked) return [];
  const { total, done, ok, failed, skipped } = funnel;
  const payload = {
    runId: runIdOf(run.id),
    outcome: state,
    total,
    succeeded: ok,
    failed,
    canceled: done - ok - failed - skipped,
    skipped,
    startedAt: iso(run.createdAt),
    endedAt: iso(t.now()),
    input,
  };
  const { kind, lane, leaseMs, maxAttempts, retentionMs } = continuation;
  const job = { kind, lane, leaseMs, maxAttempts, retentionMs, key: continuationKey(runIdOf(run.id)), payload };
  const rest = { dueAt: null, delayMs: 0, expiresAt: null, slotKeys: [], trace: run.trace };
  const { id } = insertOne(t, { ...job, ...rest }, [], { dispatchWindowMs: -1 });
  t.runs.set(run.id, { ...run, continuedBy: Number(id) });
  return [lane];
}

function endOf(run: RunRow): RunState {
  if (run.state === "CANCELING") return "CANCELED";
  const { total, done, ok, skipped } = run.funnel;
  // As decimals, which the share is written in.
  const isTolerated = (done - ok - skipped) * 1e6 <= Math.round(run.tolerate * 1e6) * total;
  return run.orphaned || !isTolerated ? "FAILED" : "DONE";
}

const startable = (t: Tables, run: RunRow): JobRow[] =>
  t.inRun(run.id).filter((row) => row.state === "PENDING" || row.state === "QUEUED" || row.state === "RETRY_WAIT");
