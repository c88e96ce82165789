import type { AttemptRef } from "../machine/job.ts";
import type { Registry } from "../define/definition.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { workerLimits } from "./worker-limits.ts";
import type { Ports } from "../machine/ports.ts";
import type { State } from "../machine/state.ts";
import { createWorker, stoppedBy } from "./worker.ts";

export interface RunJobTaskOptions extends AttemptRef {
  /** The worker that claimed the job and launched this task. */
  readonly from: string;
  /** Names this task in its attempt; unique. */
  readonly worker: string;
  readonly stage: string;
  readonly signal: AbortSignal;
}

export interface RunJobReport {
  /** `refused`: the attempt is not this task's, which did nothing. `unknown`: the lease decides. */
  readonly outcome: "done" | "refused" | "unknown";
  /** Of the job, as it is now; null when there is no such job. */
  readonly state: State | null;
}

/** The task of one attempt: takes it over from the worker that launched the task, runs it and settles it. */
export async function runJobTask(ports: Ports, registry: Registry, options: RunJobTaskOptions): Promise<RunJobReport> {
  const { jobId, attempt, from, signal } = options;
  const job = await ports.store.takeOver({ jobId, attempt }, { from, worker: options.worker });
  if (job === null) return { outcome: "refused", state: await stateOf(ports, options) };
  await ports.crashPoint?.("adopted");
  const worker = createWorker(ports, registry, { ...options, lane: "" });
  if (signal.aborted) void worker.stop(workerLimits.shutdownMs);
  try {
    const remainingMs = () => contractLimits.fargateTimeoutMsMax;
    const known = await stoppedBy(signal, worker, () => worker.run(job, { remainingMs }));
    return { outcome: known ? "done" : "unknown", state: await stateOf(ports, options) };
  } finally {
    ports.metrics.flush();
  }
}

async function stateOf({ store }: Ports, { jobId }: AttemptRef): Promise<State | null> {
  const [row] = await store.peek([jobId]);
  return row?.state ?? null;
}
