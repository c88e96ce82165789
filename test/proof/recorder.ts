import { writeSync } from "node:fs";
import type { Store } from "../../src/machine/store.ts";
import type { Tx } from "../../src/machine/transaction.ts";

/** What a process was answered, one line each on its standard output, written before anything can follow. */
export type HistoryLine =
  | {
      readonly history: "claimed";
      readonly worker: string;
      readonly job: string;
      readonly attempt: number;
      readonly asked: number;
      readonly generation: number;
      readonly dueAt: number;
      readonly leaseMs: number;
      /** How many jobs that claim made run. */
      readonly batch: number;
    }
  | {
      readonly history: "kept";
      readonly worker: string;
      readonly job: string;
      readonly attempt: number;
      /** Before the question, so that the lease that was granted ends no earlier than this and its length. */
      readonly at: number;
    }
  | {
      readonly history: "settled";
      readonly worker: string;
      readonly job: string;
      readonly attempt: number;
      readonly to: string;
      readonly written: boolean;
    }
  | { readonly history: "fence"; readonly name: string; readonly token: number; readonly before: number };

/** The same store, with a history of claims, heartbeats, settles and tokens. */
export function recorded(store: Store): Store {
  const inTransactions = new WeakMap<Tx, HistoryLine[]>();
  return {
    ...store,
    async claim(messages, options) {
      const { claimed: rows, aftermath } = await store.claim(messages, options);
      // A batch may hold an old and a new message of one job: it is the newest that can claim it.
      const oldestFirst = messages.toSorted((a, b) => a.generation - b.generation);
      const asked = new Map(oldestFirst.map((message) => [message.jobId, message.generation]));
      const running = rows.filter((row) => row.state === "RUNNING");
      const batch = running.length;
      for (const { jobId, attempt, generation, dueAt, leaseMs } of running) {
        const { worker } = options;
        const line = { worker, job: jobId, attempt, asked: asked.get(jobId) ?? -1, generation, dueAt, leaseMs, batch };
        write({ history: "claimed", ...line });
      }
      return { claimed: rows, aftermath };
    },
    async heartbeat(held, worker) {
      const at = Date.now();
      const kept = await store.heartbeat(held, worker);
      for (const { jobId, attempt } of kept) write({ history: "kept", worker, job: jobId, attempt, at });
      return kept;
    },
    async settle(settlements, options) {
      const answer = await store.settle(settlements, options);
      const written = new Set(answer.settled);
      const lines = settlements.map((each) => ({
        history: "settled" as const,
        worker: options.worker,
        job: each.jobId,
        attempt: each.attempt,
        to: each.to,
        written: written.has(each.jobId),
      }));
      const later = options.tx === undefined ? undefined : inTransactions.get(options.tx);
      if (later === undefined) for (const line of lines) write(line);
      else later.push(...lines);
      return answer;
    },
    /** What a settle inside was answered counts only once the transaction has committed. */
    async transaction(work, options) {
      const lines: HistoryLine[] = [];
      const value = await store.transaction((tx) => {
        lines.length = 0;
        inTransactions.set(tx, lines);
        return work(tx);
      }, options);
      for (const line of lines) write(line);
      return value;
    },
    async installFence(fence) {
      const before = await store.installFence(fence);
      write({ history: "fence", ...fence, before });
      return before;
    },
  };
}

const write = (line: HistoryLine): void => void writeSync(1, `${JSON.stringify(line)}\n`);
