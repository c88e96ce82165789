import { createClock, systemRandom } from "../src/outside/clock.ts";
import { createLog } from "../src/aws/telemetry/log.ts";
import { noMetrics } from "../src/aws/telemetry/metrics.ts";
import { defineApp } from "../src/define/define-app.ts";
import { definitionOf, defineJob } from "../src/define/define-job.ts";
import { type JobDefinition, registry } from "../src/define/definition.ts";
import { encodeMessage, type QueueRecord } from "../src/run/message.ts";
import type { LockStore, Ports, Queue } from "../src/machine/ports.ts";
import type { Message } from "../src/machine/outbox.ts";
import type { Store } from "../src/machine/store.ts";
import { createWorker, type Worker } from "../src/run/worker.ts";

export const lane = "default";

/** Everything real but the log, which is quiet, and the metrics, which are not read. */
export function portsWith(store: Store, queue: Queue = noQueue): Ports {
  return {
    store,
    queue,
    locks: noLocks,
    clock: createClock(),
    random: systemRandom,
    log: createLog({ service: "bench", level: "error" }),
    metrics: noMetrics,
  };
}

/** Accepts everything and keeps nothing: for cases that bring the messages themselves. */
export const noQueue: Queue = {
  send: async () => ({ failed: [] }),
  depth: async () => ({ visible: 0, inFlight: 0, delayed: 0 }),
};

const noLocks: LockStore = {
  read: () => Promise.reject(new Error("no lock is taken in a benchmark")),
  take: async () => null,
  renew: async () => false,
  release: async () => false,
  raise: async () => false,
  observe: async () => {},
};

/** The job every case runs: it does nothing. `onStart` is called when its handler starts. */
export function noOp(onStart: (jobId: string) => void = () => {}): JobDefinition {
  return definitionOf(defineJob({ id: "noop", run: (_, ctx) => onStart(ctx.jobId) }));
}

export function workerOf(store: Store, definition: JobDefinition, name: string): Worker {
  const known = registry([{ ...defineApp({ name: "bench" }), jobs: [definition] }]);
  const options = { worker: name, lane, stage: "bench" };
  return createWorker(portsWith(store), known, options);
}

export const recordsOf = (messages: readonly Message[]): readonly QueueRecord[] =>
  messages.map((message) => ({ messageId: message.jobId, body: encodeMessage(message) }));

export function* pagesOf<T>(items: readonly T[], size: number): Generator<readonly T[], void, undefined> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

/** `lanes` loops that share one list of pages, as so many workers share a queue. */
export async function shared<T>(
  pages: Iterable<T>,
  loops: number,
  work: (page: T, loop: number) => Promise<void>,
): Promise<void> {
  const iterator = pages[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: loops }, async (_, loop) => {
      for (let next = iterator.next(); !next.done; next = iterator.next()) await work(next.value, loop);
    }),
  );
}
