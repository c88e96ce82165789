import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SendMessageCommandInput,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { messageTreatment, numberOf } from "../input.ts";
import { openLedger } from "../../fake/ledger.ts";
import { home, serve } from "../../fake/serve.ts";

const name = "batch-scheduler-publisher";
const lookMs = 200;
const contentType = { "content-type": "application/x-amz-json-1.0" };
const ledger = openLedger(home(), name);
const endpoint = process.env["AWS_ENDPOINT_URL_SQS"] || undefined;
// A local queue's URL names a host that not every machine can look up.
const sqs = new SQSClient({ useQueueUrlAsEndpoint: endpoint === undefined });
/** A deployment has made the queue; else this process does. */
const given = process.env["ORDERS_QUEUE_URL"] || null;
const queueUrl = given ?? (await createQueue());

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
  const message = JSON.parse(await text(request)) as SendMessageCommandInput;
  const key = message.MessageAttributes?.["key"]?.StringValue ?? "";
  const treatment = messageTreatment(numberOf(key));
  if (treatment === "refused always" || (treatment === "refused once" && ledger.count(key, "refused") === 0)) {
    ledger.append({ key, outcome: "refused" });
    const refusal = { __type: "com.amazonaws.sqs#InvalidMessageContents", message: "refused by the fake" };
    response.writeHead(400, contentType).end(JSON.stringify(refusal));
    return;
  }
  // Signed again: the sender's signature is for the address of this process.
  const { $metadata: _, ...answer } = await sqs.send(new SendMessageCommand(message));
  ledger.append({ key, outcome: "accepted" });
  response.writeHead(200, contentType).end(JSON.stringify(answer));
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
      await (given === null ? createQueue() : wait(lookMs));
    }
  }
}

/** Asks until the queue service answers. */
async function createQueue(): Promise<string> {
  for (;;) {
    const made = await sqs.send(new CreateQueueCommand({ QueueName: name })).catch(() => null);
    if (made?.QueueUrl) return made.QueueUrl;
    await wait(lookMs);
  }
}
