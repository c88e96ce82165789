import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cancelJobs } from "../../../src/insight/cancel-and-retry.ts";
import { contractLimits } from "../../../src/machine/contract-limits.ts";
import { afterCommit } from "../../../src/run/after-commit.ts";
import type { EnqueueItem } from "../../../src/machine/client.ts";
import type { JobId } from "../../../src/machine/job.ts";
import { taskOf } from "../../../src/machine/launcher.ts";
import type { LaunchResult } from "../../../src/local/tasks/ecs.ts";
import type { RunTaskRequest } from "../../../src/local/tasks/ecs.ts";
import { createEcsLauncher, ecsClient } from "../../../src/aws/task-launcher.ts";
import { project } from "../../support/own-project.ts";
import { readConfig } from "../../../src/stage/config.ts";
import { judge } from "../judge.ts";
import type { Checklist, Proof } from "../proof.ts";
import { startInstalled, type System } from "../system.ts";
import type { EventRow, Tables } from "../tables.ts";
import { startTaskHost, type TaskHost } from "../task-host.ts";
import { elapsedMs, until } from "../until.ts";

const releasedMsMax = 2_000;
/** A lease of 3 s, and a pass or a worker that looks every few seconds. */
const leasePathMsMax = 15_000;
const waitMs = 120_000;

/** What happens to the first task of a job, and what its first try has to cost. */
interface Plan {
  readonly name: string;
  readonly kind: "by-event" | "by-lease";
  readonly first: "obeys" | "ignores" | "exits";
  readonly fault: "interrupt" | "kill" | "none";
  readonly fate?: LaunchResult;
  readonly gated?: true;
  /** The first task may have done so much that its event has nothing to do. */
  readonly byItself?: true;
  readonly costs: { readonly failures: number; readonly interruptions: number; readonly code: string | null };
}

const interrupted = { failures: 0, interruptions: 1, code: null };
const exited = { failures: 1, interruptions: 0, code: "TASK_EXITED" };
const plans: readonly Plan[] = [
  {
    name: "stopped, and obeys",
    kind: "by-event",
    first: "obeys",
    fault: "interrupt",
    byItself: true,
    costs: interrupted,
  },
  { name: "stopped, and does not listen", kind: "by-event", first: "ignores", fault: "interrupt", costs: interrupted },
  { name: "killed", kind: "by-event", first: "obeys", fault: "kill", costs: exited },
  { name: "ends itself", kind: "by-event", first: "exits", fault: "none", costs: exited },
  {
    name: "never starts",
    kind: "by-event",
    first: "obeys",
    fault: "none",
    fate: { is: "never-starts", reason: "CannotPullContainerError: no such image" },
    costs: { failures: 0, interruptions: 1, code: "TASK_NOT_STARTED" },
  },
  {
    name: "finds no room",
    kind: "by-event",
    first: "obeys",
    fault: "none",
    fate: { is: "refused", reason: "Capacity is unavailable at this time." },
    byItself: true,
    costs: { failures: 0, interruptions: 0, code: "NO_ROOM" },
  },
  { name: "killed, its event repeated", kind: "by-event", first: "obeys", fault: "kill", gated: true, costs: exited },
  {
    name: "killed, its event lost",
    kind: "by-lease",
    first: "obeys",
    fault: "kill",
    costs: { failures: 1, interruptions: 0, code: "WORKER_LOST" },
  },
];

interface Ground {
  readonly system: System;
  readonly host: TaskHost;
  readonly ids: readonly JobId[];
  readonly gate: string;
}

