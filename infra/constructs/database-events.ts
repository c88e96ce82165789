import { Aws } from "aws-cdk-lib";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnDBInstance, CfnEventSubscription } from "aws-cdk-lib/aws-rds";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";

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
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal("events.rds.amazonaws.com")],
      actions: ["sns:Publish"],
      resources: [topic.topicArn],
      conditions: { StringEquals: { "aws:SourceAccount": Aws.ACCOUNT_ID } },
    }),
  );
  const subscription = new CfnEventSubscription(scope, "DatabaseEvents", {
    snsTopicArn: topic.topicArn,
    sourceType: "db-instance",
    sourceIds: instances.map((instance) => instance.ref),
    eventCategories,
  });
  // RDS tries the topic when it is subscribed.
  subscription.node.addDependency(topic);
}
