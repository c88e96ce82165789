import { Aws, CfnOutput } from "aws-cdk-lib";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { type ITopic, Topic } from "aws-cdk-lib/aws-sns";
import { Construct } from "constructs";

export interface Topics {
  /** Wakes a person. */
  readonly page: ITopic;
  /** Waits until the morning. */
  readonly warn: ITopic;
}

/**
 * Two topics under a key of their own: with the key that AWS manages, CloudWatch may not publish, and every alarm would be
 * lost without a word.
 */
export class AlarmTopics extends Construct implements Topics {
  readonly page: ITopic;
  readonly warn: ITopic;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const key = new Key(this, "Key", { enableKeyRotation: true, description: "Topics of Belfry's alarms" });
    key.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal("cloudwatch.amazonaws.com")],
        actions: ["kms:Decrypt", "kms:GenerateDataKey*"],
        resources: ["*"],
      }),
    );
    const topic = (name: string): ITopic => {
      const made = new Topic(this, name, { masterKey: key, enforceSSL: true });
      made.addToResourcePolicy(
        new PolicyStatement({
          principals: [new ServicePrincipal("cloudwatch.amazonaws.com")],
          actions: ["sns:Publish"],
          resources: [made.topicArn],
          // Every account uses this service: without this, an alarm of another account could page here.
          conditions: { StringEquals: { "aws:SourceAccount": Aws.ACCOUNT_ID } },
        }),
      );
      new CfnOutput(this, `${name}Topic`, { value: made.topicArn, description: "Subscribe to it" });
      return made;
    };
    this.page = topic("Page");
    this.warn = topic("Warn");
  }
}
