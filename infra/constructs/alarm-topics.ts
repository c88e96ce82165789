import { Annotations, Aws, CfnOutput } from "aws-cdk-lib";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { type ITopic, SubscriptionProtocol, Topic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";
import { isStackProtected } from "./system.ts";

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

/** Subscribers of both alarm topics: mail and `https` addresses. Or the reason why the deployment has none. @beta */
export type Subscribers = readonly string[] | { readonly acknowledged: string };

/**
 * Alarms that reach no one look like a healthy system, so each synthesis without subscribers warns.
 * @throws Error where a subscriber is neither a mail address nor an `https` address.
 */
export function subscribe(scope: Construct, topics: Topics, subscribers: Subscribers = []): void {
  if ("acknowledged" in subscribers) return;
  if (subscribers.length === 0) {
    const text = `alarms reach no one: set subscribers, or subscribe to the topics of the outputs`;
    Annotations.of(scope).addWarningV2("belfry:unheard-alarms", text);
  }
  for (const endpoint of subscribers) {
    for (const topic of [topics.page, topics.warn]) {
      const suffix = endpoint.replaceAll(/\W+/g, "-");
      topic.addSubscription({ bind: () => ({ subscriberId: suffix, protocol: protocolOf(endpoint), endpoint }) });
    }
  }
}

function protocolOf(endpoint: string): SubscriptionProtocol {
  if (endpoint.startsWith("https://")) return SubscriptionProtocol.HTTPS;
  if (/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(endpoint)) return SubscriptionProtocol.EMAIL;
  throw new Error(
    `subscriber ${JSON.stringify(endpoint)} must be a mail address or an address that begins with https://`,
  );
}

/**
 * A stack with termination protection is one that people rely on, so its alarms reach someone. Topics of the team's own have
 * subscribers of their own. @throws Error naming what to set.
 */
export function requireSubscribers(
  scope: Construct,
  stage: string,
  { topics, subscribers }: { readonly topics?: Topics; readonly subscribers?: Subscribers },
): void {
  const isSettled = subscribers !== undefined && ("acknowledged" in subscribers || subscribers.length > 0);
  if (topics !== undefined || isSettled || !isStackProtected(scope)) return;
  throw new Error(
    `stage "${stage}" has termination protection and its alarms reach no one: add subscribers: ["ops@example.com"] in ` +
      `its props, pass -c subscriber=ops@example.com, or say why there are none: subscribers: { acknowledged: "..." }`,
  );
}
