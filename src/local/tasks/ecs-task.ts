/**
 * One task of the local ECS API: its states, and the event that the service sends for each.
 * Shapes: https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Task.html and
 * https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs_task_events.html
 */
import { randomUUID } from "node:crypto";
import { constants } from "node:os";

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

export interface TaskRecord {
  readonly id: string;
  readonly arn: string;
  readonly request: RunTaskRequest;
  readonly createdAt: Date;
  version: number;
  lastStatus: "PROVISIONING" | "PENDING" | "RUNNING" | "STOPPED";
  desiredStatus: "RUNNING" | "STOPPED";
  /** Whether a container was ever made: a task that never started lists none. */
  hasContainer: boolean;
  stopCode?: StopCode;
  stoppedReason?: string;
  exitCode?: number;
  containerReason?: string;
  stoppedAt?: Date;
}

/** https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Task.html, `stopCode`. */
export type StopCode =
  | "TaskFailedToStart"
  | "EssentialContainerExited"
  | "UserInitiated"
  | "ServiceSchedulerInitiated"
  | "SpotInterruption"
  | "TerminationNotice";

export interface TaskEvent {
  readonly version: "0";
  readonly id: string;
  readonly "detail-type": "ECS Task State Change";
  readonly source: "aws.ecs";
  readonly account: string;
  readonly time: string;
  readonly region: string;
  readonly resources: readonly string[];
  readonly detail: ReturnType<typeof describe> & { readonly version: number; readonly lastStatus: string };
}

const account = "000000000000";
const region = "us-east-1";

export function newTask(request: RunTaskRequest): TaskRecord {
  const id = randomUUID().replaceAll("-", "");
  return {
    id,
    arn: `arn:aws:ecs:${region}:${account}:task/${request.cluster}/${id}`,
    request,
    createdAt: new Date(),
    version: 1,
    lastStatus: "PROVISIONING",
    desiredStatus: "RUNNING",
    hasContainer: false,
  };
}

/** As answers of the API show it, which give times in seconds since 1970. */
export const shown = (task: TaskRecord) => describe(task, (time) => time.getTime() / 1_000);

/** As EventBridge delivers it, which gives times as ISO text. */
export const eventOf = (task: TaskRecord): TaskEvent => ({
  version: "0",
  id: randomUUID(),
  "detail-type": "ECS Task State Change",
  source: "aws.ecs",
  account,
  time: new Date().toISOString(),
  region,
  resources: [task.arn],
  detail: describe(task, (time) => time.toISOString()),
});

/** A process that was killed by a signal has 128 and the signal's number, as Docker counts. */
export const exitCodeOf = (code: number | null, signal: NodeJS.Signals | null): number =>
  code ?? 128 + (signal === null ? 0 : constants.signals[signal]);

function describe(task: TaskRecord, at: (time: Date) => string | number) {
  const { request, stopCode, stoppedReason, stoppedAt } = task;
  return {
    taskArn: task.arn,
    clusterArn: `arn:aws:ecs:${region}:${account}:cluster/${request.cluster}`,
    taskDefinitionArn: `arn:aws:ecs:${region}:${account}:task-definition/${request.taskDefinition}:1`,
    group: `family:${request.taskDefinition}`,
    ...(request.startedBy === undefined ? {} : { startedBy: request.startedBy }),
    launchType: "FARGATE",
    lastStatus: task.lastStatus,
    desiredStatus: task.desiredStatus,
    cpu: request.overrides?.cpu ?? "256",
    memory: request.overrides?.memory ?? "512",
    overrides: request.overrides ?? { containerOverrides: [] },
    containers: task.hasContainer ? [containerOf(task)] : [],
    createdAt: at(task.createdAt),
    ...(stopCode === undefined ? {} : { stopCode }),
    ...(stoppedReason === undefined ? {} : { stoppedReason }),
    ...(stoppedAt === undefined ? {} : { stoppedAt: at(stoppedAt) }),
    version: task.version,
  };
}

const containerOf = (task: TaskRecord) => ({
  containerArn: `arn:aws:ecs:${region}:${account}:container/${task.request.cluster}/${task.id}/1`,
  taskArn: task.arn,
  name: task.request.overrides?.containerOverrides?.[0]?.name ?? "main",
  lastStatus: task.lastStatus === "PROVISIONING" ? "PENDING" : task.lastStatus,
  ...(task.exitCode === undefined ? {} : { exitCode: task.exitCode }),
  ...(task.containerReason === undefined ? {} : { reason: task.containerReason }),
});
