import type { Context } from "../define/context.ts";
import type { SweepBody } from "../define/definition.ts";
import { type Moment, momentInPayload, momentJson } from "../define/moment.ts";
import { newJob } from "../define/new-job.ts";
import type { Query } from "../define/query.ts";
import { afterCommit } from "./after-commit.ts";
import { prepare } from "./enqueue.ts";
import type { Json } from "../machine/job.ts";
import { mergeAftermaths } from "../machine/outbox.ts";
import { type Tx } from "../machine/transaction.ts";
import { type InvocationScope, momentOf } from "./invocation-scope.ts";
import { readPage } from "./keyset-page.ts";
import { runFanOut } from "./run-fan-out.ts";

/** Makes one job for every due row, page by page; a continuation job does the rest. */
export async function runSweep(scope: InvocationScope, body: SweepBody, context: Context): Promise<void> {
  if (momentInPayload(scope.job.payload) === null) measureLateness(scope, body, context);
  const { ends, due: from } = body;
  if (ends === null) return await new Sweep(scope, body, context).run();
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

/** One job of a sweep. */
class Sweep {
  readonly #scope: InvocationScope;
  readonly #body: SweepBody;
  readonly #context: Context;
  #created = 0;
  #known = 0;

  constructor(scope: InvocationScope, body: SweepBody, context: Context) {
    this.#scope = scope;
    this.#body = body;
    this.#context = context;
  }

  async run(): Promise<void> {
    const { payload } = this.#scope.job;
    const moment = await momentOf(this.#scope, this.#context);
    const query = this.#body.due(moment);
    let after = afterOf(payload);
    for (let round = 1; round < this.#body.maxIterations; round += 1) {
      this.#context.signal.throwIfAborted();
      const page: Json | null = await this.#ownPage(query, after, moment);
      if (page === null) return await this.#end();
      after = page;
    }
    // The last page is one transaction with this job's success and its continuation.
    await this.#context.tx(async (tx) => {
      const next = await this.#page(tx, query, after, moment);
      if (next !== null) await this.#continue(tx, next, moment);
      return { created: this.#created, known: this.#known };
    });
    this.#measure();
  }

  async #end(): Promise<void> {
    await this.#context.tx(async () => ({ created: this.#created, known: this.#known }));
    this.#measure();
  }

  /** A page in its own transaction, dispatched after its commit. @returns the cursor of the next, or null at the end. */
  async #ownPage(query: Query<unknown>, after: Json | null, moment: Moment): Promise<Json | null> {
    const { left, worker } = this.#scope;
    const before = left.length;
    const next = await worker.ports.store.transaction((tx) => this.#page(tx, query, after, moment));
    await worker.ports.crashPoint("sweep.afterPage");
    await afterCommit(worker.ports, mergeAftermaths(left.splice(before)));
    return next;
  }

  async #page(tx: Tx, query: Query<unknown>, after: Json | null, moment: Moment): Promise<Json | null> {
    const { worker, job, definition } = this.#scope;
    const { by, batchSize, each, payload, key } = this.#body;
    const { rows, cursor } = await readPage(tx, query, { id: definition.id, by, after, limit: batchSize });
    if (rows.length === 0) return null;
    const items = rows.map((row) => ({ payload: payload(row, moment), key: key(row, moment) }));
    const jobs = await prepare(
      each,
      { stage: worker.options.stage, trace: job.trace, seals: worker.ports.seals },
      items,
    );
    const created = await this.#insert(tx, jobs);
    this.#created += created;
    this.#known += rows.length - created;
    return rows.length < batchSize ? null : cursor;
  }

  async #continue(tx: Tx, after: Json, moment: Moment): Promise<void> {
    const { job, definition } = this.#scope;
    const next = newJob(definition, {
      payload: { after, moment: momentJson(moment) },
      key: `${job.jobId}:next`,
      dueAt: null,
      delayMs: 0,
      trace: job.trace,
      slotKeys: [],
    });
    await this.#insert(tx, [next]);
  }

  /** @returns how many of the jobs are new. */
  async #insert(tx: Tx, jobs: Awaited<ReturnType<typeof prepare>>): Promise<number> {
    const { worker, left } = this.#scope;
    const { results, aftermath } = await worker.ports.store.insert(jobs, { tx });
    left.push(aftermath);
    return results.filter((result) => result.created).length;
  }

  #measure(): void {
    const { metrics } = this.#scope.worker.ports;
    const dimensions = { job: this.#scope.definition.id };
    metrics.add("sweep.created", this.#created, "Count", dimensions);
    metrics.add("sweep.known", this.#known, "Count", dimensions);
  }
}
