import type { Context } from "../define/context.ts";
import type { FanOutBody, RunEnds } from "../define/definition.ts";
import { type Moment, momentJson, readMoment } from "../define/moment.ts";
import { checkedJson } from "../define/payload.ts";
import { isQuery } from "../define/query.ts";
import { afterCommit } from "./after-commit.ts";
import { prepare } from "./enqueue.ts";
import type { Json, RunId } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { sealValue } from "../machine/seal.ts";
import { runLimits } from "../machine/run-limits.ts";
import { type NewRun, type NewTarget } from "../machine/run.ts";
import type { Tx } from "../machine/transaction.ts";
import { noAftermath } from "../machine/outbox.ts";
import { finishCancels } from "./cancel-run.ts";
import { readPage } from "./keyset-page.ts";
import { type InvocationScope, momentOf } from "./invocation-scope.ts";

/** Opens the fan-out's run, writes its targets page by page and seals it with this job's success. */
export async function runFanOut(scope: InvocationScope, body: FanOutBody, context: Context): Promise<void> {
  await finishWithdrawn(scope);
  const { runId, counts } = await growRun(scope, body, context);
  await context.tx(async (tx) => {
    await sealGrown(scope, runId, tx);
    return { runId, ...counts };
  });
}

export async function sealGrown(scope: InvocationScope, runId: RunId, tx: Tx): Promise<void> {
  await scope.worker.ports.store.sealRun(runId, { tx });
  scope.left.push({ ...noAftermath, runs: [runId] });
}

/** What an attempt's run has when no page follows. */
interface Grown {
  readonly runId: RunId;
  readonly counts: { readonly targets: number; readonly existing: number };
}

/** Opens this job's run and writes its targets page by page; a new attempt goes on behind the last written page. */
export async function growRun(scope: InvocationScope, body: FanOutBody, context: Context): Promise<Grown> {
  const { store } = scope.worker.ports;
  const own = await momentOf(scope, context);
  const wanted = runOf(scope, own, body.ends);
  const run = await store.startRun(wanted);
  // The moment of the run's first attempt, or of the run that is repeated.
  const moment = readMoment(run.input) ?? own;
  const counts = { targets: 0, existing: 0 };
  const pages: Pages = {
    scope,
    body,
    context,
    moment,
    counts,
    runId: run.runId,
    mark: markOf(wanted.key, run.parentId),
  };
  if (!run.sealed) await writePages(pages, run.cursor);
  if (counts.existing > 0) context.log.info(`${counts.existing} targets exist already`, { run: run.runId });
  return { runId: run.runId, counts };
}

interface Pages {
  readonly scope: InvocationScope;
  readonly body: FanOutBody;
  readonly context: Context;
  readonly moment: Moment;
  readonly runId: RunId;
  /** What this attempt wrote, and rows whose target exists: of an earlier run, or of an earlier attempt. */
  readonly counts: { targets: number; existing: number };
  /** Ends each target's key. */
  readonly mark: string;
}

/** Cancels withdrawn targets first: they keep their keys until then, and this time may use the same keys. */
async function finishWithdrawn({ worker, definition, hold }: InvocationScope): Promise<void> {
  const only = { withdrawn: definition.id };
  await finishCancels(worker.ports, worker.registry, { signal: hold.signal, only });
}

/** A repeated run makes every target again, so their keys end like its own: `#2`. */
const markOf = (runKey: string, parentId: RunId | null): string =>
  parentId === null ? "" : (/#\d+$/.exec(runKey)?.[0] ?? "");

function runOf({ job, definition }: InvocationScope, moment: Moment, ends: RunEnds): NewRun {
  return {
    kind: definition.id,
    key: job.key ?? `job:${job.jobId}`,
    version: 1,
    input: momentJson(moment),
    onFailure: "skip-downstream",
    ...ends,
    retentionMs: definition.retentionMs,
    trace: job.trace,
    starterId: job.jobId,
    parentId: null,
    sealed: false,
    shape: null,
    tasks: [],
  };
}

async function writePages(pages: Pages, from: Json | null): Promise<void> {
  const { scope, body, context, moment } = pages;
  const source = await body.from(moment);
  if (!isQuery(source)) return await writeIterable(pages, source);
  const limit = runLimits.fanOutPageRowsMax;
  let cursor = from;
  for (;;) {
    context.signal.throwIfAborted();
    const range = { id: scope.definition.id, by: body.by, after: cursor, limit };
    const { rows, cursor: next } = await scope.worker.ports.store.transaction((tx) => readPage(tx, source, range));
    // The cursor moves with the last part: rows of one value are read again together.
    for (let begin = 0; begin < rows.length; begin += limit) {
      const isLast = begin + limit >= rows.length;
      await writePage(pages, { rows: rows.slice(begin, begin + limit), cursor: isLast ? next : cursor });
    }
    if (rows.length < limit) return;
    cursor = next;
  }
}

async function writeIterable(pages: Pages, source: AsyncIterable<unknown> | Iterable<unknown>): Promise<void> {
  let rows: unknown[] = [];
  for await (const row of source) {
    pages.context.signal.throwIfAborted();
    rows.push(row);
    if (rows.length < runLimits.fanOutPageRowsMax) continue;
    await writePage(pages, { rows, cursor: null });
    rows = [];
  }
  if (rows.length > 0) await writePage(pages, { rows, cursor: null });
}

/** One page: its targets and the cursor behind them in one transaction, dispatched after its commit. */
async function writePage(pages: Pages, page: { rows: readonly unknown[]; cursor: Json | null }): Promise<void> {
  const { scope, runId } = pages;
  const { job, worker, definition } = scope;
  const { ports } = worker;
  const targets = await targetsOf(pages, page.rows);
  await ports.crashPoint?.("fanout.beforePage");
  const by = { jobId: job.jobId, attempt: job.attempt };
  const written = await ports.store.addPage(runId, { targets, cursor: page.cursor, by });
  if (!written.written) {
    throw new Error(`run ${runId} takes no more pages: it was canceled, or this attempt lost its job`);
  }
  await ports.crashPoint?.("fanout.afterPage");
  pages.counts.targets += written.created;
  pages.counts.existing += targets.length - written.created;
  const dimensions = { job: definition.id };
  ports.metrics.add("fanout.targets", written.created, "Count", dimensions);
  if (written.conflicts > 0) ports.metrics.add("fanout.conflicts", written.conflicts, "Count", dimensions);
  await afterCommit(ports, written.aftermath);
}

async function targetsOf({ scope, body, moment, mark }: Pages, rows: readonly unknown[]): Promise<NewTarget[]> {
  const { effectiveAt } = scope.job;
  const items = rows.map((row) => ({
    payload: body.payload(row, moment),
    key: `${body.key(row, moment)}${mark}`,
    dueAt: effectiveAt === null ? moment.scheduledFor : new Date(effectiveAt),
  }));
  const { seals } = scope.worker.ports;
  const jobs = await prepare(body.each, { trace: scope.job.trace, seals }, items);
  if (body.stillWanted === null) return jobs.map((job) => ({ job, row: null }));
  const { seal } = body.each;
  const kept = rows.map((row) => checkedJson(scope.definition.id, row));
  return await Promise.all(
    jobs.map(async (job, place) => {
      const row = kept[place] ?? null;
      return { job, row: seal === null ? row : await sealValue(seals, seal, row, contractLimits.payloadBytesMax) };
    }),
  );
}
