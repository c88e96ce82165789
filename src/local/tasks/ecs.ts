/**
 * The ECS API on loopback, as far as it is used: RunTask, StopTask, ListTasks and DescribeTasks in ECS's own JSON protocol, the task
 * metadata that a container asks for, and the events. A task is a process of its own, which outlives its worker.
 * Answers: https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_RunTask.html (and API_StopTask, API_ListTasks, API_DescribeTasks,
 * API_Task), https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-metadata-endpoint-v4-fargate.html, and
 * https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs_task_events.html
 */
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { constants } from "node:os";
import { text } from "node:stream/consumers";
import { listenOnLoopback, type LocalServer } from "../services/server.ts";

/** Of RunTask, as far as this service reads it. */
export interface RunTaskRequest {
  readonly cluster: string;
  readonly taskDefinition: string;
  readonly clientToken?: string;
  readonly startedBy?: string;
  readonly overrides?: {
    readonly cpu?: string;
    readonly memory?: string;
    readonly containerOverrides?: readonly { readonly name: string; readonly command?: readonly string[] }[];
  };
}

/** What becomes of one RunTask. */
export type LaunchResult =
  | { readonly is: "runs" }
  /** Answered 200 with a failure and no task. */
  | { readonly is: "refused"; readonly reason: string }
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
  fate?(request: RunTaskRequest): LaunchResult;
}

export interface LocalEcs extends LocalServer {
  /** Of the tasks that run now. */
  running(): readonly { readonly task: string; readonly pid: number; readonly startedBy: string | null }[];
  /** Stops a task as ECS does by itself, when Spot reclaims its capacity or its host is retired. */
  interrupt(task: string, stopCode: string, reason: string): void;
}

interface Task {
  readonly id: string;
  readonly arn: string;
  readonly request: RunTaskRequest;
  readonly createdAt: Date;
  /** Null: it never starts. */
  child: ChildProcess | null;
  version: number;
  lastStatus: "PENDING" | "RUNNING" | "STOPPED";
  desiredStatus: "RUNNING" | "STOPPED";
  stopCode?: string;
  stoppedReason?: string;
}

const account = "000000000000";
const region = "us-east-1";
const target = "AmazonEC2ContainerServiceV20141113.";

export async function startEcs(options: EcsOptions): Promise<LocalEcs> {
  const ecs = new Ecs(options);
  await ecs.open();
  return ecs;
}

class Ecs implements LocalEcs {
  url = "";
  port = 0;
  readonly #options: EcsOptions;
  readonly #server: Server;
  readonly #tasks = new Map<string, Task>();
  readonly #byToken = new Map<string, Task>();
  #isOver = false;

