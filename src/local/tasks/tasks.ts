import { fileURLToPath } from "node:url";
import type { Children } from "../process/children.ts";
import { startEcs } from "./ecs.ts";
import type { Successor } from "../successor.ts";
import { createTaskEvents } from "./task-events.ts";

type OnLine = (line: string, stream: "stdout" | "stderr") => void;

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
/** From SIGTERM to SIGKILL, where a task on ECS has 60 s. */
const stopMs = 18_000;

export async function startTasks(options: TasksOptions): Promise<Tasks> {
  const { children, env, workerEnv, linesOf, onProblem } = options;
  const events = createTaskEvents({ children, env, onLine: linesOf("ecs-events"), onProblem });
  const onLine = linesOf("task");
  const ecs = await startEcs({
    start: (command, more) =>
      children.start({ name: "task", args: [entry, ...command], env: { ...env, ...workerEnv, ...more }, onLine }),
    stop: (child) => children.stop(child, stopMs),
    onEvent: (event) => events.deliver(event),
  });
  if (options.isExpected) events.warm();
  return {
    settings: taskSettings(ecs.url),
    prepare: (code) => events.prepare(code),
    async stop() {
      await ecs.stop();
      await events.stop();
    },
  };
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
