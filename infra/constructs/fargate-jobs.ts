import { Duration, Lazy, Stack } from "aws-cdk-lib";
import type { ContainerImage, FargateTaskDefinition, ICluster } from "aws-cdk-lib/aws-ecs";
import { Rule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { type IRole, Role } from "aws-cdk-lib/aws-iam";
import type { Code, Function } from "aws-cdk-lib/aws-lambda";
import { SqsDestination } from "aws-cdk-lib/aws-lambda-destinations";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { JobTaskTopology } from "../../src/stage/topology.ts";
import { armTask, databaseVariables } from "./arm-task.ts";
import type { Lane } from "./lane.ts";
import { deadLetterQueue } from "./queue.ts";
import { forOurOwn } from "./service-principal.ts";
import { grantTaskStart, grantTaskStop } from "./task-rights.ts";
import { type FunctionShare, VpcFunction } from "./vpc-function.ts";

export interface FargateJobsProps {
  readonly jobTask: JobTaskTopology;
  readonly share: FunctionShare;
  readonly cluster: ICluster;
  readonly image: ContainerImage;
  readonly poolSize: number;
  /** Of the function that takes the events of tasks. */
  readonly code: Code;
}

/** A function or the scheduler task. */
interface Canceler {
  readonly role?: IRole | undefined;
  addEnvironment(name: string, value: string): unknown;
}

const containerName = "Job";
const eventsTimeoutSeconds = 30;
/** The lease has decided by then. */
const eventAgeMinutesMax = 15;

/**
 * Where jobs on Fargate run: the task of one attempt, which the workers of some lanes launch, and the rule for its end. Events
 * that could not be delivered are kept in a queue; the lease decides about the job.
 */
export class FargateJobs extends Construct {
  readonly events: Function;
  readonly lostEvents: Queue;
  readonly #task: FargateTaskDefinition;
  readonly #props: FargateJobsProps;

  constructor(scope: Construct, id: string, props: FargateJobsProps) {
    super(scope, id);
    this.#props = props;
    this.#task = taskDefinition(this, props);
    this.lostEvents = deadLetterQueue(this, "LostEvents", { retentionSeconds: 14 * 86_400 });
    this.events = new VpcFunction(this, "Events", {
      share: props.share,
      code: props.code,
      description: "Settles the jobs of tasks that stopped",
      timeoutSeconds: eventsTimeoutSeconds,
      memoryMb: 256,
      environment: { BELFRY_POOL_SIZE: "1" },
    }).function;
    this.events.configureAsyncInvoke({
      maxEventAge: Duration.minutes(eventAgeMinutesMax),
      retryAttempts: 2,
      onFailure: new SqsDestination(this.lostEvents),
    });
    this.#watch();
  }

  /** RunTask of this task in this cluster, with two roles. @returns the lane's: what the handlers of its jobs may do. */
  grantLaunch(worker: Function, lane: Lane): IRole {
    // One task definition for all lanes: which lane a task is for, what it may do and what its handlers are given, comes with its launch.
    const role = new Role(this, `TaskRole-${lane.name}`, { assumedBy: forOurOwn("tasks") });
    this.#props.share.database.grantConnect(role);
    lane.grantPrincipal.join(role);
    worker.addEnvironment("BELFRY_TASKS", this.#place(lane, role));
    if (worker.role !== undefined) grantTaskStart(worker.role, this.#task, this.#props.cluster, role);
    return role;
  }

  /** For what cancels jobs: the API, and the scheduler task, which works off changes of many. */
  grantStop(canceler: Canceler): void {
    const { cluster } = this.#props;
    canceler.addEnvironment("BELFRY_TASKS", this.#place());
    if (canceler.role !== undefined) grantTaskStop(canceler.role, cluster);
  }

  /** Only tasks of this family: others may run tasks in the cluster too. */
  #watch(): void {
    const rule = new Rule(this, "Stopped", {
      eventPattern: {
        source: ["aws.ecs"],
        detailType: ["ECS Task State Change"],
        detail: {
          clusterArn: [this.#props.cluster.clusterArn],
          lastStatus: ["STOPPED"],
          group: [`family:${this.#task.family}`],
        },
      },
    });
    rule.addTarget(
      new LambdaFunction(this.events, {
        deadLetterQueue: this.lostEvents,
        maxEventAge: Duration.minutes(eventAgeMinutesMax),
        retryAttempts: 10,
      }),
    );
  }

  #place(lane?: Lane, role?: IRole): string {
    const { cluster, share } = this.#props;
    const { network, database } = share;
    const environment = Lazy.any({ produce: () => lane?.taskEnvironment() });
    return Stack.of(this).toJsonString({
      ...(lane === undefined ? {} : { environment }),
      ...(role === undefined ? {} : { taskRole: role.roleArn }),
      cluster: cluster.clusterName,
      taskDefinition: this.#task.taskDefinitionArn,
      container: containerName,
      subnets: network.vpc.selectSubnets(network.tasks).subnetIds,
      securityGroups: [database.clients.securityGroupId],
      assignPublicIp: network.assignPublicIp,
    });
  }
}

function taskDefinition(
  scope: Construct,
  { jobTask, share, image, poolSize }: FargateJobsProps,
): FargateTaskDefinition {
  const { database, environment, logRetentionDays } = share;
  return armTask(scope, {
    cpu: jobTask.cpu,
    memoryLimitMiB: jobTask.memoryMb,
    container: containerName,
    image,
    // Each launch names its job and attempt; without them it only prints its usage.
    command: ["run-job"],
    environment: { BELFRY_POOL_SIZE: String(poolSize), ...databaseVariables(database), ...environment },
    stopTimeout: Duration.seconds(jobTask.stopTimeoutSeconds),
    streamPrefix: "job",
    logRetentionDays,
  });
}
