import type { Registry } from "../define/definition.ts";
import { taskOf } from "../machine/launcher.ts";
import { workerLimits } from "./worker-limits.ts";
import type { Ports } from "../machine/ports.ts";
import { afterCommit } from "./after-commit.ts";
import { launchWaitMs } from "./launch.ts";
import { createSettler } from "./settler.ts";
import { outcomeOfEnd, readTaskEnd, type TaskEnd } from "./task-end.ts";

/** `settled`: its job was released or failed. `over`: the attempt had ended before. `old` and `foreign` change nothing. */
export type Noticed = "settled" | "over" | "old" | "foreign";

export interface TaskWatch {
  /**
   * Takes one event of EventBridge. An event may come twice, late or never: it is written by compare-and-set on its attempt,
   * and the lease makes up for a lost one. @throws when the result is unknown; deliver the event again then.
   */
  notice(event: unknown): Promise<Noticed>;
}

export function createTaskWatch(ports: Ports, registry: Registry): TaskWatch {
  const versions = new Map<string, number>();
  return {
    async notice(event) {
      const end = readTaskEnd(event);
      if (end === null) return "foreign";
      if (end.version <= (versions.get(end.task) ?? -1)) return "old";
      const noticed = await settleEnd(ports, registry, end);
      // Only after the write: an event whose write failed must be taken again.
      remember(versions, end);
      return noticed;
    },
  };
}

/** A memory of this process, which saves reads. In another process a repetition finds that the attempt has ended. */
function remember(versions: Map<string, number>, { task, version }: TaskEnd): void {
  versions.delete(task);
  versions.set(task, version);
  const [oldest] = versions.keys();
  if (versions.size > workerLimits.taskVersionsMax && oldest !== undefined) versions.delete(oldest);
}

async function settleEnd(ports: Ports, registry: Registry, end: TaskEnd): Promise<Noticed> {
  const { store, log, metrics, random } = ports;
  const job = await store.job(end.jobId);
  if (job === null) return "foreign";
  const task = taskOf(job.worker);
  // Another task runs this attempt, perhaps after its cancel; this one was refused.
  if (job.attempt === end.attempt && task !== null && task !== end.task) return "over";
  if (job.state !== "RUNNING" || job.attempt !== end.attempt) {
    await freeSlots(ports, end);
    return "over";
  }
  const outcome = outcomeOfEnd(end, { ran: task !== null, waitMs: launchWaitMs(job.interruptions, random.next()) });
  log.warn("a task stopped without an outcome of its job", { ...about(end), kind: job.kind, outcome: outcome.is });
  metrics.add("job.task.stopped", 1, "Count", { job: job.kind });
  const settler = createSettler(ports, registry, { worker: job.worker ?? end.task });
  settler.expect(1);
  const known = await settler.settle({ ...job, jobId: job.id }, outcome, { children: [], untilMs: 0 });
  if (!known) throw new Error(`whether job ${job.id} was settled after the end of its task is not known`);
  return "settled";
}

/** The task of a canceled job has ended, so its slots are free. */
async function freeSlots(ports: Ports, { jobId, attempt }: TaskEnd): Promise<void> {
  await afterCommit(ports, await ports.store.freeSlots([{ jobId, attempt }]));
}

const about = ({ jobId, attempt, task, stopCode, exitCode, reason }: TaskEnd) => ({
  job: jobId,
  attempt,
  task,
  stopCode,
  exitCode,
  reason,
});
