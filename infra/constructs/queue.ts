import { Duration, type RemovalPolicy, Validations } from "aws-cdk-lib";
import { EventSourceMapping, type Function } from "aws-cdk-lib/aws-lambda";
import { type DeadLetterQueue, Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";

export interface EncryptedQueueProps {
  readonly retentionSeconds: number;
  readonly visibilityTimeoutSeconds?: number;
  readonly deadLetterQueue?: DeadLetterQueue;
  readonly removalPolicy?: RemovalPolicy;
}

/** An encrypted queue that refuses plain connections, as every queue of the stack is. */
export function encryptedQueue(scope: Construct, id: string, props: EncryptedQueueProps): Queue {
  const { retentionSeconds, visibilityTimeoutSeconds: visible, ...others } = props;
  return new Queue(scope, id, {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: Duration.seconds(retentionSeconds),
    ...(visible === undefined ? {} : { visibilityTimeout: Duration.seconds(visible) }),
    ...others,
  });
}

/** A queue for what others could not deliver; it needs none of its own. */
export function deadLetterQueue(
  scope: Construct,
  id: string,
  props: Omit<EncryptedQueueProps, "deadLetterQueue">,
): Queue {
  const queue = encryptedQueue(scope, id, props);
  const reason = "This is a dead-letter queue.";
  Validations.of(queue).acknowledge({ id: "AwsSolutions-SQS3", reason }, { id: "Serverless-SQSRedrivePolicy", reason });
  return queue;
}

interface QueueSourceProps {
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
