import type { Registry } from "./definition.ts";
import { claimBatch, type Arrived } from "./claim.ts";
import { runHandler, Interruption, type Finished } from "./handler.ts";
import { createHeart, type Heart } from "./heart.ts";
import { limits } from "./limits.ts";
import { decodeMessage } from "./message.ts";
import type { Claimed, Ports } from "./ports.ts";
import { resendOpen, wakeHeld } from "./relay.ts";
import { rescue } from "./rescue.ts";
import { createSettler, type Settler } from "./settler.ts";

/** One message as a queue consumer receives it. */
export interface QueueRecord {
  readonly messageId: string;
  readonly body: string;
}

export interface WorkerOptions {
  /** Names this worker in attempts and events; unique per process. */
  readonly worker: string;
  readonly lane: string;
  readonly stage: string;
  readonly lookAheadMs: number;
}

export interface Worker {
  /**
   * Claims and runs one batch. Handlers run side by side, each with its timeout; jobs that lost a worker before run
   * after the others, one at a time. @returns the messages to give back: those of which we do not know what became.
   */
  handle(
    records: readonly QueueRecord[],
    options: { remainingMs: () => number },
  ): Promise<{ failed: readonly string[] }>;
  /** SIGTERM: aborts the handlers, waits `graceMs`, releases what still runs. Nothing is held when it resolves. */
  stop(graceMs: number): Promise<void>;
}

/** What the parts of one worker share. */
export interface Bench {
  readonly ports: Ports;
  readonly registry: Registry;
  readonly options: WorkerOptions;
  readonly heart: Heart;
  readonly settler: Settler;
  /** Aborts when the worker was told to stop. */
  readonly stopping: AbortSignal;
}

export function createWorker(ports: Ports, registry: Registry, options: WorkerOptions): Worker {
  const stopping = new AbortController();
  const bench: Bench = {
    ports,
    registry,
    options,
    heart: createHeart(ports, options.worker),
    settler: createSettler(ports, registry, options),
    stopping: stopping.signal,
  };
  let rescuedAtMs = ports.clock.elapsedMs();
  const batches = new Set<Promise<unknown>>();
  return {
    async handle(records, { remainingMs }) {
      const batch = runBatch(bench, records, remainingMs);
      batches.add(batch);
      const answer = await batch.finally(() => batches.delete(batch));
      if (!stopping.signal.aborted && ports.clock.elapsedMs() - rescuedAtMs >= limits.workerRescueIntervalMs) {
        rescuedAtMs = ports.clock.elapsedMs();
        await smallRescue(bench);
      }
      return answer;
    },
    async stop(graceMs) {
      stopping.abort(new Interruption("stopped"));
      bench.heart.interruptAll(new Interruption("stopped"), graceMs);
      await Promise.allSettled(batches);
    },
  };
}

async function runBatch(
  bench: Bench,
  records: readonly QueueRecord[],
  remainingMs: () => number,
): Promise<{ failed: readonly string[] }> {
  const { ports } = bench;
  const arrived = await readRecords(bench, records);
  await ports.crashPoint("received");
  const failed = new Set<string>(arrived.unread);
  const work = await claimBatch(bench, arrived.messages, remainingMs);
  for (const id of work.giveBack) failed.add(id);
  await ports.crashPoint("claimed");
  bench.settler.expect(work.running.length);
  const ended = await Promise.all(work.running.map((job) => runOne(bench, job, remainingMs)));
  for (const suspect of work.suspects) {
    const alone = await claimBatch(bench, [suspect], remainingMs, { alone: true });
    for (const id of alone.giveBack) failed.add(id);
    bench.settler.expect(alone.running.length);
    for (const job of alone.running) ended.push(await runOne(bench, job, remainingMs));
  }
  await ports.crashPoint("settled");
  const unknown = new Set(ended.filter((end) => !end.known).map((end) => end.jobId));
  for (const { messageId, message } of arrived.messages) if (unknown.has(message.jobId)) failed.add(messageId);
  ports.metrics.flush();
  return { failed: [...failed] };
}

async function readRecords(
  bench: Bench,
  records: readonly QueueRecord[],
): Promise<{ messages: readonly Arrived[]; unread: readonly string[] }> {
  const messages: Arrived[] = [];
  const unreadable: QueueRecord[] = [];
  for (const record of records) {
    const message = decodeMessage(record.body);
    if (message === null) unreadable.push(record);
    else messages.push({ messageId: record.messageId, message });
  }
  if (unreadable.length === 0) return { messages, unread: [] };
  bench.ports.log.error("messages that nobody can read go to quarantine", { messages: unreadable.length });
  try {
    await bench.ports.store.quarantine(
      bench.options.lane,
      unreadable.map((record) => record.body),
    );
    return { messages, unread: [] };
  } catch (error) {
    bench.ports.log.error("quarantine failed; the messages are given back", { error });
    return { messages, unread: unreadable.map((record) => record.messageId) };
  }
}

/** Runs and settles one claimed job. `known: false` when nobody can say whether its outcome was written. */
async function runOne(
  bench: Bench,
  job: Claimed,
  remainingMs: () => number,
): Promise<{ jobId: string; known: boolean }> {
  const finished: Finished = await runHandler(bench, job, remainingMs);
  const known = await write(bench, job, finished);
  bench.heart.drop(job);
  return { jobId: job.jobId, known };
}

async function write(bench: Bench, job: Claimed, finished: Finished): Promise<boolean> {
  if (finished.is === "settled") return bench.settler.skip();
  if (finished.is === "lost") {
    await bench.settler.skip();
    return freeSlots(bench, job);
  }
  return bench.settler.settle(job, finished.outcome, finished.children);
}

/** A canceled job keeps its slots until its handler is gone, which is now. */
async function freeSlots(bench: Bench, job: Claimed): Promise<boolean> {
  if (job.slotKeys.length === 0) return true;
  try {
    const freed = await bench.ports.store.freeSlots([{ jobId: job.jobId, attempt: job.attempt }]);
    await wakeHeld(bench.ports, { slotKeys: freed });
  } catch (error) {
    bench.ports.log.warn("slots were not freed; they end with the lease", { job: job.jobId, error });
  }
  return true;
}

/** Workers rescue a few expired jobs of their own lane, so that a dead worker does not wait for a scheduler task. */
async function smallRescue(bench: Bench): Promise<void> {
  const { ports, registry, options } = bench;
  try {
    await rescue(ports, registry, { limit: limits.workerRescueRowsMax, rounds: 1, lane: options.lane });
    await resendOpen(ports, { lane: options.lane });
  } catch (error) {
    ports.log.warn("the worker's own rescue failed; the next pass does it", { error });
  }
}
