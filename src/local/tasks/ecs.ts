/**
 * The ECS API on loopback, as far as it is used: RunTask, StopTask, ListTasks and DescribeTasks in ECS's own JSON protocol, and the task
 * metadata that a container asks for. A task is a process of its own, which outlives its worker.
 * Answers: https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_RunTask.html (and API_StopTask, API_ListTasks, API_DescribeTasks,
 * ECS_Idempotency), https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-metadata-endpoint-v4-fargate.html
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import {
  eventOf,
  exitCodeOf,
  newTask,
  type RunTaskRequest,
  shown,
  type StopCode,
  type TaskEvent,
  type TaskRecord,
} from "./ecs-task.ts";
import { listenOnLoopback, type LocalServer } from "../services/server.ts";

/** What becomes of one RunTask. */
export type Fate =
  | { readonly is: "runs" }
  /** Answered 200 with a failure and no task. */
  | { readonly is: "refused"; readonly reason: string; readonly detail?: string }
  | { readonly is: "error"; readonly status: number; readonly type: string; readonly message: string }
  /** Accepted; the task then stops without having started. */
  | { readonly is: "never-starts"; readonly reason: string }
  /** The task runs, and the caller's connection breaks before the answer. */
  | { readonly is: "reply-lost" };

export interface EcsOptions {
  /** Starts the process of a task. */
  start(command: readonly string[], env: Readonly<Record<string, string>>): ChildProcess;
  /** SIGTERM, and SIGKILL after the stop timeout. */
  stop(child: ChildProcess): Promise<void>;
  /** Every change of every task, as ECS sends it to EventBridge. */
  onEvent(event: TaskEvent): void;
  /** For tests. Default: every task runs. */
  fate?(request: RunTaskRequest): Fate;
}

export interface LocalEcs extends LocalServer {
  /** Of the tasks that run now. */
  running(): readonly { readonly task: string; readonly pid: number; readonly startedBy: string | null }[];
  /** Stops a task as ECS does by itself, when Spot reclaims its capacity or its host is retired. */
  interrupt(task: string, stopCode: StopCode, reason: string): void;
}

interface Running {
  readonly task: TaskRecord;
  readonly child: ChildProcess;
}

class ApiError extends Error {
  readonly type: string;
  readonly status: number;
  constructor(type: string, message: string, status = 400) {
    super(message);
    this.type = type;
    this.status = status;
  }
}

export async function startEcs(options: EcsOptions): Promise<LocalEcs> {
  const service = createService(options);
  const server = createServer((request, response) => void answer(service, request, response));
  const port = await listenOnLoopback(server, 0, "the ECS API");
  service.url = `http://127.0.0.1:${port}`;
  return {
    url: service.url,
    port,
    running: () =>
      [...service.running.values()].map(({ task, child }) => ({
        task: task.id,
        pid: child.pid ?? -1,
        startedBy: task.request.startedBy ?? null,
      })),
    interrupt(task, stopCode, reason) {
      const found = service.running.get(task);
      if (found !== undefined) stopTask(service, found.task, stopCode, reason);
    },
    async stop() {
      service.isOver = true;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await Promise.all([closed, ...[...service.running.values()].map(({ child }) => options.stop(child))]);
    },
  };
}

interface Service {
  readonly options: EcsOptions;
  readonly tasks: Map<string, TaskRecord>;
  readonly tokens: Map<string, { readonly request: RunTaskRequest; readonly task: TaskRecord }>;
  readonly running: Map<string, Running>;
  url: string;
  isOver: boolean;
}

const createService = (options: EcsOptions): Service => ({
  options,
  tasks: new Map(),
  tokens: new Map(),
  running: new Map(),
  url: "",
  isOver: false,
});

const target = "AmazonEC2ContainerServiceV20141113.";

async function answer(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const reply = (status: number, body: unknown): void => {
    response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(body));
  };
  try {
    const metadata = /^\/v4\/(\w+)\/task$/.exec(request.url ?? "");
    if (metadata !== null) return reply(200, metadataOf(knownTask(service, metadata[1] ?? "")));
    const operation = String(request.headers["x-amz-target"] ?? "").replace(target, "");
    const body: unknown = await call(service, operation, JSON.parse(await text(request)) as Record<string, unknown>);
    if (body === null) request.socket.destroy();
    else reply(200, body);
  } catch (error) {
    if (error instanceof ApiError) return reply(error.status, { __type: error.type, message: error.message });
    reply(500, { __type: "ServerException", message: String(error) });
  }
}

const metadataOf = ({ arn, request: { cluster, taskDefinition } }: TaskRecord) => ({
  TaskARN: arn,
  Cluster: cluster,
  Family: taskDefinition,
});

