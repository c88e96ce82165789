import { request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { startDynamodb } from "../../src/local/services/dynamodb.ts";
import { startMailSink } from "../../src/local/services/mail.ts";
import { startSqs } from "../../src/local/services/sqs.ts";
import { freshFolder } from "./folder.ts";

const pages = [
  { host: "rebound.example" },
  { origin: "https://evil.example" },
  { origin: "null" },
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
];

const services = {
  dynamodb: { start: () => startDynamodb({ folder: null }), target: "DynamoDB_20120810.ListTables" },
  sqs: { start: () => startSqs(), target: "AmazonSQS.ListQueues" },
} as const;

async function asked(port: number, target: string, headers: object): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  const signed = "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/x/aws4_request, SignedHeaders=host, Signature=0";
  const sent = request({
    port,
    host: "127.0.0.1",
    method: "POST",
    headers: {
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": target,
      "x-amz-date": "20260101T000000Z",
      authorization: signed,
      ...headers,
    },
  });
  sent.on("response", (answer) => void text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body })));
  sent.on("error", reject);
  sent.end("{}");
  return await promise;
}

test.each(["dynamodb", "sqs"] as const)(
  "the %s of this machine answers a program and no page of a browser",
  async (name) => {
    const { start, target } = services[name];
    const server = await start();
    onTestFinished(() => server.stop());
    expect(await asked(server.port, target, {})).toMatchObject({ status: 200 });
    for (const headers of pages) {
      const answer = await asked(server.port, target, headers);
      expect({ headers, answer }).toMatchObject({ headers, answer: { status: 403 } });
      expect(answer.body).not.toContain("Table");
    }
  },
);

test("the mail sink takes no mail out of a request of HTTP", async () => {
  const sink = await startMailSink({ folder: freshFolder() });
  onTestFinished(() => sink.stop());
  const socket = connect(sink.port, "127.0.0.1");
  socket.write(
    "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nEHLO page\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\nx\r\n.\r\n",
  );
  const answer = await text(socket);
  expect(answer).toContain("421");
  expect(answer).not.toContain("354");
});
