import type { Registry } from "../define/definition.ts";
import { taskOf } from "../machine/launcher.ts";
import type { Ports } from "../machine/ports.ts";
import { afterCommit } from "./after-commit.ts";
import { launchWaitMs } from "./launch.ts";
import { createSettler } from "./settler.ts";
import { outcomeOfEnd, readTaskEnd, type TaskEnd } from "./task-end.ts";

/** `settled`: its job was released or failed. `over`: the attempt had ended before. `foreign` changes nothing. */
export type Noticed = "settled" | "over" | "foreign";

export interface TaskWatch {
  /**
   * Takes one event of EventBridge. An event may come twice, late or never: it is written by compare-and-set on its attempt,
   * and the lease makes up for a lost one. @throws when the result is unknown; deliver the event again then.
   */
  notice(event: unknown): Promise<Noticed>;
}

export const createTaskWatch = (ports: Ports, registry: Registry): TaskWatch => ({
  async notice(event) {
    const end = readTaskEnd(event);
    return end === null ? "foreign" : await settleEnd(ports, registry, end);
  },
});

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
