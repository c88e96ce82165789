/** Makes in the local services what a deployment makes in AWS. Every step may be repeated. */
import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
} from "@aws-sdk/client-dynamodb";
import { setTimeout as wait } from "node:timers/promises";
import { queueAttributes } from "../../aws/queue.ts";
import type { SqsClient } from "../../aws/sqs-client.ts";
import type { LaneTopology, Topology } from "../../stage/topology.ts";

export interface LaneQueues {
  readonly lane: LaneTopology;
  readonly url: string;
  readonly deadLetterUrl: string;
}

export interface Clients {
  readonly sqs: SqsClient;
  readonly dynamodb: DynamoDBClient;
}

const tableMsMax = 30_000;

/** @returns the URLs of each lane's queue and dead-letter queue. */
export async function createResources(
  clients: Clients,
  topology: Topology,
  options: { timeScale: number },
): Promise<readonly LaneQueues[]> {
  await createLockTable(clients.dynamodb, topology.lock.tableName);
  return Promise.all(topology.lanes.map((lane) => createLane(clients.sqs, lane, topology, options.timeScale)));
}

async function createLane(sqs: SqsClient, lane: LaneTopology, topology: Topology, scale: number): Promise<LaneQueues> {
  const deadLetter = await createQueue(sqs, lane.deadLetterQueueName, {
    VisibilityTimeout: seconds(topology.deadLetters.visibilityTimeoutSeconds, scale),
    MessageRetentionPeriod: String(lane.deadLetterRetentionSeconds),
  });
  const { url } = await createQueue(sqs, lane.queueName, {
    VisibilityTimeout: seconds(lane.visibilityTimeoutSeconds, scale),
    MessageRetentionPeriod: String(lane.retentionSeconds),
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: deadLetter.arn, maxReceiveCount: lane.maxReceiveCount }),
  });
  return { lane, url, deadLetterUrl: deadLetter.url };
}

/** Attributes are set in a second step: creating a queue that exists with other attributes is refused. */
export async function createQueue(
  sqs: SqsClient,
  name: string,
  attributes: Record<string, string>,
): Promise<{ url: string; arn: string }> {
  const { QueueUrl: url } = await sqs.call<{ QueueUrl: string }>("CreateQueue", { QueueName: name });
  await sqs.call("SetQueueAttributes", { QueueUrl: url, Attributes: attributes });
  const { QueueArn: arn } = await queueAttributes(sqs, url, ["QueueArn"]);
  return { url, arn: arn ?? "" };
}

export async function createLockTable(dynamodb: DynamoDBClient, tableName: string): Promise<void> {
  try {
    await dynamodb.send(
      new CreateTableCommand({
        TableName: tableName,
        BillingMode: "PAY_PER_REQUEST",
        AttributeDefinitions: [{ AttributeName: "name", AttributeType: "S" }],
        KeySchema: [{ AttributeName: "name", KeyType: "HASH" }],
      }),
    );
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
  for (let waited = 0; waited < tableMsMax; waited += 20) {
    const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName: tableName }));
    if (Table?.TableStatus === "ACTIVE") return;
    await wait(20);
  }
  throw new Error(`the lock table "${tableName}" was not ready after ${tableMsMax / 1_000} s`);
}

/** Whole seconds and at least one: what is compressed must not become none. */
const seconds = (value: number, scale: number): string => String(Math.max(1, Math.ceil(value / scale)));
