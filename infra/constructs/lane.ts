import { RemovalPolicy } from "aws-cdk-lib";
import type { IGrantable } from "aws-cdk-lib/aws-iam";
import type { Code, Function } from "aws-cdk-lib/aws-lambda";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { LaneTopology, Topology } from "../../src/topology.ts";
import { deadLetterQueue, encryptedQueue } from "./queue.ts";
import { addQueueSource } from "./queue-source.ts";
import { type FunctionShare, VpcFunction } from "./vpc-function.ts";

export interface LaneQueuesProps {
  readonly lane: LaneTopology;
  readonly topology: Topology;
}

/** One lane: its queue, its dead-letter queue and, once `addWorker` was called, its worker. */
export class Lane extends Construct {
  readonly name: string;
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly #topology: Topology;
  readonly #lane: LaneTopology;

  constructor(scope: Construct, id: string, { lane, topology }: LaneQueuesProps) {
    super(scope, id);
    this.name = lane.name;
    this.#lane = lane;
    this.#topology = topology;
    // A dead letter keeps the time it was first sent, so this queue keeps messages longer than its source.
    this.deadLetters = deadLetterQueue(this, "DeadLetters", {
      visibilityTimeoutSeconds: topology.deadLetters.visibilityTimeoutSeconds,
      retentionSeconds: lane.deadLetterRetentionSeconds,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    this.queue = encryptedQueue(this, "Queue", {
      visibilityTimeoutSeconds: lane.visibilityTimeoutSeconds,
      retentionSeconds: lane.retentionSeconds,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: lane.maxReceiveCount },
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }

  grantSend(grantee: IGrantable): void {
    this.queue.grantSendMessages(grantee);
  }

  /** A second step, because a worker may enqueue for any lane: it needs the addresses of all queues. */
  addWorker(share: FunctionShare, code: Code): Function {
    const lane = this.#lane;
    const worker = new VpcFunction(this, "Worker", {
      share,
      code,
      description: `Runs the jobs of lane ${lane.name}`,
      timeoutSeconds: lane.functionTimeoutSeconds,
      memoryMb: lane.memoryMb,
      environment: {
        BELFRY_LANE: lane.name,
        BELFRY_POOL_SIZE: String(this.#topology.database.poolPerWorker),
      },
    }).function;
    addQueueSource(worker, "Messages", {
      queue: this.queue,
      batchSize: lane.batchSize,
      windowSeconds: lane.batchingWindowSeconds,
      concurrency: lane.concurrency,
    });
    return worker;
  }
}
