import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createSandbox } from "../lambda/sandbox.ts";
import { SandboxPool } from "../lambda/sandbox-pool.ts";
import type { Children, OnLine } from "../process/children.ts";
import type { Successor } from "../process/ready-child.ts";
import { startEcs, type TaskEvent } from "./ecs.ts";

export interface TasksOptions {
  readonly children: Children;
  /** Of the function that takes the events, and of tasks, as it is when one starts. */
  readonly env: Readonly<Record<string, string>>;
  /** More, for tasks. */
  readonly workerEnv: Readonly<Record<string, string>>;
  /** Whether there are jobs on Fargate: the function is started now then, because an event should not wait for it. */
  readonly isExpected: boolean;
  readonly linesOf: (from: string) => OnLine;
  readonly onProblem: (what: string, error: unknown) => void;
}

/** Where jobs on Fargate run on this machine: the ECS API with a process for each task, and what takes its events. */
export interface Tasks {
  /** What a process needs in its environment to launch tasks here. */
  readonly settings: Readonly<Record<string, string>>;
  /** For later events; later tasks run the code of their time. */
  prepare(code: string): Promise<Successor>;
  stop(): Promise<void>;
}

const entry = fileURLToPath(new URL("../../../scheduler-task/main.ts", import.meta.url));
const eventsEntry = fileURLToPath(new URL("../../../functions/ecs-events.ts", import.meta.url));
/** From SIGTERM to SIGKILL, where a task on ECS has 60 s. */
const stopMs = 18_000;
const eventsTimeoutMs = 30_000;
const eventsStopMs = 5_000;
/** Lambda repeats a failed asynchronous invocation twice. */
const triesMax = 3;
const againMs = 1_000;

export async function startTasks(options: TasksOptions): Promise<Tasks> {
  const { children, env, workerEnv, linesOf, onProblem } = options;
  const over = new AbortController();
  const about = { children, name: "ecs-events", file: eventsEntry, env, timeoutMs: eventsTimeoutMs };
  const pool = new SandboxPool({
    max: 1,
    onBroken: (error) => onProblem("could not start", error),
    create: (code) => createSandbox({ ...about, code, onLine: linesOf("ecs-events") }),
  });
  const onLine = linesOf("task");
  const ecs = await startEcs({
    start: (command, more) =>
      children.start({
        name: "task",
        args: [entry, ...command],
        env: { ...env, ...workerEnv, ...more },
        runsHandlers: true,
        onLine,
      }),
    stop: (child) => children.stop(child, stopMs),
    // The deployed rule passes stopped tasks only.
    onEvent: (event) => void (event.detail.lastStatus === "STOPPED" && deliver(pool, event, over.signal, onProblem)),
  });
  if (options.isExpected) void pool.warm(over.signal);
  return {
    settings: taskSettings(ecs.url),
    prepare: (code) => pool.prepare(code),
    async stop() {
      await ecs.stop();
      over.abort();
      await pool.stop(eventsStopMs);
    },
  };
}

/** The rule between ECS and the function that takes its events, which invokes it asynchronously. */
async function deliver(
  pool: SandboxPool,
  event: TaskEvent,
  over: AbortSignal,
  onProblem: TasksOptions["onProblem"],
): Promise<void> {
  for (let attempt = 1; attempt <= triesMax; attempt += 1) {
    const sandbox = await pool.acquire(over);
    if (sandbox === null) return;
    try {
      return void (await sandbox.invoke(event));
    } catch (error) {
      if (over.aborted) return;
      onProblem(attempt < triesMax ? "failed and is tried again" : "failed; the lease decides", error);
    } finally {
      pool.release(sandbox);
    }
    await wait(againMs * attempt, undefined, { signal: over }).catch(() => {});
  }
}

/** What the processes of a system need in their environment to launch tasks there. */
export const taskSettings = (url: string): Readonly<Record<string, string>> => ({
  AWS_ENDPOINT_URL_ECS: url,
  BELFRY_TASKS: JSON.stringify({
    cluster: "belfry",
    taskDefinition: "belfry-job",
    container: "Job",
    subnets: ["subnet-local"],
    securityGroups: ["sg-local"],
    assignPublicIp: false,
  }),
});
