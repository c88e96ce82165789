import type { Registry } from "../define/definition.ts";
import { taskOf } from "../ports/launcher.ts";
import { workerLimits } from "./worker-limits.ts";
import type { Ports } from "../ports/ports.ts";
import { afterCommit } from "../delivery/after-commit.ts";
import { launchWaitMs } from "./launch.ts";
import { createSettler } from "./settler.ts";
import { outcomeOfEnd, readTaskEnd, type TaskEnd } from "./task-end.ts";

/** `settled`: its job was released or failed. `over`: the try had ended before. `old` and `foreign` change nothing. */
export type Noticed = "settled" | "over" | "old" | "foreign";

export interface TaskWatch {
  /**
   * Takes one event of EventBridge. An event may come twice, late or never: what it says is written by compare-and-set on the
   * try it is about, and a lost one is made up for by the lease. @throws when the outcome is unknown; deliver it again then.
   */
  notice(event: unknown): Promise<Noticed>;
}

interface WatchOptions {
  readonly stage: string;
  readonly dispatchWindowMs: number;
}

export function createTaskWatch(ports: Ports, registry: Registry, options: WatchOptions): TaskWatch {
  const versions = new Map<string, number>();
  return {
    async notice(event) {
      const end = readTaskEnd(event);
      if (end === null) return "foreign";
      if (end.version <= (versions.get(end.task) ?? -1)) return "old";
      const noticed = await settleEnd(ports, registry, options, end);
      // Only what was written is old news: an event whose writing failed must be taken again.
      remember(versions, end);
      return noticed;
    },
  };
}

/** A memory of this process only, which saves looks: a repetition that comes to another process finds the try over. */
function remember(versions: Map<string, number>, { task, version }: TaskEnd): void {
  versions.delete(task);
  versions.set(task, version);
  const [oldest] = versions.keys();
  if (versions.size > workerLimits.taskVersionsMax && oldest !== undefined) versions.delete(oldest);
}

async function settleEnd(ports: Ports, registry: Registry, options: WatchOptions, end: TaskEnd): Promise<Noticed> {
  const { store, log, metrics, random } = ports;
  const shown = await store.job(end.jobId);
  if (shown === null) return "foreign";
  const { job } = shown;
  const task = taskOf(job.worker);
  // Another task runs this try; this one was refused.
  if (job.state === "RUNNING" && task !== null && task !== end.task) return "over";
  if (job.state !== "RUNNING" || job.attempt !== end.attempt) {
    await freeSlots(ports, end, options);
    return "over";
  }
  const outcome = outcomeOfEnd(end, { ran: task !== null, waitMs: launchWaitMs(job.interruptions, random.next()) });
  log.warn("a task stopped without an outcome of its job", { ...about(end), kind: job.kind, outcome: outcome.is });
  metrics.add("job.task.stopped", 1, "Count", { job: job.kind });
  const settler = createSettler(ports, registry, { ...options, worker: job.worker ?? end.task, lane: job.lane });
  settler.expect(1);
  const known = await settler.settle({ ...job, jobId: job.id }, outcome, { children: [], untilMs: 0 });
  if (!known) throw new Error(`whether job ${job.id} was settled after the end of its task is not known`);
  return "settled";
}

/** The task of a canceled job is gone now, and with it what kept its slots. */
async function freeSlots(ports: Ports, { jobId, attempt }: TaskEnd, options: WatchOptions): Promise<void> {
  await afterCommit(ports, await ports.store.freeSlots([{ jobId, attempt }]), options);
}

const about = ({ jobId, attempt, task, stopCode, exitCode, reason }: TaskEnd) => ({
  job: jobId,
  attempt,
  task,
  stopCode,
  exitCode,
  reason,
});
