import { describe, onTestFinished } from "vitest";
import type { JobId, NewJob, AttemptView, HistoryRow, JobView, MoveView } from "../../../src/machine/job.ts";
import { attemptsOf, movesOf } from "../../../src/machine/history.ts";
import type { Claimed, Settlement, Store } from "../../../src/machine/store.ts";
import type { Message } from "../../../src/machine/outbox.ts";
import { contractLimits } from "../../../src/machine/contract-limits.ts";
import { eachTest } from "../../support/each-test.ts";
import type { TestStore } from "../../support/looks.ts";
import { aRow } from "../../core/rows.ts";

/** One store under test, with its own empty tables and a clock the test moves. */
export interface StoreHarness {
  readonly store: TestStore;
  /** Moves the store's `now` forward. Real time may pass as well, so the suite never asks for exact instants. */
  advance(ms: number): Promise<void>;
  close(): Promise<void>;
}

export type OpenStore = (options?: { readonly dispatchWindowMs?: number }) => Promise<StoreHarness>;

/** The store of the test that runs, and its clock. */
export type At = Pick<StoreHarness, "store" | "advance">;

type Group = (at: At) => void;

/** A part of the contract: groups of tests, by what they are about. */
export const contract =
  (groups: Readonly<Record<string, Group | readonly Group[]>>, options?: Parameters<OpenStore>[0]) =>
  (open: OpenStore): void =>
    describe.each(Object.entries(groups))("%s", (_, group) => {
      const at = eachTest(async () => {
        const harness = await open(options);
        onTestFinished(() => harness.close());
        return harness;
      });
      for (const declare of [group].flat()) declare(at);
    });

export const minute = 60_000;
export const dispatchWindowMs = contractLimits.dispatchWindowMs;

/** A job that is due at once, with no key and no slots. */
export function aJob(over: Partial<NewJob> = {}): NewJob {
  return { ...aRow, kind: "send-mail", payload: { to: "ada" }, trace: "trace-1", ...over };
}

export async function insertOne(store: Store, over: Partial<NewJob> = {}): Promise<JobId> {
  const { results } = await store.insert([aJob(over)]);
  return only(results).id;
}

/** In one call; those that need slots each by its own, because of a call that needs more than there are all begin held. */
export async function insertMany<const T extends readonly Partial<NewJob>[]>(
  store: Store,
  jobs: T,
): Promise<{ readonly [K in keyof T]: JobId }> {
  const pages = jobs.some(({ slotKeys = [] }) => slotKeys.length > 0) ? jobs.map((job) => [job]) : [jobs];
  const ids: JobId[] = [];
  for (const page of pages) {
    const { results } = await store.insert(page.map((over) => aJob(over)));
    ids.push(...results.map(({ id }) => id));
  }
  return ids as unknown as { readonly [K in keyof T]: JobId };
}

/** Inserts `count` jobs that are all alike. */
export const insertAlike = (store: Store, count: number, over: Partial<NewJob> = {}): Promise<readonly JobId[]> =>
  insertMany(
    store,
    Array.from({ length: count }, () => over),
  );

export interface Shown {
  readonly job: JobView;
  readonly history: readonly HistoryRow[];
  readonly attempts: readonly AttemptView[];
  readonly events: readonly MoveView[];
}

export async function show(store: TestStore, id: JobId): Promise<Shown> {
  const job = await jobIn(store, id);
  const history = await store.history(id);
  return { job, history, attempts: attemptsOf(job, history), events: movesOf(job, history) };
}

async function jobIn(store: Store, id: JobId): Promise<JobView> {
  const job = await store.job(id);
  if (job === null) throw new Error(`job ${id} does not exist`);
  return job;
}

/** What a job's row and history tell of its moves, as `FROM>TO` words; its creation reads `>PENDING`. */
export async function moves(store: TestStore, id: JobId): Promise<readonly string[]> {
  return (await show(store, id)).events.map((event) => `${event.from ?? ""}>${event.to}`);
}

/** The message that may claim the job now. */
export async function messageFor(store: Store, id: JobId): Promise<Message> {
  const { generation, trace } = await jobIn(store, id);
  return { jobId: id, generation, trace };
}

export interface ClaimOptions {
  readonly worker?: string;
  readonly alone?: boolean;
}

/** Claims with the current generation. @returns what the claim decided, or null when it returned nothing. */
export async function claimIfPossible(store: Store, id: JobId, options: ClaimOptions = {}): Promise<Claimed | null> {
  const { claimed } = await store.claim([await messageFor(store, id)], {
    worker: options.worker ?? "worker-1",
    alone: options.alone ?? false,
  });
  return claimed[0] ?? null;
}

export async function claimOne(store: Store, id: JobId, options: ClaimOptions = {}): Promise<Claimed> {
  const claimed = await claimIfPossible(store, id, options);
  if (claimed === null) throw new Error(`job ${id} was not claimed`);
  return claimed;
}

/** A job that runs: inserted and claimed. */
export async function running(store: Store, over: Partial<NewJob> = {}, options: ClaimOptions = {}): Promise<Claimed> {
  const claimed = await claimOne(store, await insertOne(store, over), options);
  if (claimed.state !== "RUNNING") throw new Error(`job ${claimed.jobId} is ${claimed.state}, not RUNNING`);
  return claimed;
}

/** A success of this try; `over` makes it any other outcome. */
type Held = Pick<Claimed, "jobId" | "attempt"> & Partial<Pick<Claimed, "run">>;

export function settlementOf(held: Held, over: Partial<Settlement> = {}): Settlement {
  return {
    jobId: held.jobId,
    attempt: held.attempt,
    inRun: held.run !== undefined,
    to: "SUCCESS",
    reason: null,
    delayMs: 0,
    failures: 0,
    interruptions: 0,
    errorCode: null,
    errorMessage: null,
    result: null,
    children: [],
    ...over,
  };
}

export const settleOptions = { worker: "worker-1" } as const;

export async function settleOne(store: Store, held: Held, over: Partial<Settlement> = {}) {
  return await store.settle([settlementOf(held, over)], settleOptions);
}

/** Settles these tries alike. */
export async function settleAll(store: Store, held: readonly Held[], over: Partial<Settlement> = {}) {
  const settlements = held.map((job) => settlementOf(job, over));
  return await store.settle(settlements, settleOptions);
}

export const failure = {
  to: "RETRY_WAIT",
  failures: 1,
  errorCode: "SMTP_421",
  errorMessage: "try again later",
} as const satisfies Partial<Settlement>;

/** The single element of a list; anything else is a failure of the test. */
export function only<T>(list: readonly T[]): T {
  const [first, ...rest] = list;
  if (first === undefined || rest.length > 0) throw new Error(`expected exactly one, got ${list.length}`);
  return first;
}

/** Ids in every message of these outbox batches, in order. */
export const outboxIds = (outbox: readonly { messages: readonly Message[] }[]): readonly JobId[] =>
  outbox.flatMap((batch) => batch.messages.map((message) => message.jobId));
