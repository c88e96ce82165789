import { CustomResource, Duration, Stack, Validations } from "aws-cdk-lib";
import type { ICluster } from "aws-cdk-lib/aws-ecs";
import type { CfnFunction, Code, Function } from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Provider } from "aws-cdk-lib/custom-resources";
import { Construct, type IDependable } from "constructs";
import type { DatabaseAccess } from "./database.ts";
import { grantTaskLook, grantTaskStop } from "./task-rights.ts";
import { type FunctionShare, VpcFunction } from "./vpc-function.ts";

export interface MigrationProps {
  readonly share: FunctionShare;
  readonly code: Code;
  /** Differs whenever there may be something to migrate: the hash of the migration's bundle. */
  readonly release: string;
  readonly administration: DatabaseAccess | null;
  /** One that goes with the stack: its tasks have to end first. Null where it is the team's own. */
  readonly cluster: ICluster | null;
}

const timeoutSeconds = 600;
/** Longer than the function, so that its own error is what the deployment shows. */
const serviceTimeoutSeconds = 900;

/**
 * Brings the database to the release before anything of the release runs. Statements wait 5 s for a lock at most and each
 * file is applied whole or not at all. One that fails fails the deployment; the files before it stay, and the old release,
 * which CloudFormation brings back, accepts them while they only expand the tables. When the stack goes, it ends the tasks that
 * still run, after the rules that start them are gone: ECS deletes no cluster with tasks, https://github.com/aws/aws-cdk/issues/8654
 */
export class Migration extends Construct {
  readonly function: Function;
  readonly #resource: CustomResource;

  constructor(scope: Construct, id: string, { share, code, release, administration, cluster }: MigrationProps) {
    super(scope, id);
    this.function = new VpcFunction(this, "Migrate", {
      share,
      code,
      description: "Brings the database to this release's schema and writes its definitions",
      timeoutSeconds,
      memoryMb: 512,
      environment: {
        BELFRY_POOL_SIZE: "2",
        ...(cluster === null ? {} : { BELFRY_CLUSTER: cluster.clusterName }),
      },
      access: administration,
    }).function;
    const provider = new Provider(this, "Provider", {
      onEventHandler: this.function,
      logGroup: new LogGroup(this, "Log", { retention: share.logRetentionDays }),
    });
    acknowledge(provider, this.function);
    this.#resource = new CustomResource(this, "Release", {
      serviceToken: provider.serviceToken,
      resourceType: "Custom::BelfryMigration",
      serviceTimeout: Duration.seconds(serviceTimeoutSeconds),
      properties: { Release: release },
    });
    const { role } = this.function;
    if (cluster === null || role === undefined) return;
    grantTaskLook(role, cluster);
    grantTaskStop(role, cluster);
    this.goesAfter(cluster);
  }

  /** What runs the release's code waits for its schema. */
  goesBefore(...constructs: readonly IDependable[]): void {
    for (const each of constructs) (each as Construct).node.addDependency(this.#resource);
  }

  /** Waits for the database and what leads to it. */
  goesAfter(...constructs: readonly IDependable[]): void {
    this.#resource.node.addDependency(...constructs);
  }
}

function acknowledge(provider: Provider, fn: Function): void {
  const managed = "Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole";
  const logicalId = Stack.of(fn).getLogicalId(fn.node.defaultChild as CfnFunction);
  const library = "The library's own function, which calls ours when the stack changes.";
  Validations.of(provider).acknowledge(
    { id: `AwsSolutions-IAM4[${managed}]`, reason: "The library's own function, which only writes its log." },
    { id: `AwsSolutions-IAM5[Resource::<${logicalId}.Arn>:*]`, reason: "Any version of the one function it calls." },
    { id: "AwsSolutions-L1", reason: library },
    { id: "Serverless-LambdaTracing", reason: library },
    { id: "Serverless-LambdaDLQ", reason: library },
    { id: "Serverless-LambdaDefaultMemorySize", reason: library },
  );
}
