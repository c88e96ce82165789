import type { Settled, Settlement } from "../../../src/machine/store.ts";
import { runLimits } from "../../../src/machine/run-limits.ts";
import { isFinal } from "../../../src/machine/state.ts";
import { insertOne } from "./insert.ts";
import { countEnd } from "./resolve.ts";
import { runIdOf } from "./runs.ts";
import { freeSlotsOf, keepSlotsOf } from "./slots.ts";
import { waitsAgain } from "./turns.ts";
import type { JobRow } from "./rows.ts";
import { idOf, type Tables } from "./tables.ts";

/** Writes the outcomes of tries that are still the newest; the others leave no trace. */
export function settle(
  t: Tables,
  settlements: readonly Settlement[],
  options: { worker: string },
): Settled & { readonly rows: readonly JobRow[] } {
  const rows: JobRow[] = [];
  const queued: JobRow[] = [];
  const freed: string[] = [];
  const runs = new Set<number>();
  const left = new Set<string>();
  for (const settlement of settlements.toSorted((a, b) => Number(a.jobId) - Number(b.jobId))) {
    const held = t.jobs.get(Number(settlement.jobId));
    if (held === undefined || held.state !== "RUNNING" || held.attempt !== settlement.attempt) continue;
    if (held.worker !== options.worker) continue;
    const row = write(t, held, settlement, options);
    const goesOn = settlement.to === "QUEUED" && row.dueAt <= t.now();
    if (goesOn) keepSlotsOf(t, held, row);
    else freed.push(...freeSlotsOf(t, held));
    rows.push(row);
    if (row.state === "QUEUED") queued.push(row);
    if (row.runId !== null && isFinal(row.state)) {
      runs.add(row.runId);
      const ready = countEnd(t, row);
      queued.push(...ready.splice(0, runLimits.releasedRowsMax - queued.length).map((one) => t.queue(one)));
      for (const { lane } of ready) left.add(lane);
    }
  }
  const written = new Set(rows.map(idOf));
  const children = settlements.flatMap((one) => (written.has(one.jobId) ? one.children : []));
  const inserted = children.map((child) => insertOne(t, child, queued));
  const conflicts = inserted.filter(({ isConflict }) => isConflict).length;
  return {
    settled: rows.map(idOf),
    conflicts,
    aftermath: {
      outbox: t.dispatch(queued),
      freed: [...new Set(freed)],
      runs: [...runs].map(runIdOf),
      leftToRelay: [...left],
      turns: { lanes: [], keys: children.flatMap(({ turn }) => turn?.heldOn ?? []) },
      batches: children.flatMap(({ kind, batch }) => (batch === undefined ? [] : { kind, ...batch })),
    },
    rows,
  };
}

function write(t: Tables, held: JobRow, settlement: Settlement, options: { worker: string }): JobRow {
  const why = { worker: options.worker, reason: settlement.reason };
  const { to, errorCode, errorMessage } = settlement;
  const columns = {
    failures: held.failures + settlement.failures,
    interruptions: held.interruptions + settlement.interruptions,
    alone: to === "QUEUED" ? held.alone : false,
    errorCode,
    errorMessage,
    spread: held.runId !== null && (to === "SUCCESS" || to === "FAILED"),
  };
  if (to === "SUCCESS") return t.move(held, { ...columns, state: to, result: settlement.result }, why);
  if (to === "FAILED") return t.move(held, { ...columns, state: to }, why);
  const dueAt = t.now() + settlement.delayMs;
  if (to === "QUEUED") return t.queue(held, { ...columns, dueAt }, why);
  const waiting = t.move(held, { ...columns, ...waitsAgain(held), state: to, dueAt }, why);
  if (settlement.delayMs > t.dispatchWindowMs || settlement.takesTurns === true) return waiting;
  return t.queue(waiting);
}
