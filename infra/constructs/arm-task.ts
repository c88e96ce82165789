import { Stack, Validations } from "aws-cdk-lib";
import {
  type ContainerDefinitionOptions,
  CpuArchitecture,
  FargateTaskDefinition,
  type FargateTaskDefinitionProps,
  LogDriver,
  OperatingSystemFamily,
} from "aws-cdk-lib/aws-ecs";
import { Role } from "aws-cdk-lib/aws-iam";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import type { Database } from "./database.ts";
import { forOurOwn } from "./service-principal.ts";

type TaskProps = Pick<FargateTaskDefinitionProps, "volumes"> &
  Required<Pick<FargateTaskDefinitionProps, "cpu" | "memoryLimitMiB">> &
  Pick<ContainerDefinitionOptions, "image" | "command" | "environment" | "stopTimeout" | "healthCheck"> & {
    readonly container: string;
    readonly streamPrefix: string;
    readonly logRetentionDays: number;
  };

/** A task of one container, with a role and a log of its own. */
export function armTask(scope: Construct, props: TaskProps): FargateTaskDefinition {
  const { cpu, memoryLimitMiB, volumes, container, streamPrefix, logRetentionDays, environment, ...others } = props;
  const task = new FargateTaskDefinition(scope, "Task", {
    cpu,
    memoryLimitMiB,
    taskRole: new Role(scope, "TaskRole", { assumedBy: forOurOwn("tasks") }),
    // The architecture of the functions and of the image too: another one fails only when it starts.
    runtimePlatform: { cpuArchitecture: CpuArchitecture.ARM64, operatingSystemFamily: OperatingSystemFamily.LINUX },
    ...(volumes && { volumes }),
  });
  task.addContainer(container, {
    ...others,
    environment: { AWS_REGION: Stack.of(scope).region, ...environment },
    readonlyRootFilesystem: true,
    logging: LogDriver.awsLogs({ streamPrefix, logGroup: new LogGroup(scope, "Log", { retention: logRetentionDays }) }),
  });
  Validations.of(task).acknowledge(
    {
      id: "AwsSolutions-ECS2",
      reason: "None of these variables is a secret: passwords are fetched or signed at run time.",
    },
    { id: "AwsSolutions-IAM5[Resource::*]", reason: "ecr:GetAuthorizationToken takes no resource." },
  );
  return task;
}

/** Where the Dockerfile puts the authorities of RDS. */
export const imageAuthorities = "/app/rds-ca.pem";

/** How a task finds the database. */
export const databaseVariables = ({ verifyCertificate, environment }: Database) => ({
  ...(verifyCertificate ? { BELFRY_DATABASE_CA: imageAuthorities } : {}),
  ...environment,
});
