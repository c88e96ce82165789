import type { Context, Duration, Job } from "./context.ts";
import { definitionFrom, definitionOf, jobOf, type StarterLimits } from "./define-job.ts";
import type { ConditionResult, JobDefinition } from "./definition.ts";
import { prepare } from "../delivery/enqueue.ts";
import { insideOf } from "../work/inside.ts";
import type { InvocationScope } from "../work/invocation-scope.ts";
import type { Json } from "../job/job.ts";
import { limits } from "../limits.ts";
import { checkMoment, type Moment, momentJson, momentOf, readMoment } from "./moment.ts";
import { checkedJson } from "./new-job.ts";
import type { InRun, NewRun, NewTarget, RunId } from "../ports/ports.ts";
import { finishCancels } from "../admin/run-control.ts";
import { ProblemList } from "./problem.ts";
import { isQuery, pageOf, type Query } from "./query.ts";
import { sendOutbox } from "../delivery/send.ts";
import { readDuration } from "./setting.ts";

/** The limits are those of the job that writes the targets; a try goes on behind the last page that was written. */
export interface FanOutOptions<R, I> extends StarterLimits {
  readonly id: string;
  /** One job for each row. A `sql` query is read in keyset pages; an iterable is read again from its start after a crash. */
  from(occurrence: Moment): Query<R> | AsyncIterable<R>;
  /** The column a query is paged by: unique, in an order that does not change. Default `id`. */
  readonly by?: string;
  /** Makes a repeated page harmless: a row whose key has a job already makes no second one. */
  key(row: NoInfer<R>, occurrence: Moment): string;
  readonly each: Job<I>;
  payload(row: NoInfer<R>, occurrence: Moment): NoInfer<I>;
  /** Targets are written this much before the nominal time, and are due at it. */
  readonly materializeBefore?: Duration;
  /** Asked right before a target is claimed: false makes it SKIPPED `no longer wanted`. */
  stillWanted?(row: NoInfer<R>): Promise<boolean> | boolean;
}

/** Defines one job per row. Its job opens a run and writes its targets page by page; the last page seals it. */
export function defineFanOut<R, I>(options: FanOutOptions<R, I>): Job<void> {
  const problems = new ProblemList(`fan-out "${options.id}"`);
  const base = definitionFrom({ ...starterLimits, ...limitsOf(options), id: options.id, run: () => null });
  const materializeBeforeMs = readDuration(problems, "materializeBefore", options.materializeBefore, {
    min: 0,
    max: limits.materializeBeforeMsMax,
    fallback: 0,
  });
  const each = definitionOf(options.each);
  const definition: JobDefinition = {
    ...base,
    problems: [...(base.problems ?? []), ...problems.found],
    makes: [each],
    materializeBeforeMs,
    writesPages: true,
    readsMoment: true,
    check: checkMoment,
    run: (_payload, context) => fanOut(options, each, context, base.retentionMs),
    condition: (run) => ask(options, run),
  };
  return jobOf(definition, undefined);
}

/** Patient, since whoever is not written is not told: about six minutes of a database that is away. */
const starterLimits: StarterLimits = {
  timeout: "14m",
  retry: { maxAttempts: limits.starterAttemptsDefault, cap: "1m" },
};

