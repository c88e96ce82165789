import { hash } from "node:crypto";
import { expect, it } from "vitest";
import { dynamodbClient } from "../../src/adapters/aws/endpoint.ts";
import { createDynamoLockStore } from "../../src/adapters/aws/lock-store.ts";
import { createSqsQueue } from "../../src/adapters/aws/queue.ts";
import { sqsClient } from "../../src/adapters/aws/sqs-client.ts";
import { encodeMessage } from "../../src/core/delivery/message.ts";
import { message } from "../contract/queue.ts";
import { type Reply, serve } from "../support/replies.ts";

const throttled: Reply = { status: 400, body: { __type: "ThrottlingException", message: "slow down" } };
const broken: Reply = { status: 500, body: { __type: "InternalServerError", message: "oops" } };
const refused: Reply = { status: 400, body: { __type: "ConditionalCheckFailedException", message: "no" } };
const MD5OfMessageBody = hash("md5", encodeMessage(message(1)), "hex");
const sent: Reply = { status: 200, body: { Successful: [{ Id: "0", MessageId: "m", MD5OfMessageBody }], Failed: [] } };
const held: Reply = {
  status: 200,
  body: { Item: { owner: { S: "ada" }, rvn: { S: "a1" }, fence: { N: "3" }, leaseMs: { N: "30000" } } },
};

it("sends again what the queue throttled", async () => {
  const { url, calls } = await serve(throttled, sent);
  const client = sqsClient({ region: "us-east-1", sqsEndpoint: url, dynamodbEndpoint: null });
  const queue = createSqsQueue({ client, names: {}, urls: { mail: `${url}/1/mail` } });
  expect(await queue.send("mail", [message(1)])).toEqual({ failed: [] });
  expect(calls).toHaveLength(2);
});

it("has the lock when the take succeeded, the answer said 500, and the repeat was refused", async () => {
  const { url } = await serve(broken, refused, held);
  const client = dynamodbClient({ region: "us-east-1", sqsEndpoint: null, dynamodbEndpoint: url });
  const store = createDynamoLockStore({ client, tableName: "lock" });
  expect(await store.take("pass", { owner: "ada", rvn: "a1", leaseMs: 30_000, overRvn: null })).toBe(3);
});

it("throws when the lock store hangs up again and again", async () => {
  const { url, calls } = await serve(null);
  const client = dynamodbClient({ region: "us-east-1", sqsEndpoint: null, dynamodbEndpoint: url });
  const store = createDynamoLockStore({ client, tableName: "lock" });
  await expect(store.read("pass")).rejects.toThrow(/hang up|ECONNRESET/);
  expect(calls).toHaveLength(3);
});
