import { Duration } from "aws-cdk-lib";
import { Architecture, type Code, Function, Runtime, Tracing } from "aws-cdk-lib/aws-lambda";
import { LogGroup, type RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { Database } from "./database.ts";

export interface QueueFunctionProps {
  readonly queue: Queue;
  readonly code: Code;
  readonly database: Database;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  readonly batchSize: number;
  readonly batchingWindowSeconds: number;
  readonly concurrency: number;
  readonly logRetentionDays: RetentionDays;
}

/** A function that reads one queue and says message by message what to give back. */
export class QueueFunction extends Construct {
  readonly function: Function;

  constructor(scope: Construct, id: string, props: QueueFunctionProps) {
    super(scope, id);
    const { database } = props;
    this.function = new Function(this, "Function", {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: "index.handler",
      code: props.code,
      timeout: Duration.seconds(props.timeoutSeconds),
      memorySize: props.memoryMb,
      vpc: database.vpc,
      vpcSubnets: database.subnets,
      securityGroups: [database.clients],
      environment: { NODE_OPTIONS: "--enable-source-maps", DATABASE_URL: database.url, ...props.environment },
      logGroup: new LogGroup(this, "Log", { retention: props.logRetentionDays }),
      tracing: Tracing.DISABLED,
    });
    props.queue.grantConsumeMessages(this.function);
    this.function.addEventSourceMapping("Messages", {
      eventSourceArn: props.queue.queueArn,
      batchSize: props.batchSize,
      maxBatchingWindow: Duration.seconds(props.batchingWindowSeconds),
      // A ceiling of the mapping, not reserved concurrency: a new account has too little of that to reserve any.
      maxConcurrency: props.concurrency,
      reportBatchItemFailures: true,
    });
  }
}
