import { Aws, CfnElement, Stack, Validations } from "aws-cdk-lib";
import type { ICluster } from "aws-cdk-lib/aws-ecs";
import { type IRole, PolicyStatement } from "aws-cdk-lib/aws-iam";

/**
 * A task that gets the tags of its definition, so that the bill shows its stage. The caller that starts one needs this
 * right too. https://docs.aws.amazon.com/AmazonECS/latest/developerguide/supported-iam-actions-tagging.html
 */
export function grantTaskTags(role: IRole, cluster: ICluster): void {
  role.addToPrincipalPolicy(
    new PolicyStatement({
      actions: ["ecs:TagResource"],
      resources: [tasksOf(cluster)],
      conditions: { StringEquals: { "ecs:CreateAction": "RunTask" } },
    }),
  );
  acknowledgeTasks(role, cluster);
}

/** Every task of a cluster, as an ARN. */
export const tasksOf = ({ clusterName }: ICluster): string =>
  `arn:${Aws.PARTITION}:ecs:${Aws.REGION}:${Aws.ACCOUNT_ID}:task/${clusterName}/*`;

export function acknowledgeTasks(role: IRole, cluster: ICluster): void {
  Validations.of(role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>:task/${shownName(cluster)}/*]`,
    reason: "Tasks get their ids when they are launched; the cluster is named.",
  });
}

/** As cdk-nag writes the name of a cluster that is made in the same template. */
function shownName(cluster: ICluster): string {
  const own = cluster.node.defaultChild;
  return own instanceof CfnElement ? `<${Stack.of(own).getLogicalId(own)}>` : cluster.clusterName;
}
