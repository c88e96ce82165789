import type { Context, Duration, Job } from "./context.ts";
import { cursorOf, limitsOf } from "./define-fan-out.ts";
import { checkMoment, type Moment, momentJson, momentOf, toldMoment } from "./moment.ts";
import { definitionFrom, definitionOf, jobOf, type StarterLimits } from "./define-job.ts";
import type { JobDefinition } from "./definition.ts";
import { prepare } from "../delivery/enqueue.ts";
import { insideOf } from "../work/inside.ts";
import type { InvocationScope } from "../work/invocation-scope.ts";
import type { Json } from "../job/job.ts";
import { limits } from "../limits.ts";
import { newJob } from "./new-job.ts";
import type { Tx } from "../ports/ports.ts";
import { ProblemList } from "./problem.ts";
import { pageOf, type Query } from "./query.ts";
import { sendOutbox } from "../delivery/send.ts";
import { readCount, readDuration } from "./setting.ts";

/** The limits are those of the sweep's own jobs. */
export interface SweepOptions<R, I> extends StarterLimits {
  readonly id: string;
  /** The rows that are due. They are read in keyset pages, so that rows whose job is still at work do not stand in front. */
  due(occurrence: Moment): Query<R>;
  /** The column it is paged by: unique, in an order that does not change. Default `id`. */
  readonly by?: string;
  /** A row whose key has a job already gets no second one. */
  key(row: NoInfer<R>): string;
  readonly each: Job<I>;
  payload(row: NoInfer<R>): NoInfer<I>;
  /** Rows in one page and transaction. Default 500. */
  readonly batchSize?: number;
  /** Pages of one job; the next job goes on behind them. Default 10. */
  readonly maxIterations?: number;
  /** A sweep that starts later than this after its nominal time counts as late and is alarmed. */
  readonly maxLateness: Duration;
}

/**
 * Defines a sweep: each time, one keyed job for every row that is due. Bounded: when rows are left it enqueues its own
 * continuation, so the last minute's rows never keep the next minute's waiting.
 */
export function defineSweep<R, I>(options: SweepOptions<R, I>): Job<void> {
  const problems = new ProblemList(`sweep "${options.id}"`);
  const size = { min: 1, max: limits.insertRowsMax, fallback: limits.sweepBatchDefault };
  const rounds = { min: 1, max: limits.batchesIterationsMax, fallback: limits.sweepIterationsDefault };
  const batchSize = readCount(problems, "batchSize", options.batchSize, size);
  const maxIterations = readCount(problems, "maxIterations", options.maxIterations, rounds);
  const late = { min: 1, max: limits.delayMsMax, fallback: limits.delayMsMax };
  const maxLatenessMs = readDuration(problems, "maxLateness", options.maxLateness, late);
  const base = definitionFrom({ timeout: "14m", ...limitsOf(options), id: options.id, run: () => null });
  const each = definitionOf(options.each);
  const definition: JobDefinition = {
    ...base,
    problems: [...(base.problems ?? []), ...problems.found],
    makes: [each],
    maxLatenessMs,
    readsMoment: true,
    check: checkMoment,
    run: (_payload, context) =>
      new Sweep(options, { definition, each, batchSize, maxIterations, maxLatenessMs }, context).run(),
  };
  return jobOf(definition, undefined);
}

/** Behind which row a sweep goes on, as the one before it wrote; null is the start. */
const afterOf = (payload: Json): Json | null =>
  typeof payload === "object" && payload !== null && "after" in payload ? (payload["after"] ?? null) : null;

interface Settings {
  readonly definition: JobDefinition;
  readonly each: JobDefinition;
  readonly batchSize: number;
  readonly maxIterations: number;
  readonly maxLatenessMs: number;
}

/** One job of a sweep. */
class Sweep<R, I> {
  readonly #options: SweepOptions<R, I>;
  readonly #settings: Settings;
  readonly #context: Context;
  readonly #scope: InvocationScope;
  #created = 0;
  #known = 0;

