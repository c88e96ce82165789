import type { Context } from "../define/context.ts";
import type { EachOfTask, FanOutBody, Rows } from "../define/definition.ts";
import { PermanentError } from "../define/errors.ts";
import { isQuery, type Query } from "../define/query.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { Outcome } from "../machine/decide.ts";
import type { JobId, Json, RunId } from "../machine/job.ts";
import { runLimits } from "../machine/run-limits.ts";
import type { RunResult } from "../machine/run.ts";
import { openValue } from "../machine/seal.ts";
import type { Tx } from "../machine/transaction.ts";
import type { InvocationScope } from "./invocation-scope.ts";
import { growRun, sealGrown } from "./run-fan-out.ts";

interface EachAttempt {
  readonly scope: InvocationScope;
  readonly each: EachOfTask;
  /** What the task is called with. */
  readonly given: unknown;
  readonly context: Context;
  /** Ends the attempt by an outcome, in the transaction of `work`. */
  readonly endAs: (outcome: Outcome, work: (tx: Tx) => Promise<void>) => Promise<void>;
}

/**
 * An attempt of a task of rows. The first one starts a run as a fan-out does, and waits: the statement that ends that run makes
 * the task due. The next one finds the run ended, and takes its output from it.
 */
export async function runEach(attempt: EachAttempt): Promise<Json | void> {
  const { scope, context } = attempt;
  const { runId } = await growRun(scope, bodyOf(attempt), context);
  const { store } = scope.worker.ports;
  for (;;) {
    const end = await store.runResult(runId);
    if (end !== null) return await outputOf(attempt, end);
    if (await waits(attempt, runId)) return;
  }
}

/** As a fan-out. A row's key begins with the task's job, so that each run has its own. */
function bodyOf({ scope, each, given }: EachAttempt): FanOutBody {
  const { by, rows, tolerate, key } = each;
  let places: { next: number } | null = null;
  const ownKey = (row: unknown): string => {
    if (key !== null) return key(row);
    return String(places === null ? (row as Readonly<Record<string, unknown>>)[by] : places.next++);
  };
  return {
    is: "fanOut",
    ends: { tolerate, continuation: null },
    async from() {
      const source = await boundedRows(scope, await each.from(given));
      places = isQuery(source) ? null : { next: 0 };
      return source;
    },
    by,
    each: rows,
    key: (row) => `${scope.job.jobId}:${ownKey(row)}`,
    payload: (row) => row,
    stillWanted: null,
    materializeBeforeMs: 0,
  };
}

/** Counted before the first is written. @throws PermanentError `TOO_MANY_ROWS`, `INVALID_ROWS`. */
async function boundedRows({ worker, definition }: InvocationScope, source: unknown): Promise<Rows> {
  const { eachRowsMax: max } = contractLimits;
  const refuse = (what: string): never => {
    const rule = `from of task "${definition.id}" must answer at most ${max} rows; it answered ${what}`;
    throw new PermanentError(`${rule}: split them among tasks, or use a fan-out`, { code: "TOO_MANY_ROWS" });
  };
  if (Array.isArray(source)) return source.length > max ? refuse(String(source.length)) : source;
  if (typeof source !== "object" || source === null || !("text" in source || Symbol.asyncIterator in source)) {
    const rule = `from of task "${definition.id}" must answer a list, a query made by sql, or an async iterable`;
    throw new PermanentError(`${rule}; it answered ${typeof source}`, { code: "INVALID_ROWS" });
  }
  // It is one of the two.
  const rows = source as Query<unknown> | AsyncIterable<unknown>;
  if (!isQuery(rows)) return counted(rows, max, () => refuse("more"));
  const { text, values } = rows;
  const ask = `select from (${text}) as one limit $${values.length + 1}`;
  const { rowCount } = await worker.ports.store.transaction((tx) => tx.query(ask, [...values, max + 1]));
  return (rowCount ?? 0) > max ? refuse(`more than ${max}`) : rows;
}

/** An iterable is counted as it is read: its run is then FAILED with the rows before. */
async function* counted(rows: AsyncIterable<unknown>, max: number, refuse: () => never): AsyncIterable<unknown> {
  let left = max;
  for await (const row of rows) {
    if (left === 0) refuse();
    left -= 1;
    yield row;
  }
}

/** Thrown to roll the wait back: its run ended before it was written. */
class EndedMeanwhile extends Error {}

/** Seals the run and waits, in one transaction: the run ends after it. @returns false when the run has ended already. */
async function waits({ scope, endAs }: EachAttempt, runId: RunId): Promise<boolean> {
  const { store } = scope.worker.ports;
  const waiting: Outcome = {
    is: "postponed",
    code: "ROWS_OPEN",
    message: `run ${runId} has the jobs of its rows; its end ends this task`,
    afterMs: contractLimits.delayMsMax,
    counted: false,
  };
  try {
    await endAs(waiting, async (tx) => {
      await sealGrown(scope, runId, tx);
      // The seal has locked the run, so it cannot end between this look and the commit.
      if ((await store.runResult(runId, { tx })) !== null) throw new EndedMeanwhile();
      await scope.worker.ports.crashPoint?.("each.beforeWait");
    });
    return true;
  } catch (error) {
    if (error instanceof EndedMeanwhile) return false;
    throw error;
  }
}

/** @throws PermanentError `ROWS_FAILED` when more failed than are tolerated, or the run was canceled. */
async function outputOf({ scope, each }: EachAttempt, { outcome, ...end }: RunResult): Promise<Json> {
  if (outcome !== "DONE") {
    const { runId, total, failed, canceled } = end;
    const message = `run ${runId} is ${outcome}: ${failed} of its ${total} jobs failed, ${canceled} were canceled`;
    throw new PermanentError(message, { code: "ROWS_FAILED" });
  }
  return each.fold === null ? end : await each.fold(outputsOf(scope, end.runId), end);
}

async function* outputsOf({ worker, definition: { seal } }: InvocationScope, runId: RunId): AsyncIterable<Json | null> {
  const limit = runLimits.fanOutPageRowsMax;
  let after: JobId | null = null;
  for (;;) {
    const page = await worker.ports.store.runOutputs(runId, { after, limit });
    for (const { result } of page) yield seal === null ? result : await openValue(worker.ports.seals, seal, result);
    if (page.length < limit) return;
    after = page.at(-1)?.id ?? null;
  }
}
