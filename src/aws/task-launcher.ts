import {
  DescribeTasksCommand,
  ECSClient,
  ECSServiceException,
  type Failure,
  ListTasksCommand,
  RunTaskCommand,
  type RunTaskCommandInput,
  StopTaskCommand,
} from "@aws-sdk/client-ecs";
import type { TaskLaunch, Launched, Launcher } from "../machine/launcher.ts";
import type { Instant } from "../machine/job.ts";
import { insightLimits } from "../insight/insight-limits.ts";
import { isNoRoom, startedByOf } from "../run/task-end.ts";
import { at, type AwsSettings, timeouts } from "./address.ts";

const launchMsMax = 10_000;
/** A launch that ECS throttles is repeated after the job's own wait. */
const launchAttemptsMax = 3;

/** A repeated RunTask starts no second task: it carries a client token. */
export function ecsClient(settings: AwsSettings): ECSClient {
  return new ECSClient({
    region: settings.region,
    maxAttempts: launchAttemptsMax,
    requestHandler: timeouts(launchMsMax),
    ...at(settings.ecsEndpoint ?? null, settings.isDualStack),
  });
}

/** Where the tasks of jobs run. A deployment writes it as JSON into `BELFRY_TASKS`. */
export interface TaskPlace {
  readonly cluster: string;
  /** Family or ARN. */
  readonly taskDefinition: string;
  /** The container whose command is replaced. */
  readonly container: string;
  readonly subnets: readonly string[];
  readonly securityGroups: readonly string[];
  readonly assignPublicIp: boolean;
  /** Of the lane: what its handlers may do. Left out: the definition's. */
  readonly taskRole?: string | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

export interface EcsLauncherOptions {
  readonly client: ECSClient;
  readonly place: TaskPlace;
}

export function createEcsLauncher({ client, place }: EcsLauncherOptions): Launcher {
  return {
    async launch(launch) {
      try {
        const answer = await client.send(new RunTaskCommand(requestOf(launch, place)));
        return launchedOf(answer.tasks?.[0]?.taskArn, answer.failures?.[0]);
      } catch (error) {
        if (isBusy(error)) return { is: "no-room", reason: `${error.name}: ${error.message}` };
        throw error;
      }
    },
    async stop(task, reason) {
      try {
        await client.send(new StopTaskCommand({ cluster: place.cluster, task, reason: reason.slice(0, reasonMax) }));
      } catch (error) {
        if (!isUnknownTask(error)) throw error;
      }
    },
    runningSince(before) {
      const family = /task-definition\/([^:]+)/.exec(place.taskDefinition)?.[1] ?? place.taskDefinition;
      return runningSince(client, { cluster: place.cluster, family }, before);
    },
  };
}

/** As `runningSince`, of the family that this process is a task of; 0 outside of ECS. */
export function ownTasksSince(
  client: ECSClient,
  environment: Parameters<typeof ownTask>[0],
): (before: Instant) => Promise<number> {
  return async (before) => {
    const own = await ownTask(environment);
    return own === null ? 0 : runningSince(client, own, before);
  };
}

/** How many tasks of a family, of the first `insightLimits.tasksLookedAtMax`, run since before this instant. */
async function runningSince(
  client: ECSClient,
  { cluster, family }: Pick<OwnTask, "cluster" | "family">,
  before: Instant,
): Promise<number> {
  const list = new ListTasksCommand({ cluster, family, maxResults: insightLimits.tasksLookedAtMax });
  const { taskArns = [] } = await client.send(list);
  if (taskArns.length === 0) return 0;
  const { tasks = [] } = await client.send(new DescribeTasksCommand({ cluster, tasks: taskArns }));
  return tasks.filter(({ createdAt }) => createdAt !== undefined && createdAt.getTime() < before).length;
}

const reasonMax = 1_024;

function requestOf(launch: TaskLaunch, place: TaskPlace): RunTaskCommandInput {
  const { jobId, attempt, worker, size, clientToken } = launch;
  const command = ["run-job", jobId, String(attempt), worker];
  const taskSize = size === null ? {} : { cpu: String(size.cpu), memory: String(size.memoryMb) };
  return {
    cluster: place.cluster,
    taskDefinition: place.taskDefinition,
    count: 1,
    launchType: "FARGATE",
    propagateTags: "TASK_DEFINITION",
    clientToken,
    startedBy: startedByOf(launch),
    overrides: {
      ...taskSize,
      ...(place.taskRole === undefined ? {} : { taskRoleArn: place.taskRole }),
      containerOverrides: [{ name: place.container, command, ...environmentOf(place.environment) }],
    },
    networkConfiguration: {
      awsvpcConfiguration: {
        subnets: [...place.subnets],
        securityGroups: [...place.securityGroups],
        assignPublicIp: place.assignPublicIp ? "ENABLED" : "DISABLED",
      },
    },
  };
}

const environmentOf = (given: TaskPlace["environment"]) =>
  given === undefined
    ? {}
    : { environment: Object.entries(given).map(([variable, value]) => ({ name: variable, value })) };

/** RunTask answers 200 with a `failure` when there is no capacity: https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_RunTask.html */
function launchedOf(taskArn: string | undefined, failure: Failure | undefined): Launched {
  if (taskArn !== undefined) return { is: "accepted", task: taskArn.slice(taskArn.lastIndexOf("/") + 1) };
  const reason = [failure?.reason, failure?.detail].flatMap((text) => text ?? []).join(": ");
  if (isNoRoom(reason)) return { is: "no-room", reason };
  throw new Error(`ECS started no task: ${reason === "" ? "it gave neither a task nor a reason" : reason}`);
}

/**
 * Left after the SDK's own retries: throttling, an error of the service, or no answer. It costs the job no attempt; a
 * task that was started nevertheless finds its attempt ended, and exits.
 */
function isBusy(error: unknown): error is Error {
  if (!(error instanceof ECSServiceException))
    return error instanceof Error && (error.name === "TimeoutError" || "code" in error);
  const { $fault, $retryable, name, message } = error;
  return $fault === "server" || $retryable?.throttling === true || isNoRoom(`${name} ${message}`);
}

/** ECS forgets a stopped task after an hour. */
const isUnknownTask = (error: unknown): boolean =>
  error instanceof ECSServiceException &&
  error.name === "InvalidParameterException" &&
  /not found/i.test(error.message);

const answerMs = 2_000;

export interface OwnTask {
  /** What comes after the last `/` of its ARN. */
  readonly id: string;
  /** Name or ARN. */
  readonly cluster: string;
  readonly family: string;
}

/**
 * The task that this process is. Null outside of ECS, and when its agent does not answer:
 * https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-metadata-endpoint-v4-fargate.html
 */
export async function ownTask(environment: Readonly<Record<string, string | undefined>>): Promise<OwnTask | null> {
  const base = environment["ECS_CONTAINER_METADATA_URI_V4"];
  if (!base) return null;
  try {
    const response = await fetch(`${base}/task`, { signal: AbortSignal.timeout(answerMs) });
    const answer = (await response.json()) as { TaskARN?: string; Cluster?: string; Family?: string };
    const { TaskARN: arn, Cluster: cluster, Family: family } = answer;
    if (arn === undefined || cluster === undefined || family === undefined) return null;
    return { id: arn.slice(arn.lastIndexOf("/") + 1), cluster, family };
  } catch {
    return null;
  }
}
