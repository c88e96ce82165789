import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { CreateQueueCommand, DeleteMessageBatchCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { messageTreatment, numberOf } from "../input.ts";
import { openLedger } from "../../stand-in/ledger.ts";
import { home, serve } from "../../stand-in/serve.ts";

const name = "batch-scheduler-publisher";
const ledger = openLedger(home(), name);
const endpoint = process.env["AWS_ENDPOINT_URL_SQS"] || undefined;
// A local queue's URL names a host that not every machine can look up.
const sqs = new SQSClient({ useQueueUrlAsEndpoint: endpoint === undefined });
const queueUrl = await createQueue();

/**
 * The shop's message broker: a queue of its own, the consumer behind it that writes the ledger, and in front of it
 * an SQS endpoint that refuses some messages before it lets the others through.
 */
serve(
  name,
  (request, response) => void forward(request, response).catch(() => response.destroy()),
  (url) => ({
    ORDERS_QUEUE_ENDPOINT: url,
    ORDERS_QUEUE_URL: queueUrl,
  }),
);
await consume();

async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  const { MessageAttributes } = JSON.parse(body) as { MessageAttributes: { key: { StringValue: string } } };
  const key = MessageAttributes.key.StringValue;
  const treatment = messageTreatment(numberOf(key));
  if (treatment === "refused always" || (treatment === "refused once" && ledger.count(key, "refused") === 0)) {
    ledger.append({ key, outcome: "refused" });
    const refusal = { __type: "com.amazonaws.sqs#InvalidMessageContents", message: "refused by the stand-in" };
    response.writeHead(400, { "content-type": "application/x-amz-json-1.0" }).end(JSON.stringify(refusal));
    return;
  }
  const headers = {
    "content-type": "application/x-amz-json-1.0",
    "x-amz-target": String(request.headers["x-amz-target"]),
  };
  const authorization = String(request.headers.authorization);
  const answer = await fetch(endpoint ?? new URL(queueUrl).origin, {
    method: "POST",
    headers: { ...headers, authorization },
    body,
  });
  const answered = await answer.text();
  if (answer.ok) ledger.append({ key, outcome: "accepted" });
  response.writeHead(answer.status, { "content-type": "application/x-amz-json-1.0" }).end(answered);
}

async function consume(): Promise<never> {
  for (;;) {
    try {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl: queueUrl,
          MaxNumberOfMessages: 10,
          WaitTimeSeconds: 5,
          MessageAttributeNames: ["key"],
        }),
      );
      // The ledger is written first: a kill between the two repeats a line and never loses one.
      for (const message of Messages)
        ledger.append({ key: message.MessageAttributes?.["key"]?.StringValue ?? "", outcome: "received" });
      const Entries = Messages.map((message, n) => ({ Id: String(n), ReceiptHandle: message.ReceiptHandle }));
      if (Entries.length > 0) await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    } catch {
      // The queue service was restarted and has forgotten the queue, or is not back yet.
      await createQueue();
    }
  }
}

/** Asks until the queue service answers. */
async function createQueue(): Promise<string> {
  for (;;) {
    const made = await sqs.send(new CreateQueueCommand({ QueueName: name })).catch(() => null);
    if (made?.QueueUrl) return made.QueueUrl;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