export function limitsOf({ lane, timeout, retry, retention, lease }: StarterLimits): StarterLimits {
  const given = { lane, timeout, retry, retention, lease };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

async function fanOut<R, I>(
  options: FanOutOptions<R, I>,
  each: JobDefinition,
  context: Context,
  retentionMs: number,
): Promise<void> {
  const scope = insideOf(context);
  const { store } = scope.worker.ports;
  const { dispatchWindowMs } = scope.worker.options;
  const own = await momentOf(context, scope);
  await finishWithdrawn(scope, options.id);
  const asked = runOf(options.id, scope, retentionMs, own);
  const run = await store.startRun(asked, { dispatchWindowMs });
  // The run's own: that of the first try, or of the run that is done again.
  const moment = readMoment(run.input) ?? own;
  const source = run.parentId === null ? options : { ...options, key: keyAgain(options, asked.key) };
  if (!run.sealed) await writePages(source, each, context, moment, run);
  await context.tx(async (tx) => {
    await store.sealRun(run.runId, { tx });
    scope.runs.add(run.runId);
    return { runId: run.runId };
  });
}

/** Targets that were withdrawn keep their keys until they are CANCELED, and this time may want them. */
async function finishWithdrawn({ worker, signal }: InvocationScope, withdrawn: string): Promise<void> {
  const { ports, registry, options } = worker;
  await finishCancels(ports, registry, { dispatchWindowMs: options.dispatchWindowMs, signal, only: { withdrawn } });
}

/** A run that is done again makes every target anew, so their keys end like its own: `#2`. */
function keyAgain<R, I>(options: FanOutOptions<R, I>, runKey: string): FanOutOptions<R, I>["key"] {
  const mark = /#\d+$/.exec(runKey)?.[0] ?? "";
  return (row, moment) => `${options.key(row, moment)}${mark}`;
}

function runOf(kind: string, scope: InvocationScope, retentionMs: number, moment: Moment): NewRun {
  const { job } = scope;
  return {
    kind,
    key: job.key ?? `job:${job.jobId}`,
    version: 1,
    input: momentJson(moment),
    onFailure: "skip-downstream",
    retentionMs,
    trace: job.trace,
    starterId: job.jobId,
    parentId: null,
    sealed: false,
    tasks: [],
  };
}

async function writePages<R, I>(
  options: FanOutOptions<R, I>,
  each: JobDefinition,
  context: Context,
  moment: Moment,
  run: { runId: RunId; cursor: Json | null },
): Promise<void> {
  const source = options.from(moment);
  if (!isQuery(source)) return await writeIterable(options, each, context, moment, run.runId, source);
  const { ports } = insideOf(context).worker;
  const by = options.by ?? "id";
  let cursor: Json | null = run.cursor;
  for (;;) {
    context.signal.throwIfAborted();
    const { text, values } = pageOf(source, by, cursor, limits.fanOutPageRowsMax);
    const rows = await ports.store.transaction(async (tx) => (await tx.query(text, values)).rows as R[]);
    if (rows.length === 0) return;
    cursor = cursorOf(options.id, by, rows.at(-1));
    await writePage(options, each, context, moment, run.runId, { rows, cursor });
    if (rows.length < limits.fanOutPageRowsMax) return;
  }
}

async function writeIterable<R, I>(
  options: FanOutOptions<R, I>,
  each: JobDefinition,
  context: Context,
  moment: Moment,
  runId: RunId,
  source: AsyncIterable<R>,
): Promise<void> {
  let rows: R[] = [];
  for await (const row of source) {
    context.signal.throwIfAborted();
    rows.push(row);
    if (rows.length < limits.fanOutPageRowsMax) continue;
    await writePage(options, each, context, moment, runId, { rows, cursor: null });
    rows = [];
  }
  if (rows.length > 0) await writePage(options, each, context, moment, runId, { rows, cursor: null });
}

/** One page: its targets and the cursor behind them in one transaction, handed off after its commit. */
async function writePage<R, I>(
  options: FanOutOptions<R, I>,
  each: JobDefinition,
  context: Context,
  moment: Moment,
  runId: RunId,
  page: { rows: readonly R[]; cursor: Json | null },
): Promise<void> {
  const { job, worker } = insideOf(context);
  const { ports, options: how } = worker;
  const items = page.rows.map((row) => ({
    payload: options.payload(row, moment),
    key: options.key(row, moment),
    dueAt: moment.scheduledFor,
  }));
  const jobs = await prepare(each, how.stage, job.trace, items);
  const targets = jobs.map((one, place): NewTarget => {
    const row = page.rows[place];
    return { job: one, row: options.stillWanted === undefined ? null : checkedJson(options.id, row) };
  });
  await ports.crashPoint("fanout.beforePage");
  const by = { jobId: job.jobId, attempt: job.attempt };
  const written = await ports.store.addPage(
    runId,
    { targets, cursor: page.cursor, by },
    { dispatchWindowMs: how.dispatchWindowMs },
  );
  if (!written.written) throw new Error(`run ${runId} takes no more pages: it was canceled, or this try lost its job`);
  await ports.crashPoint("fanout.afterPage");
  ports.metrics.add("fanout.targets", written.created, "Count", { job: options.id });
  if (written.conflicts > 0) ports.metrics.add("fanout.conflicts", written.conflicts, "Count", { job: options.id });
  await sendOutbox(ports, written.outbox);
}

/** @throws Error when the query does not select the column it is paged by. */
export function cursorOf(id: string, by: string, row: unknown): Json {
  const value: unknown = typeof row === "object" && row !== null ? Reflect.get(row, by) : undefined;
  if (value === undefined || value === null) {
    throw new Error(
      `"${id}": its query is paged by column "${by}", which a row does not have: select it, or set \`by\``,
    );
  }
  return value instanceof Date ? value.toISOString() : (value as Json);
}

async function ask<R, I>(options: FanOutOptions<R, I>, run: InRun): Promise<ConditionResult> {
  if (options.stillWanted === undefined || (await options.stillWanted(run.row as R))) return { wanted: true };
  return { wanted: false, reason: "no longer wanted", notTaken: true };
}
