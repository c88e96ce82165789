import { Duration } from "aws-cdk-lib";
import {
  Cluster,
  type ContainerImage,
  CpuArchitecture,
  FargateTaskDefinition,
  type ICluster,
  type ITaskDefinition,
  LogDriver,
  OperatingSystemFamily,
  Secret,
} from "aws-cdk-lib/aws-ecs";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { EcsTask } from "aws-cdk-lib/aws-events-targets";
import type { IRole } from "aws-cdk-lib/aws-iam";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { Topology, WakeTopology } from "../../src/topology.ts";
import type { Database } from "./database.ts";

export interface SchedulerTaskProps {
  readonly topology: Topology;
  readonly database: Database;
  readonly image: ContainerImage;
  readonly environment: Readonly<Record<string, string>>;
}

/** The Fargate task that makes passes, and the rules that wake it. A wake that could not start one is kept in a queue. */
export class SchedulerTask extends Construct {
  readonly role: IRole;

  constructor(scope: Construct, id: string, props: SchedulerTaskProps) {
    super(scope, id);
    const cluster = new Cluster(this, "Cluster", { vpc: props.database.vpc, enableFargateCapacityProviders: true });
    const task = taskDefinition(this, props);
    const lostWakes = new Queue(this, "LostWakes", {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    const parts = { cluster, task, lostWakes, database: props.database };
    for (const wake of props.topology.wakes) {
      addWake(this, `Wake-${wake.id}`, Schedule.rate(Duration.minutes(wake.rateMinutes)), wake, parts);
    }
    for (const wake of props.topology.scheduleWakes) {
      const command = ["run-schedule", wake.schedule];
      addWake(this, `Schedule-${wake.schedule}`, Schedule.expression(wake.expression), { ...wake, command }, parts);
    }
    this.role = task.taskRole;
  }
}

const containerName = "Pass";

function taskDefinition(scope: Construct, props: SchedulerTaskProps): FargateTaskDefinition {
  const { cpu, memoryMb, stopTimeoutSeconds } = props.topology.schedulerTask;
  const task = new FargateTaskDefinition(scope, "Task", {
    cpu,
    memoryLimitMiB: memoryMb,
    // The architecture of the functions and of the image too: another one fails only when it starts.
    runtimePlatform: { cpuArchitecture: CpuArchitecture.ARM64, operatingSystemFamily: OperatingSystemFamily.LINUX },
  });
  task.addContainer(containerName, {
    image: props.image,
    command: ["pass"],
    environment: props.environment,
    secrets: { DATABASE_URL: Secret.fromSecretsManager(props.database.secret, "url") },
    stopTimeout: Duration.seconds(stopTimeoutSeconds),
    readonlyRootFilesystem: true,
    logging: LogDriver.awsLogs({
      streamPrefix: "pass",
      logGroup: new LogGroup(scope, "Log", { retention: props.topology.logRetentionDays }),
    }),
  });
  return task;
}

interface WakeParts {
  readonly cluster: Cluster;
  readonly task: FargateTaskDefinition;
  readonly lostWakes: Queue;
  readonly database: Database;
}

type Wake = Pick<WakeTopology, "maximumEventAgeSeconds" | "retryAttempts"> & { readonly command?: string[] };

/** A stale wake is worth nothing, because the next one does its work: EventBridge's default would replay it for a day. */
function addWake(
  scope: Construct,
  id: string,
  schedule: Schedule,
  wake: Wake,
  { cluster, task, lostWakes, database }: WakeParts,
): void {
  const { command } = wake;
  new Rule(scope, id, { schedule }).addTarget(
    new EcsTask({
      // The library's classes spell their optional fields more loosely than its interfaces.
      cluster: cluster as ICluster,
      taskDefinition: task as ITaskDefinition,
      taskCount: 1,
      subnetSelection: database.subnets,
      securityGroups: [database.clients],
      deadLetterQueue: lostWakes,
      maxEventAge: Duration.seconds(wake.maximumEventAgeSeconds),
      retryAttempts: wake.retryAttempts,
      ...(command === undefined ? {} : { containerOverrides: [{ containerName, command }] }),
    }),
  );
}