  constructor(options: SweepOptions<R, I>, settings: Settings, context: Context) {
    this.#options = options;
    this.#settings = settings;
    this.#context = context;
    this.#scope = insideOf(context);
  }

  async run(): Promise<void> {
    const { batchSize, maxIterations } = this.#settings;
    const { payload } = this.#scope.job;
    const moment = await momentOf(this.#context, this.#scope);
    if (toldMoment(payload) === null) this.#measureLateness();
    const query = this.#options.due(moment);
    let after = afterOf(payload);
    for (let round = 1; round < maxIterations; round += 1) {
      this.#context.signal.throwIfAborted();
      const page: Json | null = await this.#ownPage(query, after);
      if (page === null) return await this.#end(null, moment);
      after = page;
    }
    // The last page is one transaction with this job's success and its continuation.
    await this.#context.tx(async (tx) => {
      const next = await this.#page(tx, query, after, batchSize);
      if (next !== null) await this.#continue(tx, next, moment);
      return { created: this.#created, known: this.#known };
    });
    this.#measure();
  }

  async #end(next: Json | null, moment: Moment): Promise<void> {
    await this.#context.tx(async (tx) => {
      if (next !== null) await this.#continue(tx, next, moment);
      return { created: this.#created, known: this.#known };
    });
    this.#measure();
  }

  /** A page in a transaction of its own, handed off after its commit. @returns where the next begins, or null at the end. */
  async #ownPage(query: Query<R>, after: Json | null): Promise<Json | null> {
    const { ports } = this.#scope.worker;
    const handed = this.#scope.outbox.length;
    const next = await ports.store.transaction((tx) => this.#page(tx, query, after, this.#settings.batchSize));
    await ports.crashPoint("sweep.afterPage");
    await sendOutbox(ports, this.#scope.outbox.splice(handed));
    return next;
  }

  async #page(tx: Tx, query: Query<R>, after: Json | null, limit: number): Promise<Json | null> {
    const { worker, job, outbox } = this.#scope;
    const { text, values } = pageOf(query, this.#by, after, limit);
    const rows = (await tx.query(text, values)).rows as R[];
    if (rows.length === 0) return null;
    const items = rows.map((row) => ({ payload: this.#options.payload(row), key: this.#options.key(row) }));
    const jobs = await prepare(this.#settings.each, worker.options.stage, job.trace, items);
    const { dispatchWindowMs } = worker.options;
    const inserted = await worker.ports.store.insert(jobs, { dispatchWindowMs, tx });
    outbox.push(...inserted.outbox);
    const created = inserted.results.filter((result) => result.created).length;
    this.#created += created;
    this.#known += rows.length - created;
    return rows.length < limit ? null : cursorOf(this.#options.id, this.#by, rows.at(-1));
  }

  async #continue(tx: Tx, after: Json, moment: Moment): Promise<void> {
    const { worker, job, outbox } = this.#scope;
    const next = newJob(this.#settings.definition, worker.options.stage, {
      payload: { after, moment: momentJson(moment) },
      key: `${job.jobId}:next`,
      dueAt: null,
      delayMs: 0,
      trace: job.trace,
      slotKeys: [],
    });
    const inserted = await worker.ports.store.insert([next], { dispatchWindowMs: worker.options.dispatchWindowMs, tx });
    outbox.push(...inserted.outbox);
  }

  get #by(): string {
    return this.#options.by ?? "id";
  }

  #measureLateness(): void {
    const { ports } = this.#scope.worker;
    const { lateness } = this.#context;
    const job = this.#options.id;
    ports.metrics.add("sweep.lateness", lateness, "Milliseconds", { job });
    const isLate = lateness > this.#settings.maxLatenessMs;
    if (!isLate) return;
    ports.metrics.add("sweep.late", 1, "Count", { job });
    this.#context.log.error("a sweep started too late", { lateness, max: this.#settings.maxLatenessMs });
  }

  #measure(): void {
    const { metrics } = this.#scope.worker.ports;
    metrics.add("sweep.created", this.#created, "Count", { job: this.#options.id });
    metrics.add("sweep.known", this.#known, "Count", { job: this.#options.id });
  }
}
