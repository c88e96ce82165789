/** The scheduler task: what a wake starts on Fargate, and the local clock as a child process. */
import { hostname } from "node:os";
import { ownTask } from "../src/adapters/aws/task-metadata.ts";
import { DatabaseUnavailable, DatabaseUnfit } from "../src/adapters/postgres/failure.ts";
import { type Config, readConfig } from "../src/config.ts";
import { measureHealth } from "../src/core/operations/measure-health.ts";
import { eventSink } from "../src/adapters/events/sink.ts";
import { type EventSink, publishing } from "../src/core/operations/publish.ts";
import { upkeep } from "../src/core/operations/upkeep.ts";
import { type PassReport, runPasses } from "../src/core/pass.ts";
import { runSchedule, type RunScheduleReport } from "../src/core/schedules/run-schedule.ts";
import type { JobId } from "../src/core/job.ts";
import { taskWorker, type Try } from "../src/core/ports.ts";
import { runJob } from "../src/core/work/run-job.ts";
import { ProblemsFound } from "../src/core/definitions/problem.ts";
import { openRuntime, type Runtime } from "../src/runtime.ts";

const usage = `usage: scheduler-task/main.ts COMMAND
  pass               take the lock and make passes until the time is over or SIGTERM comes
  run-job ID TRY BY  run this try of this job, which the worker BY claimed (runOn: "fargate")
  run-schedule ID    take the schedule's own lock and do the work of its time (launch: "rule")`;

/**
 * Held is success: another task does the work. The lock outage is told apart, so that an alarm can watch it, and so is a
 * job that FAILED.
 */
const exitCodes = {
  done: 0,
  held: 0,
  refused: 0,
  "nothing-due": 0,
  disabled: 0,
  "fence-lost": 0,
  failure: 1,
  usage: 2,
  unknown: 2,
  "lock-outage": 3,
  "job-failed": 7,
} as const;

const stop = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stop.abort());
process.exitCode = await main(process.argv.slice(2));
// Connections that an app's own code holds open must not keep a task alive whose work is done: Fargate bills it.
if (process.argv[2] !== "pass") process.exit();

async function main([command, ...rest]: readonly string[]): Promise<number> {
  const [id, attempt, from] = rest;
  if (command === "pass" && rest.length === 0) return orFail(passAndReport);
  if (command === "run-schedule" && rest.length === 1 && id !== undefined) return orFail(() => runAndReport(id));
  if (
    command === "run-job" &&
    rest.length === 3 &&
    /^[1-9]\d{0,18}$/.test(id ?? "") &&
    /^[1-9]\d{0,8}$/.test(attempt ?? "")
  ) {
    return orFail(() => runJobAndReport({ jobId: id as JobId, attempt: Number(attempt), from: from ?? "" }));
  }
  console.error(usage);
  return exitCodes.usage;
}

async function orFail(work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    const isExplained = [ProblemsFound, DatabaseUnavailable, DatabaseUnfit].some((kind) => error instanceof kind);
    console.error(isExplained ? (error as Error).message : error);
    return exitCodes.failure;
  }
}

async function passAndReport(): Promise<number> {
  const report = await pass();
  console.log(JSON.stringify({ report: "pass", ...report }));
  if (report.outcome === "held") console.error(`held by ${report.heldBy}`);
  return exitCodes[report.outcome];
}

async function runAndReport(id: string): Promise<number> {
  const report = await run(id);
  console.log(JSON.stringify({ report: "run-schedule", schedule: id, ...report }));
  if (report.outcome === "held") console.error(`held by ${report.heldBy}`);
  if (report.outcome === "unknown") console.error(`there is no schedule "${id}"`);
  return report.jobs.some(({ state }) => state === "FAILED") ? exitCodes["job-failed"] : exitCodes[report.outcome];
}

async function runJobAndReport(task: Try & { readonly from: string }): Promise<number> {
  const config = readConfig(process.env);
  const runtime = await openRuntime(config, { role: "task" });
  try {
    const own = (await ownTask(process.env)) ?? hostname();
    const worker = taskWorker(own, `${process.pid}:${runtime.ports.random.id().slice(0, 8)}`);
    const { lookAheadMs, stage } = config;
    const options = { ...task, worker, stage: stage.name, lookAheadMs, signal: stop.signal };
    const report = await runJob(runtime.ports, runtime.registry, options);
    console.log(JSON.stringify({ report: "run-job", job: task.jobId, attempt: task.attempt, ...report }));
    if (report.outcome === "unknown") return exitCodes.failure;
    return report.outcome === "done" && report.state === "FAILED" ? exitCodes["job-failed"] : exitCodes[report.outcome];
  } finally {
    await runtime.close();
  }
}

/** With the connections of a worker: this task does the work itself. */
async function run(id: string): Promise<RunScheduleReport> {
  const config = readConfig(process.env);
  const runtime = await openRuntime(config, { role: "task" });
  try {
    await runtime.checkDatabase();
    return await runSchedule(runtime.ports, runtime.registry, {
      id,
      owner: `${hostname()}:${process.pid}`,
      stage: config.stage.name,
      lookAheadMs: config.lookAheadMs,
      onLockOutage: config.onLockOutage,
      lockLeaseMs: config.lockLeaseMs,
      signal: stop.signal,
    });
  } finally {
    await runtime.close();
  }
}

async function passWithUpkeep(config: Config, { ports, registry, operations }: Runtime): Promise<PassReport> {
  const owner = `${hostname()}:${process.pid}`;
  const { lookAheadMs, onLockOutage, lockLeaseMs } = config;
  const ended = new AbortController();
  const sink = sinkOf(config);
  const sending =
    sink === null ? null : publishing(ports, operations, { sink, owner: `${owner}:publisher`, signal: ended.signal });
  const tidying = upkeep(ports, registry, operations, { owner, lookAheadMs, signal: ended.signal });
  try {
    const report = await runPasses(ports, registry, {
      owner,
      stage: config.stage.name,
      untilMs: config.passMs,
      onLockOutage,
      lookAheadMs,
      lockLeaseMs,
      signal: stop.signal,
    });
    if (report.outcome === "done") await measureHealth(ports, operations);
    return report;
  } finally {
    ended.abort();
    await Promise.all([tidying, sending]);
  }
}

function sinkOf({ eventSink: settings, eventBridgeEndpoint: endpoint, stage, aws }: Config): EventSink | null {
  return settings === null ? null : eventSink(settings, { stage: stage.name, region: aws.region, endpoint });
}

async function pass(): Promise<PassReport> {
  const config = readConfig(process.env);
  const runtime = await openRuntime(config, { role: "scheduler" });
  try {
    await runtime.checkDatabase();
    return await passWithUpkeep(config, runtime);
  } finally {
    await runtime.close();
  }
}
