import { ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll } from "vitest";
import { localCredentials } from "../../src/aws/address.ts";
import { createDynamoLockStore, dynamodbClient } from "../../src/aws/lock-store.ts";
import { createSqsQueue } from "../../src/aws/queue.ts";
import { sqsClient } from "../../src/aws/sqs-client.ts";
import { startDynamodb } from "../../src/local/services/dynamodb.ts";
import { createQueue, createLockTable } from "../../src/local/setup/resources.ts";
import type { LocalServer } from "../../src/local/services/server.ts";
import { startSqs } from "../../src/local/services/sqs.ts";
import { lockStoreContract } from "../contract/lock-store.ts";
import { queueContract } from "../contract/queue.ts";
import { createMemoryLockStore } from "../../src/testing/memory-lock-store.ts";
import { createMemoryQueue } from "../../src/testing/memory-queue.ts";

const servers: LocalServer[] = [];
let tables = 0;
let queues = 0;

beforeAll(async () => {
  servers.push(await startDynamodb({ folder: null }), await startSqs());
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
});

const endpoint = (index: number): string => servers[index]?.url ?? "";

lockStoreContract("in memory", async () => createMemoryLockStore());
lockStoreContract("on DynamoDB", async () => {
  const client = dynamodbClient({ region: "us-east-1", sqsEndpoint: null, dynamodbEndpoint: endpoint(0) });
  const tableName = `lock-${++tables}`;
  await createLockTable(client, tableName);
  return createDynamoLockStore({ client, tableName });
});

queueContract("in memory", async () => {
  const queue = createMemoryQueue({ elapsedMs: () => 0 });
  return { queue, receive: async () => queue.receive("mail", 10).map(({ body }) => body) };
});
queueContract("on SQS", async () => {
  const client = sqsClient({ region: "us-east-1", sqsEndpoint: endpoint(1), dynamodbEndpoint: null });
  // What arrived is read by another client than the one that sent it.
  const reader = new SQSClient({ region: "us-east-1", endpoint: endpoint(1), credentials: localCredentials });
  const names = { mail: `mail-${++queues}`, push: `push-${queues}` };
  const { url } = await createQueue(client, names.mail, { VisibilityTimeout: "30" });
  await createQueue(client, names.push, {});
  return {
    queue: createSqsQueue({ client, names }),
    async receive() {
      const { Messages } = await reader.send(new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 10 }));
      return (Messages ?? []).map(({ Body }) => Body ?? "");
    },
  };
});
