import type { Registry } from "../define/definition.ts";
import { claimBatch, claimEarly, type ClaimedBatch, type Early, holdIfClosed, sendAgain } from "./claim.ts";
import { createCircuits } from "./circuits.ts";
import { createLeaseKeeper, Interruption } from "./lease-keeper.ts";
import { workerLimits } from "./worker-limits.ts";
import { type Arrived, type QueueRecord, decodeRecords } from "./message.ts";
import type { Claimed } from "../machine/store.ts";
import { orWarn } from "../machine/or-warn.ts";
import type { Ports } from "../machine/ports.ts";
import { resendOpen } from "./relay.ts";
import { createLapsedLeases, type LapsedLeases, rescue } from "./rescue.ts";
import { createSettler } from "./settler.ts";
import { runBatches } from "./run-batches.ts";
import { type Ended, runOne, type RunOptions } from "./run-one.ts";
import { createRateLimiter, type WorkerOptions, type WorkerScope } from "./worker-scope.ts";

export interface Worker {
  /**
   * Claims and runs one batch. Handlers run side by side, each with its timeout. Of the jobs that lost a worker before one runs
   * after the others; the messages of the rest are sent again. @returns the messages to give back, because the result of
   * their claim or hold is unknown.
   */
  handle(
    records: readonly QueueRecord[],
    options: { remainingMs: () => number },
  ): Promise<{ failed: readonly string[] }>;
  /** A handler met a process without file descriptors: end it after this batch, and its leases with it. */
  readonly isSpent: boolean;
  /** Runs a job that this worker took over. @returns false when it is unknown whether its outcome was written. */
  run(job: Claimed, options: { remainingMs: () => number }): Promise<boolean>;
  /** On SIGTERM: aborts the handlers, waits `graceMs`, releases the jobs that still run. Holds none when it resolves. */
  stop(graceMs: number): Promise<void>;
}

export function createWorker(ports: Ports, registry: Registry, options: WorkerOptions): Worker {
  const stopping = new AbortController();
  const scope: WorkerScope = {
    ports,
    registry,
    options,
    leases: createLeaseKeeper(ports, options.worker),
    settler: createSettler(ports, registry, options),
    circuits: createCircuits(ports, registry, options.worker),
    launches: createRateLimiter(ports.clock, {
      intervalMs: workerLimits.launchIntervalMs,
      waitingMax: workerLimits.launchesWaitingMax,
    }),
    hasBatches: [...registry.jobs.values()].some(({ body, lane }) => body.is === "batch" && lane === options.lane),
    stopping: stopping.signal,
    spend: () => void (isSpent = true),
  };
  let isSpent = false;
  let rescuedAtMs = ports.clock.elapsedMs();
  let failuresInARow = 0;
  const lapsed = createLapsedLeases();
  const batches = new Set<Promise<unknown>>();
  return {
    async handle(records, { remainingMs }) {
      const batch = runBatch(scope, records, remainingMs);
      batches.add(batch);
      const { failed, isStoreAway } = await batch.finally(() => batches.delete(batch));
      failuresInARow = isStoreAway ? failuresInARow + 1 : 0;
      if (isStoreAway) await pauseBefore(scope, failuresInARow, remainingMs());
      if (!stopping.signal.aborted && ports.clock.elapsedMs() - rescuedAtMs >= workerLimits.workerRescueIntervalMs) {
        rescuedAtMs = ports.clock.elapsedMs();
        await smallRescue(scope, lapsed);
      }
      return { failed };
    },
    get isSpent() {
      return isSpent;
    },
    async run(job, { remainingMs }) {
      scope.leases.hold(job);
      scope.settler.expect(1);
      const running = runOne(scope, job, { alone: true, remainingMs });
      batches.add(running);
      const { known } = await running.finally(() => batches.delete(running));
      await scope.circuits?.flush();
      return known;
    },
    async stop(graceMs) {
      stopping.abort(new Interruption("stopped"));
      scope.leases.interruptAll(new Interruption("stopped"), graceMs);
      await Promise.allSettled(batches);
    },
  };
}

