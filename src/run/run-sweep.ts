import type { Context } from "../define/context.ts";
import type { SweepBody } from "../define/definition.ts";
import { type Moment, momentInPayload, momentJson } from "../define/moment.ts";
import { newJob } from "../define/new-job.ts";
import { afterCommit } from "./after-commit.ts";
import { prepare } from "./enqueue.ts";
import type { Json, NewJob } from "../machine/job.ts";
import { mergeAftermaths } from "../machine/outbox.ts";
import { type Tx } from "../machine/transaction.ts";
import { type InvocationScope, momentOf } from "./invocation-scope.ts";
import { readPage } from "./keyset-page.ts";
import { runFanOut } from "./run-fan-out.ts";

/** Makes one job for every due row, page by page; a continuation job does the rest. */
export async function runSweep(scope: InvocationScope, body: SweepBody, context: Context): Promise<void> {
  if (momentInPayload(scope.job.payload) === null) measureLateness(scope, body, context);
  const { ends, due: from } = body;
  if (ends === null) return await writePages(scope, body, context);
  await runFanOut(scope, { ...body, is: "fanOut", ends, from, stillWanted: null, materializeBeforeMs: 0 }, context);
}

function measureLateness({ definition, worker }: InvocationScope, body: SweepBody, { lateness, log }: Context): void {
  const { metrics } = worker.ports;
  const job = definition.id;
  const max = body.maxLatenessMs;
  metrics.add("sweep.lateness", lateness, "Milliseconds", { job });
  if (lateness <= max) return;
  metrics.add("sweep.late", 1, "Count", { job });
  log.error("a sweep started too late", { lateness, max });
}

/** The cursor that the previous job of this sweep left; null is the start. */
const afterOf = (payload: Json): Json | null => (payload as { readonly after?: Json } | null)?.after ?? null;

async function writePages(scope: InvocationScope, body: SweepBody, context: Context): Promise<void> {
  const { job, definition, worker, left } = scope;
  const { store, metrics, crashPoint } = worker.ports;
  const moment = await momentOf(scope, context);
  const query = body.due(moment);
  const counts = { created: 0, known: 0 };
  /** @returns the cursor of the next page, or null at the end. */
  const writePage = async (tx: Tx, after: Json | null): Promise<Json | null> => {
    const { by, batchSize: limit } = body;
    const { rows, cursor } = await readPage(tx, query, { id: definition.id, by, after, limit });
    if (rows.length === 0) return null;
    const created = await insert(scope, tx, await jobsOf(scope, body, { rows, moment }));
    counts.created += created;
    counts.known += rows.length - created;
    return rows.length < limit ? null : cursor;
  };
  let after = afterOf(job.payload);
  let isOver = false;
  for (let round = 1; round < body.maxIterations && !isOver; round += 1) {
    context.signal.throwIfAborted();
    // A page in its own transaction, dispatched after its commit.
    const before = left.length;
    const page: Json | null = await store.transaction((tx) => writePage(tx, after));
    await crashPoint?.("sweep.afterPage");
    await afterCommit(worker.ports, mergeAftermaths(left.splice(before)));
    isOver = page === null;
    after = page;
  }
  // The last page is one transaction with this job's success and its continuation.
  await context.tx(async (tx) => {
    const next = isOver ? null : await writePage(tx, after);
    if (next !== null) await insert(scope, tx, [continuation(scope, { after: next, moment: momentJson(moment) })]);
    return counts;
  });
  metrics.add("sweep.created", counts.created, "Count", { job: definition.id });
  metrics.add("sweep.known", counts.known, "Count", { job: definition.id });
}

async function jobsOf(
  { worker, job }: InvocationScope,
  { each, payload, key }: SweepBody,
  { rows, moment }: { readonly rows: readonly unknown[]; readonly moment: Moment },
): Promise<readonly NewJob[]> {
  const items = rows.map((row) => ({ payload: payload(row, moment), key: key(row, moment) }));
  return await prepare(each, { trace: job.trace, seals: worker.ports.seals }, items);
}

function continuation({ job, definition }: InvocationScope, payload: Json): NewJob {
  const { jobId, trace } = job;
  return newJob(definition, { payload, key: `${jobId}:next`, dueAt: null, delayMs: 0, trace, slotKeys: [] });
}

/** @returns how many of the jobs are new. */
async function insert({ worker, left }: InvocationScope, tx: Tx, jobs: readonly NewJob[]): Promise<number> {
  const { results, aftermath } = await worker.ports.store.insert(jobs, { tx });
  left.push(aftermath);
  return results.filter((result) => result.created).length;
}
