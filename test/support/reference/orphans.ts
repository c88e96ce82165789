import { isFinal } from "../../../src/machine/state.ts";
import type { NewRun } from "../../../src/machine/run.ts";
import type { RunRow } from "./rows.ts";
import { addDelta } from "./runs.ts";
import type { Tables } from "./tables.ts";

/** One that its own starter left unsealed. */
export function reopened(t: Tables, known: RunRow, { starterId }: NewRun): RunRow {
  const isOwn = known.orphaned && starterId !== null && known.starterId === Number(starterId);
  if (!isOwn || (known.state !== "RUNNING" && known.state !== "FAILED")) return known;
  const row: RunRow = { ...known, state: "RUNNING", sealed: false, orphaned: false, finishedAt: null };
  t.runs.set(row.id, row);
  return row;
}

/** Runs whose starter ended without sealing them. @returns how many. */
export function sealOrphans(t: Tables): number {
  const open = [...t.runs.values()].filter((row) => !row.sealed && row.finishedAt === null);
  const orphans = open.filter((row) => {
    if (row.starterId === null) return false;
    const starter = t.jobs.get(row.starterId);
    return starter === undefined || (isFinal(starter.state) && starter.state !== "SUCCESS");
  });
  for (const row of orphans) {
    const starter = t.jobs.get(row.starterId ?? 0);
    const isCanceled = starter !== undefined && starter.task !== null && starter.state !== "FAILED";
    t.runs.set(row.id, { ...row, sealed: true, orphaned: true, state: isCanceled ? "CANCELING" : row.state });
    addDelta(t, row.id, {});
  }
  return orphans.length;
}
