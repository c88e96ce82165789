import { joinVerdict } from "../../../src/machine/join.ts";
import type { JobId, RunId } from "../../../src/machine/job.ts";
import { type Aftermath, mergeAftermaths, noAftermath } from "../../../src/machine/outbox.ts";
import { type Renewal, renewalOf, rowsUndone } from "../../../src/machine/renewal.ts";
import type { Resumed, RunStore } from "../../../src/machine/run.ts";
import { isFinal } from "../../../src/machine/state.ts";
import { renew, standingOf } from "./renew.ts";
import { releasedDue } from "./resolve.ts";
import type { JobRow, RunRow } from "./rows.ts";
import { addDelta, runIdOf } from "./runs.ts";
import { rowsOf } from "./each.ts";
import { idOf, type Tables } from "./tables.ts";

const nothing: Resumed = { ids: [], aftermath: noAftermath };

/** Puts back what failed and what was skipped because of it, and recounts everything that waits. */
export function resumeRun(t: Tables, id: RunId, options: Parameters<RunStore["resumeRun"]>[1]): Resumed {
  const { ids, caller, newer } = options;
  const run = t.runs.get(Number(id));
  if (run === undefined || run.state === "CANCELING") return nothing;
  const failed = chosen(t, run, ids);
  const rows = rowsOf(t, failed, ["FAILED", "CANCELED"]);
  const undone = failed.filter(
    ({ id: one, task }) => rows.some((row) => row.starterId === one) && newer?.tasks.some((each) => each.task === task),
  );
  if (undone.length > 0) return { ...nothing, differences: undone.map(({ task }) => rowsUndone(task ?? "")) };
  const renewal = newer === undefined ? null : renewalOf(standingOf(t, run.id), newer.tasks);
  if (renewal !== null && renewal.differences.length > 0) return { ...nothing, differences: renewal.differences };
  const { open = new Set(), removed = [], jobs = [], again = failed.map(idOf) }: Partial<Renewal> = renewal ?? {};
  const picked = again.map((each) => t.jobs.row(Number(each)));
  if (picked.length + open.size + removed.length === 0 && !jobs.includes(null)) return nothing;
  for (const row of picked) reset(t, row, caller);
  const added = newer === undefined || renewal === null ? null : renew(t, run.id, newer, renewal);
  const written = added === null ? again : [...removed, ...open, ...added.ids];
  const aftermath = goOn(t, run.id, { ids: written, removed, rows: newer === undefined ? rows : [], caller });
  return { ids: written, aftermath: mergeAftermaths([{ ...noAftermath, outbox: added?.outbox ?? [] }, aftermath]) };
}

interface GoOn {
  readonly ids: readonly JobId[];
  readonly removed: readonly JobId[];
  readonly rows: readonly RunRow[];
  readonly caller: string | null | undefined;
}

function goOn(t: Tables, runId: number, { ids, removed, rows, caller }: GoOn): Aftermath {
  const run = t.runs.row(runId);
  const members = t.inRun(run.id);
  for (const row of members) if (row.state === "PENDING") recount(t, row, run, removed);
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
  const ready = ids.map((id) => t.jobs.row(Number(id))).filter((row) => row.state === "PENDING");
  const lanes = new Set(ready.filter((row) => !row.blocked).map((row) => row.lane));
  const aftermath = { ...noAftermath, runs: [runIdOf(run.id)], leftToRelay: [...lanes] };
  const ofRows = rows.map(({ id: own }) => {
    const resumed = resumeRun(t, runIdOf(own), { caller });
    t.runs.set(own, { ...t.runs.row(own), state: "RUNNING", finishedAt: null, orphaned: true });
    return resumed.aftermath;
  });
  return mergeAftermaths([aftermath, ...ofRows]);
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
function recount(t: Tables, row: JobRow, run: RunRow, removed: readonly JobId[]): void {
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
  const isRemoved = removed.includes(idOf(row));
  const verdict = isRemoved ? "removed" : before.length === 0 ? "ready" : joinVerdict(row.join, { open, ok, bad });
  if (verdict === "wait" || verdict === "ready") {
    const dueAt = verdict === "ready" ? releasedDue(t, row) : row.dueAt;
    t.change(row, { ...preds, blocked: verdict === "wait", dueAt });
    return;
  }
  const columns = { ...preds, blocked: false, notTaken: verdict !== "upstream" };
  t.move(row, { state: "SKIPPED", ...columns }, { reason: verdict });
}
