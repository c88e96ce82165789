import { Aws, CfnElement, Stack, Validations } from "aws-cdk-lib";
import type { ICluster, TaskDefinition } from "aws-cdk-lib/aws-ecs";
import { type IRole, PolicyStatement } from "aws-cdk-lib/aws-iam";

/**
 * A task that gets the tags of its definition, so that the bill shows its stage. The caller that starts one needs this
 * right too. https://docs.aws.amazon.com/AmazonECS/latest/developerguide/supported-iam-actions-tagging.html
 */
function grantTaskTags(role: IRole, cluster: ICluster): void {
  role.addToPrincipalPolicy(
    new PolicyStatement({
      actions: ["ecs:TagResource"],
      resources: [tasksOf(cluster)],
      conditions: { StringEquals: { "ecs:CreateAction": "RunTask" } },
    }),
  );
  acknowledgeTasks(role, cluster);
}

/**
 * RunTask of one task in one cluster, with its two roles; of all its revisions, because a deployment changes this policy and
 * what names the revision one after the other, and EventBridge does not repeat a call that was not allowed.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html
 */
export function grantTaskStart(
  role: IRole,
  task: TaskDefinition,
  cluster: ICluster,
  taskRole: IRole = task.taskRole,
): void {
  const { family } = task;
  role.addToPrincipalPolicy(
    new PolicyStatement({
      actions: ["ecs:RunTask"],
      resources: [`arn:${Aws.PARTITION}:ecs:${Aws.REGION}:${Aws.ACCOUNT_ID}:task-definition/${family}:*`],
      conditions: { ArnEquals: { "ecs:cluster": cluster.clusterArn } },
    }),
  );
  role.addToPrincipalPolicy(
    new PolicyStatement({
      actions: ["iam:PassRole"],
      resources: [taskRole, task.obtainExecutionRole()].map(({ roleArn }) => roleArn),
      conditions: { StringEquals: { "iam:PassedToService": "ecs-tasks.amazonaws.com" } },
    }),
  );
  grantTaskTags(role, cluster);
  Validations.of(role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ecs:<AWS::Region>:<AWS::AccountId>:task-definition/${family}:*]`,
    reason: "Every revision of the one task: the release before may start its own until it is replaced.",
  });
}

/** Which tasks run in the cluster, and for how long. */
export function grantTaskLook(role: IRole, cluster: ICluster): void {
  const conditions = { ArnEquals: { "ecs:cluster": cluster.clusterArn } };
  const actions = ["ecs:ListTasks", "ecs:DescribeTasks"];
  role.addToPrincipalPolicy(new PolicyStatement({ actions, resources: ["*"], conditions }));
  Validations.of(role).acknowledge({
    id: "AwsSolutions-IAM5[Resource::*]",
    reason: "Listing tasks takes no resource; the cluster is named by a condition.",
  });
}

/** Of any task in the cluster. */
export function grantTaskStop(role: IRole, cluster: ICluster): void {
  const conditions = { ArnEquals: { "ecs:cluster": cluster.clusterArn } };
  role.addToPrincipalPolicy(
    new PolicyStatement({ actions: ["ecs:StopTask"], resources: [tasksOf(cluster)], conditions }),
  );
  acknowledgeTasks(role, cluster);
}

const tasksOf = ({ clusterName }: ICluster): string =>
  `arn:${Aws.PARTITION}:ecs:${Aws.REGION}:${Aws.ACCOUNT_ID}:task/${clusterName}/*`;

function acknowledgeTasks(role: IRole, cluster: ICluster): void {
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