  constructor(options: EcsOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  async open(): Promise<void> {
    this.port = await listenOnLoopback(this.#server, 0, "the ECS API");
    this.url = `http://127.0.0.1:${this.port}`;
  }

  running(): ReturnType<LocalEcs["running"]> {
    return this.#running().map(({ id, child, request }) => ({
      task: id,
      pid: child?.pid ?? -1,
      startedBy: request.startedBy ?? null,
    }));
  }

  interrupt(task: string, stopCode: string, reason: string): void {
    this.#end(this.#taskOf(task), stopCode, reason);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    const children = this.#running().flatMap(({ child }) => child ?? []);
    await Promise.all([closed, ...children.map((child) => this.#options.stop(child))]);
  }

  #running(): readonly Task[] {
    return [...this.#tasks.values()].filter(({ lastStatus, child }) => lastStatus !== "STOPPED" && child !== null);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = (status: number, body: unknown): void => {
      response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(body));
    };
    try {
      const metadata = /^\/v4\/(\w+)\/task$/.exec(request.url ?? "");
      if (metadata !== null) {
        const { arn, request: of } = this.#taskOf(metadata[1] ?? "");
        return reply(200, { TaskARN: arn, Cluster: of.cluster, Family: of.taskDefinition });
      }
      const operation = String(request.headers["x-amz-target"] ?? "").replace(target, "");
      const body = this.#call(operation, JSON.parse(await text(request)) as Record<string, unknown>);
      if (body === null) request.socket.destroy();
      else reply(200, body);
    } catch (error) {
      const { status, type, message } = error instanceof ApiError ? error : serverError(error);
      reply(status, { __type: type, message });
    }
  }

  /** @returns null when the connection has to break. */
  #call(operation: string, input: Record<string, unknown>): unknown {
    if (operation === "RunTask") return this.#runTask(input as unknown as RunTaskRequest);
    if (operation === "StopTask") {
      const task = this.#taskOf(String(input["task"]));
      const { reason = "Task stopped by user" } = input as { reason?: string };
      this.#end(task, "UserInitiated", reason);
      return { task: shown(task) };
    }
    if (operation === "ListTasks") {
      const { desiredStatus = "RUNNING" } = input;
      const tasks = [...this.#tasks.values()].filter((task) => task.desiredStatus === desiredStatus);
      return { taskArns: tasks.map(({ arn }) => arn) };
    }
    if (operation === "DescribeTasks") {
      const tasks = (input["tasks"] as readonly string[]).flatMap((each) => this.#tasks.get(idOf(each)) ?? []);
      return { tasks: tasks.map(shown), failures: [] };
    }
    throw new ApiError("UnknownOperationException", `${operation} is not part of the local ECS API`);
  }

  #taskOf(reference: string): Task {
    const task = this.#tasks.get(idOf(reference));
    if (task === undefined) throw new ApiError("InvalidParameterException", "The referenced task was not found.");
    return task;
  }

  #runTask(request: RunTaskRequest): unknown {
    const { clientToken = randomUUID() } = request;
    const before = this.#byToken.get(clientToken);
    if (before !== undefined) return { tasks: [shown(before)], failures: [] };
    const fate = this.#options.fate?.(request) ?? { is: "runs" };
    if (fate.is === "error") throw new ApiError(fate.type, fate.message, fate.status);
    if (fate.is === "refused") return { tasks: [], failures: [{ reason: fate.reason }] };
    const task = newTask(request);
    this.#tasks.set(task.id, task);
    this.#byToken.set(clientToken, task);
    if (fate.is === "never-starts") queueMicrotask(() => this.#change(task, stopped("TaskFailedToStart", fate.reason)));
    else this.#start(task);
    return fate.is === "reply-lost" ? null : { tasks: [shown(task)], failures: [] };
  }

  #start(task: Task): void {
    const command = task.request.overrides?.containerOverrides?.[0]?.command ?? [];
    const child = this.#options.start(command, { ECS_CONTAINER_METADATA_URI_V4: `${this.url}/v4/${task.id}` });
    this.#change(task, { child });
    child.once("spawn", () => this.#change(task, { lastStatus: "RUNNING" }));
    child.once("error", ({ message }) =>
      this.#change(task, stopped("TaskFailedToStart", `CannotStartContainerError: ${message}`)),
    );
    child.once("exit", () => {
      const { stopCode = "EssentialContainerExited", stoppedReason = "Essential container in task exited" } = task;
      this.#change(task, stopped(stopCode, stoppedReason));
    });
  }

  #end(task: Task, stopCode: string, stoppedReason: string): void {
    if (task.child === null || task.desiredStatus === "STOPPED") return;
    this.#change(task, { desiredStatus: "STOPPED", stopCode, stoppedReason });
    void this.#options.stop(task.child);
  }

  #change(task: Task, to: Partial<Task>): void {
    if (task.lastStatus === "STOPPED") return;
    Object.assign(task, to, { version: task.version + 1 });
    // When the whole system stops, the event has no receiver.
    if (!this.#isOver) this.#options.onEvent(eventOf(task));
  }
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

const serverError = (error: unknown) => new ApiError("ServerException", String(error), 500);

const idOf = (reference: string): string => reference.slice(reference.lastIndexOf("/") + 1);

function newTask(request: RunTaskRequest): Task {
  const id = randomUUID().replaceAll("-", "");
  const arn = `arn:aws:ecs:${region}:${account}:task/${request.cluster}/${id}`;
  const begin = { version: 1, lastStatus: "PENDING", desiredStatus: "RUNNING" } as const;
  return { id, arn, request, createdAt: new Date(), child: null, ...begin };
}

const stopped = (stopCode: string, stoppedReason: string) =>
  ({ lastStatus: "STOPPED", desiredStatus: "STOPPED", stopCode, stoppedReason }) as const;

/** As answers of the API show it, which give times in seconds since 1970. A task that never started lists no container. */
const shown = ({ child, request: { startedBy, overrides = {} }, ...task }: Task) => ({
  taskArn: task.arn,
  lastStatus: task.lastStatus,
  startedBy,
  cpu: overrides.cpu ?? "256",
  memory: overrides.memory ?? "512",
  overrides,
  containers: child?.pid === undefined ? [] : [{ lastStatus: task.lastStatus, exitCode: exitCodeOf(child) }],
  createdAt: task.createdAt.getTime() / 1_000,
  stopCode: task.stopCode,
  stoppedReason: task.stoppedReason,
  version: task.version,
});

export type TaskEvent = ReturnType<typeof eventOf>;

/** As EventBridge delivers it, which gives times as ISO text. */
const eventOf = (task: Task) => ({
  id: randomUUID(),
  "detail-type": "ECS Task State Change",
  source: "aws.ecs",
  account,
  time: new Date().toISOString(),
  region,
  resources: [task.arn],
  detail: { ...shown(task), createdAt: task.createdAt.toISOString() },
});

/** Of a process that has ended; one that a signal killed has 128 and the signal's number, as Docker counts. */
const exitCodeOf = ({ exitCode, signalCode }: ChildProcess): number | undefined =>
  exitCode ?? (signalCode === null ? undefined : 128 + constants.signals[signalCode]);
