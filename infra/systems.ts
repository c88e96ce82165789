import { CfnParameter, Stack } from "aws-cdk-lib";
import { Port } from "aws-cdk-lib/aws-ec2";
import { Queue } from "aws-cdk-lib/aws-sqs";
import type { Belfry } from "./constructs/belfry.ts";

interface Address {
  readonly variable: string;
  /** Whose jobs read it. */
  readonly lanes: readonly string[];
  readonly description: string;
}

/** What the five systems call, which runs elsewhere. */
const addresses: readonly Address[] = [
  { variable: "FILES_URL", lanes: ["default"], description: "batch-scheduler: the partner that has the files" },
  { variable: "QUIZ_PUSH_URL", lanes: ["push"], description: "daily-quiz: the push service" },
  {
    variable: "DAG_SERVICES_URL",
    lanes: ["default", "cluster"],
    description: "dag-batch: the bank, the publisher and the cluster",
  },
  { variable: "TASKFLOW_PUBLISHER_URL", lanes: ["taskflow"], description: "taskflow: where reports are published" },
  { variable: "TIME_CAPSULE_BASE_URL", lanes: ["mail"], description: "time-capsule: the site that mails link to" },
];

/**
 * Makes each address a parameter: `cdk deploy belfry-systems --parameters QuizPushUrl=https://push.example.com`. That of the
 * mail relay has its password, so its parameter names the secret in Secrets Manager that keeps it.
 */
export function connectSystems(belfry: Belfry): void {
  const stack = Stack.of(belfry);
  for (const { variable, lanes, description } of addresses) {
    const { valueAsString } = new CfnParameter(stack, pascal(variable), { description, allowedPattern: "https://.+" });
    for (const lane of lanes) belfry.lane(lane).addEnvironment(variable, valueAsString);
  }
  const { valueAsString: secretArn } = new CfnParameter(stack, "TimeCapsuleSmtpSecretArn", {
    description: "time-capsule: the secret with smtps://user:password@relay.example.com",
    allowedPattern: "arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:.+",
  });
  belfry.lane("mail").addSecret("TIME_CAPSULE_SMTP_URL", { secretArn });
  belfry.connections.allowToAnyIpv4(Port.tcp(465), "The mail relay");
  const { valueAsString } = new CfnParameter(stack, "OrdersQueueArn", {
    description: "batch-scheduler: the queue that takes the shop's messages",
    allowedPattern: "arn:aws[a-z-]*:sqs:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]+",
  });
  const orders = Queue.fromQueueArn(stack, "Orders", valueAsString);
  belfry.lane("default").addEnvironment("ORDERS_QUEUE_URL", orders.queueUrl);
  orders.grantSendMessages(belfry.lane("default"));
}

const pascal = (variable: string): string =>
  variable.toLowerCase().replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
