import { joinVerdict } from "../../../src/machine/join.ts";
import type { JobId, RunId } from "../../../src/machine/job.ts";
import { mergeAftermaths, noAftermath } from "../../../src/machine/outbox.ts";
import type { RunStore } from "../../../src/machine/run.ts";
import { isFinal } from "../../../src/machine/state.ts";
import { releasedDue } from "./resolve.ts";
import type { JobRow, RunRow } from "./rows.ts";
import { addDelta, runIdOf } from "./runs.ts";
import { rowsOf } from "./each.ts";
import { idOf, type Tables } from "./tables.ts";

type Resumed = Awaited<ReturnType<RunStore["resumeRun"]>>;

/** Puts back what failed and what was skipped because of it, and recounts everything that waits. */
export function resumeRun(t: Tables, id: RunId, { ids, caller }: Parameters<RunStore["resumeRun"]>[1]): Resumed {
  const run = t.runs.get(Number(id));
  if (run === undefined || run.state === "CANCELING") return { ids: [], aftermath: noAftermath };
  const picked = chosen(t, run, ids);
  const rows = rowsOf(t, picked, ["FAILED", "CANCELED"]);
  const again = picked.map((row) => reset(t, row, caller));
  if (again.length === 0) return { ids: [], aftermath: noAftermath };
  const members = t.inRun(run.id);
  for (const row of members) if (row.state === "PENDING") recount(t, row, run);
  const counted = members.filter((row) => isFinal(row.state) && row.spread);
  for (const [key, delta] of Array.from(t.runDeltas.entries())) if (delta.runId === run.id) t.runDeltas.delete(key);
  t.runs.set(run.id, {
    ...run,
    state: "RUNNING",
    stopped: false,
    withdrawn: null,
    finishedAt: null,
    funnel: {
      total: members.length,
      done: counted.length,
      ok: counted.filter((row) => row.state === "SUCCESS").length,
      failed: counted.filter((row) => row.state === "FAILED").length,
      skipped: counted.filter((row) => row.state === "SKIPPED").length,
    },
  });
  addDelta(t, run.id, {});
  const ready = again.flatMap(({ id: jobId }) => t.jobs.get(jobId) ?? []).filter((row) => row.state === "PENDING");
  const lanes = new Set(ready.filter((row) => !row.blocked).map((row) => row.lane));
  const aftermath = { ...noAftermath, runs: [id], leftToRelay: [...lanes] };
  const ofRows = rows.map(({ id: own }) => {
    const resumed = resumeRun(t, runIdOf(own), { caller });
    t.runs.set(own, { ...t.runs.row(own), state: "RUNNING", finishedAt: null, orphaned: true });
    return resumed.aftermath;
  });
  return { ids: again.map(idOf), aftermath: mergeAftermaths([aftermath, ...ofRows]) };
}

const mayRunAgain = (row: JobRow): boolean =>
  row.state === "FAILED" || row.state === "CANCELED" || (row.state === "SKIPPED" && !row.notTaken);

/** All that did not succeed, or the named ones and whatever was skipped downstream of them. */
function chosen(t: Tables, run: RunRow, ids: readonly JobId[] | undefined): JobRow[] {
  const members = t.inRun(run.id);
  if (ids === undefined) return members.filter(mayRunAgain);
  const reached = new Set<number>();
  const walk = members.filter((row) => ids.includes(idOf(row)) && isFinal(row.state) && row.state !== "SUCCESS");
  for (let row = walk.pop(); row !== undefined; row = walk.pop()) {
    if (reached.has(row.id)) continue;
    reached.add(row.id);
    const next = (t.successors.get(row.id)?.to ?? []).map((to) => t.jobs.row(to));
    walk.push(...next.filter((one) => one.state === "SKIPPED" && !one.notTaken));
  }
  return members.filter((row) => reached.has(row.id));
}

function reset(t: Tables, row: JobRow, caller: string | null | undefined): JobRow {
  t.runDone.delete(row.id);
  const counters = { failures: 0, interruptions: 0, deadLetters: 0, alone: false };
  const error = { errorCode: null, errorMessage: null };
  const marks = { spread: false, notTaken: false, blocked: true, expiresAt: null };
  const again = {
    state: "PENDING",
    dueAt: row.attempt === 0 ? Math.max(row.dueAt, t.now()) : t.now(),
    generation: row.generation + 1,
  } as const;
  return t.move(row, { ...again, ...counters, ...error, ...marks }, { reason: "resumed", caller });
}

/** Counters from the edges and states. An end that was not counted yet is still open: the next resolve counts it. */
function recount(t: Tables, row: JobRow, run: RunRow): void {
  if (!row.blocked) return;
  const before = (t.predecessors.get(row.id)?.to ?? []).map((id) => t.jobs.row(id));
  const counted = before.filter((one) => isFinal(one.state) && one.spread);
  const isOk = (one: JobRow): boolean =>
    one.state === "SUCCESS" || (one.state === "FAILED" && run.onFailure === "continue");
  const ok = counted.filter(isOk).length;
  const bad = counted.filter((one) => !isOk(one) && !one.notTaken).length;
  const open = before.length - counted.length;
  for (const [key, delta] of Array.from(t.predDeltas.entries())) if (delta.toId === row.id) t.predDeltas.delete(key);
  const preds = { predsOpen: open, predsOk: ok, predsBad: bad };
  const verdict = before.length === 0 ? "ready" : joinVerdict(row.join, { open, ok, bad });
  if (verdict === "wait" || verdict === "ready") {
    const dueAt = verdict === "ready" ? releasedDue(t, row) : row.dueAt;
    t.change(row, { ...preds, blocked: verdict === "wait", dueAt });
    return;
  }
  const columns = { ...preds, blocked: false, notTaken: verdict === "not taken" };
  t.move(row, { state: "SKIPPED", ...columns }, { reason: verdict });
}
