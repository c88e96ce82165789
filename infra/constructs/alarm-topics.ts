import { Aws, CfnOutput } from "aws-cdk-lib";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { type ITopic, Topic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";

/** @beta */
export interface Topics {
  /** Wakes a person. */
  readonly page: ITopic;
  /** Waits until the morning. */
  readonly warn: ITopic;
}

/**
 * Two topics without a key: SNS encrypts its disks, alarms carry names and numbers only, and with the key that AWS manages
 * CloudWatch may not publish. For a key, pass your own topics.
 * https://docs.aws.amazon.com/sns/latest/dg/sns-data-encryption.html
 */
export class AlarmTopics extends Construct implements Topics {
  readonly page: ITopic;
  readonly warn: ITopic;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.page = alarmTopic(this, "Page");
    this.warn = alarmTopic(this, "Warn");
  }
}

function alarmTopic(scope: Construct, id: string): ITopic {
  const topic = new Topic(scope, id, { enforceSSL: true });
  letPublish("cloudwatch", topic);
  new CfnOutput(scope, `${id}Topic`, { value: topic.topicArn, description: "Subscribe to it" });
  return topic;
}

/** Every account uses these services: without the condition, an alarm of another account could page here. */
export const letPublish = (service: "cloudwatch" | "budgets" | "events.rds", topic: ITopic) =>
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal(`${service}.amazonaws.com`)],
      actions: ["sns:Publish"],
      resources: [topic.topicArn],
      conditions: { StringEquals: { "aws:SourceAccount": Aws.ACCOUNT_ID } },
    }),
  );
