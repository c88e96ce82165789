import { Duration, Validations } from "aws-cdk-lib";
import { EventSourceMapping, type Function } from "aws-cdk-lib/aws-lambda";
import type { Queue } from "aws-cdk-lib/aws-sqs";

export interface QueueSourceProps {
  readonly queue: Queue;
  readonly batchSize: number;
  readonly windowSeconds: number;
  readonly concurrency: number;
}

/** A function reads a queue, and says message by message what to give back. */
export function addQueueSource(fn: Function, id: string, props: QueueSourceProps): void {
  props.queue.grantConsumeMessages(fn);
  const mapping = new EventSourceMapping(fn, id, {
    target: fn,
    eventSourceArn: props.queue.queueArn,
    batchSize: props.batchSize,
    maxBatchingWindow: Duration.seconds(props.windowSeconds),
    // A ceiling of the mapping, not reserved concurrency: a new account has too little of that to reserve any.
    maxConcurrency: props.concurrency,
    reportBatchItemFailures: true,
  });
  Validations.of(mapping).acknowledge({
    id: "Serverless-LambdaEventSourceMappingDestination",
    reason: "For streams. A queue's messages that fail go to the queue's own dead-letter queue.",
  });
}