/** Tasks end in every way there is. */
export const ecsStop: Proof = {
  name: "ecs-stop",
  about:
    "a Fargate job's task is stopped, is killed, never starts; events repeat or are lost: done within 2 s of the event",
  guards: ["task-event", "whose-task"],
  async run(context, list) {
    const system = await startInstalled(context, {
      app: "fargate",
      lane: () => ({ visibilityTimeoutSeconds: 30, concurrency: 2 }),
    });
    const fates = new Map<string, LaunchResult>();
    const host = await startTaskHost(system, {
      fate: (request) => fates.get(tryOf(request)) ?? { is: "runs" },
      loses: ({ detail }) => leaseJobs.has(String(detail.startedBy?.split("/")[1])),
    });
    const leaseJobs = new Set<string>();
    try {
      const gate = join(context.folder, "gate");
      const ids = await enqueueAll(system, { fates, leaseJobs, gate });
      const ground: Ground = { system, host, ids, gate };
      const work = system.work({ envOf: () => host.env });
      await makeFaults(ground);
      await repeatEvent(list, ground);
      await cancelOne(list, ground);
      await failForGood(list, ground, fates);
      await system.untilEnded(waitMs);
      await work.stop();
      await until("all tasks to be gone", waitMs, () => host.ecs.running().length === 0);
      assess(list, await judge(list, system), ground);
    } finally {
      await host.stop();
    }
  },
};

const tryOf = ({ startedBy = "" }: RunTaskRequest): string => startedBy.replace("belfry/", "");

async function enqueueAll(
  system: System,
  { fates, leaseJobs, gate }: { fates: Map<string, LaunchResult>; leaseJobs: Set<string>; gate: string },
): Promise<readonly JobId[]> {
  const ids: JobId[] = [];
  for (const [n, { kind, first, fate, gated }] of plans.entries()) {
    const payload = { n, first, gate: gated === true ? gate : null };
    const dueAt = new Date(Date.now() + 3_000);
    const id = await enqueueOne(system, kind, { payload, dueAt });
    ids.push(id);
    if (fate !== undefined) fates.set(`${id}/1`, fate);
    if (kind === "by-lease") leaseJobs.add(id);
  }
  return ids;
}

async function enqueueOne(system: System, kind: string, item: EnqueueItem): Promise<JobId> {
  const [job] = await system.enqueue(kind, [item]);
  if (job === undefined) throw new Error("an enqueue gave no answer");
  return job.id;
}

/** Once the handler of a job runs, its task is stopped or killed. */
async function makeFaults({ system, host, ids }: Ground): Promise<void> {
  for (const [n, { fault, name }] of plans.entries()) {
    if (fault === "none") continue;
    const id = ids[n] ?? "";
    await until(`the first task of "${name}"`, waitMs, () => startsOf(system, id).length > 0);
    const running = host.ecs.running().find(({ startedBy }) => startedBy === `belfry/${id}/1`);
    if (running === undefined) throw new Error(`no task runs job ${id}`);
    if (fault === "kill") process.kill(running.pid, "SIGKILL");
    else host.ecs.interrupt(running.task, "SpotInterruption", "Your Spot Task was interrupted.");
  }
}

const startsOf = (system: System, id: string) =>
  system.ledger.read().filter(({ what, job }) => what === "start" && job === id);

/** The second try runs when the event of the first task comes again, to the process that knows it and to one that does not. */
async function repeatEvent(list: Checklist, { system, host, ids, gate }: Ground): Promise<void> {
  const id = ids[plans.findIndex(({ gated }) => gated === true)] ?? "";
  const stop = await until("its event", waitMs, () => host.stops.find(({ event }) => isOf(event, id, 1)));
  // At first the try is the worker's that launched it, then its task's.
  const launched = await until("its second try", waitMs, async () => {
    const second = "select worker from belfry.job where id = $1 and state = 'RUNNING' and attempt = 2";
    return (await system.rows<{ worker: string }>(second, [id]))[0]?.worker;
  });
  for (const where of ["same", "new"] as const) await host.deliver(stop.event, where);
  await until("its second try to run", waitMs, () => startsOf(system, id).length > 1);
  for (const where of ["same", "new"] as const) await host.deliver(stop.event, where);
  const { seen } = await system.row<{ seen: string }>(
    "select state || ' ' || attempt as seen from belfry.job where id = $1",
    [id],
  );
  list.expectIs("a repeated event leaves the next try alone", seen, "RUNNING 2");
  list.figure(`repeated while ${taskOf(launched) === null ? "its next task started" : "its next task ran"}, and later`);
  if (!existsSync(gate)) writeFileSync(gate, "");
}

