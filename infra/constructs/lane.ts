import { Duration, RemovalPolicy } from "aws-cdk-lib";
import type { IGrantable } from "aws-cdk-lib/aws-iam";
import type { Code, Function } from "aws-cdk-lib/aws-lambda";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { DeadLetterTopology, LaneTopology, Topology } from "../../src/topology.ts";
import type { Database } from "./database.ts";
import { QueueFunction } from "./queue-function.ts";

export interface LaneProps {
  readonly lane: LaneTopology;
  readonly topology: Topology;
  readonly database: Database;
  readonly code: { readonly worker: Code; readonly deadLetter: Code };
}

/** One lane: its queue, its worker, and the dead-letter queue with the function that turns what lands there into rows. */
export class Lane extends Construct {
  readonly name: string;
  readonly queue: Queue;
  readonly functions: readonly Function[];

  constructor(scope: Construct, id: string, { lane, topology, database, code }: LaneProps) {
    super(scope, id);
    this.name = lane.name;
    const deadLetters = deadLetterQueue(this, lane, topology.deadLetters);
    this.queue = new Queue(this, "Queue", {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      visibilityTimeout: Duration.seconds(lane.visibilityTimeoutSeconds),
      retentionPeriod: Duration.seconds(lane.retentionSeconds),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: lane.maxReceiveCount },
      removalPolicy: RemovalPolicy.RETAIN,
    });
    const shared = { database, logRetentionDays: topology.logRetentionDays };
    const worker = new QueueFunction(this, "Worker", {
      ...shared,
      ...lane,
      queue: this.queue,
      code: code.worker,
      timeoutSeconds: lane.functionTimeoutSeconds,
      environment: laneEnvironment(topology.stage, lane.name, topology.database.poolPerWorker),
    });
    const drain = new QueueFunction(this, "DeadLetterDrain", {
      ...shared,
      ...topology.deadLetters,
      queue: deadLetters,
      code: code.deadLetter,
      timeoutSeconds: topology.deadLetters.functionTimeoutSeconds,
      memoryMb: 256,
      batchingWindowSeconds: 0,
      environment: laneEnvironment(topology.stage, lane.name, topology.database.poolPerDrain),
    });
    this.functions = [worker.function, drain.function];
  }

  grantSend(grantee: IGrantable): void {
    this.queue.grantSendMessages(grantee);
  }
}

const laneEnvironment = (stage: string, lane: string, pool: number): Readonly<Record<string, string>> => ({
  BELFRY_STAGE: stage,
  BELFRY_LANE: lane,
  BELFRY_POOL_SIZE: String(pool),
});

/** A dead letter keeps the time it was first sent, so this queue keeps messages longer than its source. */
const deadLetterQueue = (scope: Construct, lane: LaneTopology, drain: DeadLetterTopology): Queue =>
  new Queue(scope, "DeadLetters", {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    visibilityTimeout: Duration.seconds(drain.visibilityTimeoutSeconds),
    retentionPeriod: Duration.seconds(lane.deadLetterRetentionSeconds),
    removalPolicy: RemovalPolicy.RETAIN,
  });
