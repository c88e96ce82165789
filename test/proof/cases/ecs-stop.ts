import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cancelJobs } from "../../../src/insight/cancel-and-retry.ts";
import { contractLimits } from "../../../src/machine/contract-limits.ts";
import { afterCommit } from "../../../src/run/after-commit.ts";
import type { JobId } from "../../../src/machine/job.ts";
import { taskOf } from "../../../src/machine/launcher.ts";
import type { LaunchResult } from "../../../src/local/tasks/ecs.ts";
import type { RunTaskRequest } from "../../../src/local/tasks/ecs.ts";
import { createEcsLauncher, ecsClient } from "../../../src/aws/task-launcher.ts";
import { project } from "../../support/own-project.ts";
import { readConfig } from "../../../src/stage/config.ts";
import { judge } from "../judge.ts";
import type { Checklist, Proof } from "../proof.ts";
import { startSystem, type System } from "../system.ts";
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
    const system = await startSystem(context, {
      app: "fargate",
      lane: () => ({ visibilityTimeoutSeconds: 30, concurrency: 2 }),
    });
    await system.install();
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
      const fleet = system.fleet({ envOf: () => host.env });
      const wakes = system.wakes({ everyMs: 0 });
      await makeFaults(ground);
      await repeatEvent(list, ground);
      await cancelOne(list, ground);
      await failForGood(list, ground, fates);
      await until("all jobs to end", waitMs, async () => (await system.openJobs()) === 0);
      await wakes.stop();
      await fleet.stop();
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
    const [job] = await system.enqueue(kind, [{ payload, dueAt }]);
    if (job === undefined) throw new Error("an enqueue gave no answer");
    ids.push(job.id);
    if (fate !== undefined) fates.set(`${job.id}/1`, fate);
    if (kind === "by-lease") leaseJobs.add(job.id);
  }
  return ids;
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
    const { rows } = await system.pool.query(
      "select attempt, worker from belfry.job where id = $1 and state = 'RUNNING'",
      [id],
    );
    return rows[0]?.attempt === 2 ? String(rows[0].worker) : null;
  });
  for (const where of ["same", "new"] as const) await host.deliver(stop.event, where);
  await until("its second try to run", waitMs, () => startsOf(system, id).length > 1);
  for (const where of ["same", "new"] as const) await host.deliver(stop.event, where);
  const { rows } = await system.pool.query("select state, attempt from belfry.job where id = $1", [id]);
  const seen = `${rows[0]?.state} ${rows[0]?.attempt}`;
  list.expect("a repeated event leaves the next try alone", seen === "RUNNING 2", seen);
  list.figure(`repeated while ${taskOf(launched) === null ? "its next task started" : "its next task ran"}, and later`);
  if (!existsSync(gate)) writeFileSync(gate, "");
}

const isOf = ({ detail }: TaskHost["stops"][number]["event"], id: string, attempt: number): boolean =>
  detail.startedBy === `belfry/${id}/${attempt}`;

/** A cancel stops the task, though its handler does not listen. */
async function cancelOne(list: Checklist, { system, host }: Ground): Promise<void> {
  const n = plans.length;
  const [job] = await system.enqueue("by-event", [{ payload: { n, first: "ignores", gate: null } }]);
  if (job === undefined) throw new Error("an enqueue gave no answer");
  await until("the task of the job to cancel", waitMs, () => startsOf(system, job.id).length > 0);
  const { aws, tasks } = readConfig({ ...system.env, ...host.env }, project);
  if (tasks === null) throw new Error("the host names no place for tasks");
  const client = ecsClient(aws);
  const launcher = createEcsLauncher({ client, place: tasks });
  const startedMs = elapsedMs();
  await cancelJobs({ ...system.runtime.ports, launcher }, system.runtime.registry, [job.id]);
  await until("its task to be gone", waitMs, () => host.stops.some(({ event }) => isOf(event, job.id, 1)));
  const tookMs = elapsedMs() - startedMs;
  client.destroy();
  list.expect("a canceled job's task is gone soon", tookMs <= 5_000, `${tookMs.toFixed(0)} ms`);
}

/** A task that never starts, however often: a person does not wait for the next launch each time. */
async function failForGood(list: Checklist, { system }: Ground, fates: Map<string, LaunchResult>): Promise<void> {
  const payload = { n: plans.length + 1, first: "obeys", gate: null };
  const [job] = await system.enqueue("by-event", [{ payload, dueAt: new Date(Date.now() + 3_000) }]);
  if (job === undefined) throw new Error("an enqueue gave no answer");
  for (let attempt = 1; attempt <= contractLimits.interruptionsMax; attempt += 1) {
    fates.set(`${job.id}/${attempt}`, { is: "never-starts", reason: "CannotPullContainerError: no such image" });
  }
  const { ports } = system.runtime;
  const row = await until("it to fail", waitMs, async () => {
    await afterCommit(ports, (await ports.store.runNow([job.id])).aftermath);
    const { rows } = await system.pool.query(
      "select error_code, attempt from belfry.job where id = $1 and state = 'FAILED'",
      [job.id],
    );
    return rows[0];
  });
  const seen = `${row.error_code} after ${row.attempt} launches`;
  list.expect(
    "what never starts fails in the end",
    seen === `TASK_NOT_STARTED after ${contractLimits.interruptionsMax} launches`,
    seen,
  );
}

function assess(list: Checklist, tables: Tables, { ids, host }: Ground): void {
  const took: number[] = [];
  for (const [n, plan] of plans.entries()) {
    const job = tables.jobs.find(({ id }) => id === ids[n]);
    const first = tables.attempts.find(({ jobId, attempt }) => jobId === ids[n] && attempt === 1);
    const { failures, interruptions, code } = plan.costs;
    const cost = `${job?.state} ${job?.failures}/${job?.interruptions} ${first?.errorCode}`;
    list.expect(`${plan.name}: costs what it should`, cost === `SUCCESS ${failures}/${interruptions} ${code}`, cost);
    const stop = host.stops.find(({ event }) => isOf(event, ids[n] ?? "", 1));
    const end = tables.events.find((event) => isEndOf(event, ids[n] ?? ""));
    if (stop === undefined || plan.byItself === true) continue;
    const tookMs = (end?.at ?? Number.POSITIVE_INFINITY) - stop.at;
    if (plan.kind === "by-event") took.push(tookMs);
    const max = plan.kind === "by-event" ? releasedMsMax : leasePathMsMax;
    list.expect(`${plan.name}: goes on in time`, tookMs <= max, `${tookMs.toFixed(0)} ms`);
    if (plan.kind === "by-lease") list.figure(`by its lease after ${(tookMs / 1_000).toFixed(1)} s`);
  }
  list.figure(`${took.length} tries ended by event, the slowest ${Math.max(...took).toFixed(0)} ms after it`);
}

const isEndOf = (event: EventRow, id: string): boolean =>
  event.jobId === id && event.from === "RUNNING" && event.attempt === 1;
