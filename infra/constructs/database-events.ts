import { CfnDBInstance, CfnEventSubscription } from "aws-cdk-lib/aws-rds";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import { letPublish } from "./alarm-topics.ts";

const eventCategories = [
  "availability",
  "failover",
  "failure",
  "low storage",
  "maintenance",
  "notification",
  "recovery",
];

/**
 * What RDS itself says about the servers that it made for this deployment, and no metric shows: a failover, a restart,
 * maintenance that is due. https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_Events.GrantingPermissions.html
 */
export function addDatabaseEvents(scope: Construct, database: Construct, topic: ITopic): void {
  const instances = database.node.findAll().filter((part) => part instanceof CfnDBInstance);
  if (instances.length === 0) return;
  letPublish("events.rds", topic);
  const subscription = new CfnEventSubscription(scope, "DatabaseEvents", {
    snsTopicArn: topic.topicArn,
    sourceType: "db-instance",
    sourceIds: instances.map((instance) => instance.ref),
    eventCategories,
  });
  // RDS tries the topic when it is subscribed.
  subscription.node.addDependency(topic);
}