const isOf = ({ detail }: TaskHost["stops"][number]["event"], id: string, attempt: number): boolean =>
  detail.startedBy === `belfry/${id}/${attempt}`;

/** A cancel stops the task, though its handler does not listen. */
async function cancelOne(list: Checklist, { system, host }: Ground): Promise<void> {
  const n = plans.length;
  const id = await enqueueOne(system, "by-event", { payload: { n, first: "ignores", gate: null } });
  await until("the task of the job to cancel", waitMs, () => startsOf(system, id).length > 0);
  const { aws, tasks } = readConfig({ ...system.env, ...host.env }, project);
  if (tasks === null) throw new Error("the host names no place for tasks");
  const client = ecsClient(aws);
  const launcher = createEcsLauncher({ client, place: tasks });
  const startedMs = elapsedMs();
  await cancelJobs({ ...system.runtime.ports, launcher }, system.runtime.registry, [id]);
  await until("its task to be gone", waitMs, () => host.stops.some(({ event }) => isOf(event, id, 1)));
  const tookMs = elapsedMs() - startedMs;
  client.destroy();
  list.expectAtMost("a canceled job's task is gone soon", tookMs, 5_000, " ms");
}

/** A task that never starts, however often: a person does not wait for the next launch each time. */
async function failForGood(list: Checklist, { system }: Ground, fates: Map<string, LaunchResult>): Promise<void> {
  const payload = { n: plans.length + 1, first: "obeys", gate: null };
  const id = await enqueueOne(system, "by-event", { payload, dueAt: new Date(Date.now() + 3_000) });
  for (let attempt = 1; attempt <= contractLimits.interruptionsMax; attempt += 1) {
    fates.set(`${id}/${attempt}`, { is: "never-starts", reason: "CannotPullContainerError: no such image" });
  }
  const { ports } = system.runtime;
  const row = await until("it to fail", waitMs, async () => {
    await afterCommit(ports, (await ports.store.runNow([id])).aftermath);
    const failed = "select error_code, attempt from belfry.job where id = $1 and state = 'FAILED'";
    return (await system.rows<{ error_code: string; attempt: number }>(failed, [id]))[0];
  });
  const seen = `${row.error_code} after ${row.attempt} launches`;
  list.expectIs(
    "what never starts fails in the end",
    seen,
    `TASK_NOT_STARTED after ${contractLimits.interruptionsMax} launches`,
  );
}

function assess(list: Checklist, tables: Tables, { ids, host }: Ground): void {
  const took: number[] = [];
  for (const [n, plan] of plans.entries()) {
    const job = tables.jobs.find(({ id }) => id === ids[n]);
    const first = tables.attempts.find(({ jobId, attempt }) => jobId === ids[n] && attempt === 1);
    const { failures, interruptions, code } = plan.costs;
    const cost = `${job?.state} ${job?.failures}/${job?.interruptions} ${first?.errorCode}`;
    list.expectIs(`${plan.name}: costs what it should`, cost, `SUCCESS ${failures}/${interruptions} ${code}`);
    const stop = host.stops.find(({ event }) => isOf(event, ids[n] ?? "", 1));
    const end = tables.events.find((event) => isEndOf(event, ids[n] ?? ""));
    if (stop === undefined || plan.byItself === true) continue;
    const tookMs = (end?.at ?? Number.POSITIVE_INFINITY) - stop.at;
    if (plan.kind === "by-event") took.push(tookMs);
    const max = plan.kind === "by-event" ? releasedMsMax : leasePathMsMax;
    list.expectAtMost(`${plan.name}: goes on in time`, tookMs, max, " ms");
    if (plan.kind === "by-lease") list.figure(`by its lease after ${(tookMs / 1_000).toFixed(1)} s`);
  }
  list.figure(`${took.length} tries ended by event, the slowest ${Math.max(...took).toFixed(0)} ms after it`);
}

const isEndOf = (event: EventRow, id: string): boolean =>
  event.jobId === id && event.from === "RUNNING" && event.attempt === 1;
