import { Duration, type RemovalPolicy } from "aws-cdk-lib";
import { type DeadLetterQueue, Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";

export interface PlainQueueProps {
  readonly retentionSeconds: number;
  readonly visibilityTimeoutSeconds?: number;
  readonly deadLetterQueue?: DeadLetterQueue;
  readonly removalPolicy?: RemovalPolicy;
}

/** An encrypted queue that refuses plain connections: every queue of ours is one. */
export const encryptedQueue = (scope: Construct, id: string, props: PlainQueueProps): Queue =>
  new Queue(scope, id, {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: Duration.seconds(props.retentionSeconds),
    ...(props.visibilityTimeoutSeconds === undefined
      ? {}
      : { visibilityTimeout: Duration.seconds(props.visibilityTimeoutSeconds) }),
    ...(props.deadLetterQueue === undefined ? {} : { deadLetterQueue: props.deadLetterQueue }),
    ...(props.removalPolicy === undefined ? {} : { removalPolicy: props.removalPolicy }),
  });
