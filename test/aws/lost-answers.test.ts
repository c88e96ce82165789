/** Answers that no local server gives. */
import { describe, expect, it } from "vitest";
import { createDynamoLockStore, dynamodbClient } from "../../src/aws/lock-store.ts";
import { createSqsQueue, delaySeconds } from "../../src/aws/queue.ts";
import { sqsClient } from "../../src/aws/sqs-client.ts";
import { message } from "../contract/queue.ts";
import { type Answer, type Reply, serve } from "../support/replies.ts";

/** A queue whose SQS answers so, and what it was asked. */
async function queueThat(urls: Readonly<Record<string, string>>, ...answers: Answer[]) {
  const { url, calls } = await serve(...answers);
  const client = sqsClient({ region: "us-east-1", sqsEndpoint: url, dynamodbEndpoint: null });
  return { queue: createSqsQueue({ client, names: { mail: "belfry-dev-mail" }, urls }), calls };
}
const accepted = (...ids: string[]) => ({ status: 200, body: { Successful: ids.map((Id) => ({ Id })) } });

describe("a send that is answered with 200", () => {
  const urls = { mail: "https://queue/mail" };

  it("names the messages that were refused", async () => {
    const Failed = [{ Id: "1", Code: "ThrottlingException", SenderFault: false }];
    const { queue } = await queueThat(urls, { status: 200, body: { ...accepted("0").body, Failed } });
    expect(await queue.send("mail", [message(1), message(2)])).toEqual({ failed: [1] });
  });

  it("counts a message the answer does not mention as refused", async () => {
    const { queue } = await queueThat(urls, accepted("1"));
    expect(await queue.send("mail", [message(1), message(2)])).toEqual({ failed: [0] });
  });

  it("throws when nothing is known", async () => {
    const { queue } = await queueThat(urls, null);
    await expect(queue.send("mail", [message(1)])).rejects.toThrow("socket hang up");
  });

  it("asks for whole seconds between 0 and 900", async () => {
    const { queue, calls } = await queueThat(urls, accepted());
    await queue.send("mail", [message(1, -1), message(2, 1_999), message(3, 901_000)]);
    const { Entries } = JSON.parse(calls[0]?.body ?? "") as { Entries: { DelaySeconds: number }[] };
    expect(Entries.map((entry) => entry.DelaySeconds)).toEqual([0, 1, 900]);
  });

  it("keeps fractions only in compressed time", () => {
    expect(delaySeconds({ delayMs: 90_000 }, 1)).toBe(90);
    expect(delaySeconds({ delayMs: 90_000 }, 60)).toBe(1.5);
  });
});

describe("the URL of a lane's queue", () => {
  const denied = { status: 403, body: { __type: "AccessDenied", message: "no" } };
  const missing = { status: 400, body: { __type: "com.amazonaws.sqs#QueueDoesNotExist", message: "no" } };

  it("is looked up once, and again after a failure", async () => {
    const found = { status: 200, body: { QueueUrl: "https://queue/mail" } };
    const { queue, calls } = await queueThat({}, denied, found, accepted("0"));
    await expect(queue.send("mail", [message(1)])).rejects.toThrow("AccessDenied: no");
    await queue.send("mail", [message(1)]);
    await queue.send("mail", [message(1)]);
    expect(calls.map(({ headers }) => headers["x-amz-target"])).toEqual([
      "AmazonSQS.GetQueueUrl",
      "AmazonSQS.GetQueueUrl",
      "AmazonSQS.SendMessageBatch",
      "AmazonSQS.SendMessageBatch",
    ]);
  });

  it("is refused for an unknown lane with the lanes there are", async () => {
    const { queue } = await queueThat({}, missing);
    await expect(queue.send("toString", [message(1)])).rejects.toThrow(
      'lane "toString" has no queue: the lanes are mail',
    );
  });

  it("is refused for a missing queue with what to do", async () => {
    const { queue } = await queueThat({}, missing);
    await expect(queue.send("mail", [message(1)])).rejects.toThrow(
      'queue "belfry-dev-mail" of lane "mail" does not exist',
    );
  });
});

/** A lock store whose DynamoDB answers so, and what it was asked. */
async function locksThat(...answers: Answer[]) {
  const { url, calls } = await serve(...answers);
  const client = dynamodbClient({ region: "us-east-1", sqsEndpoint: null, dynamodbEndpoint: url });
  return { store: createDynamoLockStore({ client, tableName: "lock" }), calls };
}
const broken: Reply = { status: 500, body: { __type: "InternalServerError", message: "oops" } };
const refused: Reply = { status: 400, body: { __type: "ConditionalCheckFailedException", message: "no" } };
const item = (owner: string | null, rvn: string, fence: number): Reply => ({
  status: 200,
  body: {
    Item: {
      rvn: { S: rvn },
      fence: { N: String(fence) },
      leaseMs: { N: "1" },
      ...(owner === null ? {} : { owner: { S: owner } }),
    },
  },
});

describe("a conditional write whose answer was lost, so that its repeat is refused", () => {
  const own = { owner: "ada", rvn: "a1", leaseMs: 1, overRvn: null };

  it("has the lock when the item shows our own take, read back consistently", async () => {
    const { store, calls } = await locksThat(broken, refused, item("ada", "a1", 4));
    expect(await store.take("pass", own)).toBe(4);
    expect(JSON.parse(calls[2]?.body ?? "{}")).toMatchObject({ ConsistentRead: true });
  });

  it("does not have the lock when the item shows an older take of the same owner", async () => {
    const { store } = await locksThat(refused, item("ada", "a0", 3));
    expect(await store.take("pass", own)).toBeNull();
  });

  it("has released the lock when no other took it since", async () => {
    const { store } = await locksThat(refused, item(null, "a1", 4), refused, item(null, "b1", 5));
    expect(await store.release("pass", "ada", 4)).toBe(true);
    expect(await store.release("pass", "ada", 4)).toBe(false);
  });

  it("throws when the outcome is unknown, after its attempts", async () => {
    const { store, calls } = await locksThat(null);
    await expect(store.renew("pass", "ada", 4, "a2")).rejects.toThrow(/hang up|ECONNRESET/);
    expect(calls).toHaveLength(3);
  });
});
