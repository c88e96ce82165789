import { Aws } from "aws-cdk-lib";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";

/**
 * A service that may take a role only for something of this account and region: without that, a rule or task
 * of another account could act with these rights. Lambda sends no source when it takes a function's role, so those go without;
 * which rule or task it is cannot be said, because rules and tasks name their role.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/cross-service-confused-deputy-prevention.html
 * https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-iam-roles.html
 */
export const forOurOwn = (service: keyof typeof services): ServicePrincipal => {
  const { principal, sources } = services[service];
  return new ServicePrincipal(principal, {
    conditions: {
      StringEquals: { "aws:SourceAccount": Aws.ACCOUNT_ID },
      ArnLike: { "aws:SourceArn": `arn:${Aws.PARTITION}:${sources}` },
    },
  });
};

const place = `${Aws.REGION}:${Aws.ACCOUNT_ID}`;
const services = {
  rules: { principal: "events.amazonaws.com", sources: `events:${place}:rule/*` },
  tasks: { principal: "ecs-tasks.amazonaws.com", sources: `ecs:${place}:*` },
  flowLogs: { principal: "vpc-flow-logs.amazonaws.com", sources: `ec2:${place}:vpc-flow-log/*` },
} as const;
