/** A client of the local DynamoDB API that is killed, and a stop beside it. Vitest counts an exception that nothing catches as a failure. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { startDynamodb } from "../../src/local/services/dynamodb.ts";
import { freshFolder } from "./folder.ts";

const table = JSON.stringify({
  TableName: "table",
  AttributeDefinitions: [{ AttributeName: "k", AttributeType: "S" }],
  KeySchema: [{ AttributeName: "k", KeyType: "HASH" }],
  BillingMode: "PAY_PER_REQUEST",
});
const named = JSON.stringify({ TableName: "table" });
const item = JSON.stringify({
  TableName: "table",
  Item: { k: { S: "one" } },
  ConditionExpression: "attribute_not_exists(z)",
});

const callOf = (action: string, body: string): string =>
  [
    "POST / HTTP/1.1",
    "host: 127.0.0.1",
    "content-type: application/x-amz-json-1.0",
    `x-amz-target: DynamoDB_20120810.${action}`,
    "x-amz-date: 20260101T000000Z",
    "authorization: AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/x/aws4_request, SignedHeaders=host, Signature=0",
    `content-length: ${body.length}`,
    "",
    body,
  ].join("\r\n");

async function client(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  await once(socket, "connect");
  return socket;
}

async function started() {
  const server = await startDynamodb({ folder: freshFolder() });
  const first = await client(server.port);
  first.write(callOf("CreateTable", table));
  await once(first, "data");
  // A table takes no rows before it is ACTIVE.
  for (let answer = "", looks = 0; !answer.includes('"ACTIVE"'); looks += 1) {
    expect(looks).toBeLessThan(1_000);
    first.write(callOf("DescribeTable", named));
    answer = String(await once(first, "data"));
  }
  first.destroy();
  return server;
}

/** Clients of whom one has its answer. */
async function writing(port: number): Promise<readonly Socket[]> {
  const clients = await Promise.all(Array.from({ length: 30 }, () => client(port)));
  for (const one of clients) one.write(callOf("PutItem", item));
  const [first] = clients;
  if (first !== undefined) await once(first, "data");
  return clients;
}

test("a stop waits for the requests of clients that were killed", async () => {
  const server = await started();
  const clients = await writing(server.port);
  for (const one of clients) one.destroy();
  await server.stop();
  for (let turns = 0; turns < 100; turns += 1) await turn();
  await expect(fetch(server.url)).rejects.toThrow("fetch failed");
});

test("on a busy machine it waits for them also after it has closed their connections", async () => {
  const server = await started();
  await writing(server.port);
  // The time for answers is over at once.
  const timer = vi.spyOn(globalThis, "setTimeout").mockImplementationOnce((late) => setImmediate(late) as never);
  const stopped = server.stop();
  timer.mockRestore();
  await stopped;
  for (let turns = 0; turns < 100; turns += 1) await turn();
  await expect(fetch(server.url)).rejects.toThrow("fetch failed");
});

test("a client that is killed within its body harms no other", async () => {
  const server = await started();
  const killed = await client(server.port);
  killed.write(callOf("PutItem", item).slice(0, -20));
  const other = await client(server.port);
  other.write(callOf("PutItem", item));
  await once(other, "data");
  killed.resetAndDestroy();
  other.write(callOf("PutItem", item));
  const [answer] = (await once(other, "data")) as [Buffer];
  expect(answer.toString()).toContain("200 OK");
  other.destroy();
  await server.stop();
});
