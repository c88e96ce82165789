import { Duration, type RemovalPolicy, Validations } from "aws-cdk-lib";
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