/** Does this with the worker, which the signal stops in between. */
export async function stoppedBy<T>(signal: AbortSignal, worker: Worker, work: () => Promise<T>): Promise<T> {
  const stop = (): void => void worker.stop(workerLimits.shutdownMs);
  signal.addEventListener("abort", stop);
  try {
    return await work();
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

async function runBatch(
  scope: WorkerScope,
  records: readonly QueueRecord[],
  remainingMs: () => number,
): Promise<{ failed: readonly string[]; isStoreAway: boolean }> {
  const { ports } = scope;
  const arrived = await readArrived(scope, records);
  await ports.crashPoint?.("received");
  const { free, giveBack: unheld } = await holdIfClosed(arrived.messages, { ...scope.options, log: ports.log });
  if (free.length === 0) return { failed: [...arrived.unread, ...unheld], isStoreAway: unheld.length > 0 };
  // What runs with others is not to blame alone.
  const alone = free.length === 1 && !scope.hasBatches;
  const first = await claimBatch(scope, free, alone);
  await ports.crashPoint?.("claimed");
  const [own, unsent] = await keepOne(scope, first.alone);
  // Due jobs start now, without waiting for those that are a moment early.
  const [ended, early] = await Promise.all([
    runAll(scope, first.running, { alone, remainingMs }),
    runEarly(scope, first.early, { alone, remainingMs }),
  ]);
  const [kept, unsentLater] = await keepOne(scope, own === undefined ? early.alone : [own, ...early.alone]);
  const last = await runAlone(scope, kept, remainingMs);
  await ports.crashPoint?.("settled");
  const unknown = new Set(
    [...ended, ...early.ended, ...last.ended].filter((end) => !end.known).map((end) => end.jobId),
  );
  const giveBack = [first, early, last].flatMap((batch) => batch.giveBack);
  const failed = new Set([...arrived.unread, ...unsent, ...unsentLater, ...giveBack]);
  for (const { messageId, message } of free) if (unknown.has(message.jobId)) failed.add(messageId);
  await scope.circuits?.flush();
  ports.metrics.flush();
  return { failed: [...failed], isStoreAway: first.isStoreAway };
}

/** A message that is given back returns at once: without a pause the worker would call an absent store many times a second. */
async function pauseBefore(scope: WorkerScope, failuresInARow: number, leftMs: number): Promise<void> {
  const pauseMs = Math.min(workerLimits.giveBackPauseMs * 2 ** (failuresInARow - 1), workerLimits.giveBackPauseMsMax);
  await scope.ports.clock.sleep(Math.max(0, Math.min(pauseMs, leftMs - workerLimits.deadlineMarginMs)), scope.stopping);
}

/** Those of a kind that is run in batches take others along, unless they run alone. */
async function runAll(scope: WorkerScope, jobs: readonly Claimed[], options: RunOptions): Promise<readonly Ended[]> {
  scope.settler.expect(jobs.length);
  const batched = jobs.filter(({ kind }) => scope.registry.jobs.get(kind)?.body.is === "batch");
  const single = batched.length === 0 ? jobs : jobs.filter((job) => !batched.includes(job));
  const running = single.map((job) => runOne(scope, job, options));
  const together = batched.length === 0 ? [] : await runBatches(scope, batched, options);
  return [...(await Promise.all(running)), ...together];
}

async function runEarly(
  scope: WorkerScope,
  early: readonly Early[],
  options: RunOptions,
): Promise<Pick<ClaimedBatch, "alone" | "giveBack"> & { ended: readonly Ended[] }> {
  const batches: ClaimedBatch[] = [];
  const running: Promise<readonly Ended[]>[] = [];
  for await (const batch of claimEarly(scope, early, options)) {
    batches.push(batch);
    running.push(runAll(scope, batch.running, options));
  }
  return {
    alone: batches.flatMap((batch) => batch.alone),
    giveBack: batches.flatMap((batch) => batch.giveBack),
    ended: (await Promise.all(running)).flat(),
  };
}

/**
 * The first job to run alone. The messages of the others are sent again now: if this one stops the process, a message that it
 * kept would be missing for minutes. @returns also the messages to give back, because the queue did not take them.
 */
async function keepOne(
  scope: WorkerScope,
  [first, ...others]: readonly Arrived[],
): Promise<[Arrived | undefined, readonly string[]]> {
  const again = others.map((item) => ({ item, delayMs: 0 }));
  return [first, await sendAgain(scope, again)];
}

/** After the others: if it crashes the worker again, no other job is lost with it. */
async function runAlone(
  scope: WorkerScope,
  item: Arrived | undefined,
  remainingMs: () => number,
): Promise<{ ended: readonly Ended[]; giveBack: readonly string[] }> {
  if (item === undefined) return { ended: [], giveBack: [] };
  if (scope.stopping.aborted) return { ended: [], giveBack: [item.messageId] };
  const options = { alone: true, remainingMs };
  const batch = await claimBatch(scope, [item], true);
  const ended = await runAll(scope, batch.running, options);
  const early = await runEarly(scope, batch.early, options);
  return { ended: [...ended, ...early.ended], giveBack: [...batch.giveBack, ...early.giveBack] };
}

async function readArrived(
  scope: WorkerScope,
  records: readonly QueueRecord[],
): Promise<{ messages: readonly Arrived[]; unread: readonly string[] }> {
  const { messages, unreadable } = decodeRecords(records);
  if (unreadable.length === 0) return { messages, unread: [] };
  scope.ports.log.error("unreadable messages go to quarantine", { messages: unreadable.length });
  try {
    await scope.ports.store.quarantine(
      scope.options.lane,
      unreadable.map((record) => record.body),
    );
    return { messages, unread: [] };
  } catch (error) {
    scope.ports.log.error("quarantine failed; the messages are given back", { error });
    return { messages, unread: unreadable.map((record) => record.messageId) };
  }
}

/** Workers rescue a few expired jobs of their lane, so that these do not wait for a scheduler task. */
async function smallRescue(scope: WorkerScope, lapsed: LapsedLeases): Promise<void> {
  const { ports, registry, options } = scope;
  const { lane } = options;
  const work = async (): Promise<void> => {
    await rescue(ports, registry, { lapsed, limit: workerLimits.workerRescueRowsMax, rounds: 1, lane });
    await resendOpen(ports, { lane, rounds: 1 });
  };
  await orWarn(ports.log, work, "the worker's own rescue failed; the next pass does it");
}
