import { url as debuggerUrl } from "node:inspector";
import { Worker } from "node:worker_threads";

const beatMs = 500;

/** What the thread is given. */
export interface KeptWorker {
  readonly databaseUrl: string;
  /** The worker's name. */
  readonly worker: string;
  /** Counts while the event loop of the process turns. */
  readonly beats: Int32Array<SharedArrayBuffer>;
}

/**
 * Where a debugger is attached or may be: a thread beside this one keeps the leases of this worker while it stands at a breakpoint, so
 * that no other worker takes its jobs over. They end with the process.
 */
export function keepWhileStopped(databaseUrl: string, worker: string): void {
  if (debuggerUrl() === undefined) return;
  const beats = new Int32Array(new SharedArrayBuffer(4));
  setInterval(() => Atomics.add(beats, 0, 1), beatMs).unref();
  const thread = new Worker(new URL("./lease-thread.ts", import.meta.url), {
    workerData: { databaseUrl, worker, beats } satisfies KeptWorker,
    execArgv: [],
  });
  thread.once("error", (error) => console.error(`the leases of a stopped worker are not kept: ${error.message}`));
  thread.unref();
}