/** @returns null when the connection has to break. */
function call(service: Service, operation: string, input: Record<string, unknown>): unknown {
  if (operation === "RunTask") return runTask(service, input as unknown as RunTaskRequest);
  if (operation === "StopTask") {
    const task = knownTask(service, String(input["task"]));
    const { reason } = input as { reason?: string };
    stopTask(service, task, "UserInitiated", reason ?? "Task stopped by user");
    return { task: shown(task) };
  }
  if (operation === "ListTasks") {
    const wanted = input["desiredStatus"] ?? "RUNNING";
    const listed = [...service.tasks.values()].filter(({ desiredStatus }) => desiredStatus === wanted);
    return { taskArns: listed.map(({ arn }) => arn) };
  }
  if (operation === "DescribeTasks") return describeTasks(service, input["tasks"] as readonly string[]);
  throw new ApiError("UnknownOperationException", `${operation} is not part of the local ECS API`);
}

const idOf = (reference: string): string => reference.slice(reference.lastIndexOf("/") + 1);

function knownTask(service: Service, reference: string): TaskRecord {
  const task = service.tasks.get(idOf(reference));
  if (task === undefined) throw new ApiError("InvalidParameterException", "The referenced task was not found.");
  return task;
}

function describeTasks(service: Service, references: readonly string[]) {
  const found = references.map((reference) => ({ reference, task: service.tasks.get(idOf(reference)) }));
  return {
    tasks: found.flatMap(({ task }) => (task === undefined ? [] : [shown(task)])),
    failures: found.flatMap(({ reference, task }) =>
      task === undefined ? [{ arn: reference, reason: "MISSING" }] : [],
    ),
  };
}

function runTask(service: Service, request: RunTaskRequest): unknown {
  const { clientToken } = request;
  const before = clientToken === undefined ? undefined : service.tokens.get(clientToken);
  if (before !== undefined) {
    if (isDeepStrictEqual(before.request, request)) return { tasks: [shown(before.task)], failures: [] };
    throw new ApiError("ConflictException", "The client token was used with other parameters.");
  }
  const fate = service.options.fate?.(request) ?? { is: "runs" };
  if (fate.is === "error") throw new ApiError(fate.type, fate.message, fate.status);
  if (fate.is === "refused") {
    const { reason, detail } = fate;
    return { tasks: [], failures: [{ reason, ...(detail === undefined ? {} : { detail }) }] };
  }
  const task = newTask(request);
  service.tasks.set(task.id, task);
  if (clientToken !== undefined) service.tokens.set(clientToken, { request, task });
  const accepted = shown(task);
  if (fate.is === "never-starts") queueMicrotask(() => stopped(service, task, "TaskFailedToStart", fate.reason));
  else start(service, task);
  return fate.is === "reply-lost" ? null : { tasks: [accepted], failures: [] };
}

function start(service: Service, task: TaskRecord): void {
  const command = task.request.overrides?.containerOverrides?.[0]?.command ?? [];
  const child = service.options.start(command, { ECS_CONTAINER_METADATA_URI_V4: `${service.url}/v4/${task.id}` });
  service.running.set(task.id, { task, child });
  change(service, task, { lastStatus: "PENDING" });
  child.once("spawn", () => change(service, task, { lastStatus: "RUNNING", hasContainer: true }));
  child.once("error", (error) =>
    stopped(service, task, "TaskFailedToStart", `CannotStartContainerError: ${error.message}`),
  );
  child.once("exit", (code, signal) => {
    task.exitCode = exitCodeOf(code, signal);
    stopped(
      service,
      task,
      task.stopCode ?? "EssentialContainerExited",
      task.stoppedReason ?? "Essential container in task exited",
    );
  });
}

function stopTask(service: Service, task: TaskRecord, stopCode: StopCode, reason: string): void {
  const running = service.running.get(task.id);
  if (running === undefined || task.desiredStatus === "STOPPED") return;
  change(service, task, { desiredStatus: "STOPPED", stopCode, stoppedReason: reason });
  void service.options.stop(running.child);
}

function stopped(service: Service, task: TaskRecord, stopCode: StopCode, stoppedReason: string): void {
  if (task.lastStatus === "STOPPED") return;
  service.running.delete(task.id);
  change(service, task, {
    lastStatus: "STOPPED",
    desiredStatus: "STOPPED",
    stopCode,
    stoppedReason,
    stoppedAt: new Date(),
  });
}

function change(service: Service, task: TaskRecord, to: Partial<TaskRecord>): void {
  Object.assign(task, to, { version: task.version + 1 });
  // When the whole system stops, the event has no receiver.
  if (!service.isOver) service.options.onEvent(eventOf(task));
}
