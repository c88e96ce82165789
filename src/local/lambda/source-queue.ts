import type { SqsClient } from "../../aws/sqs-client.ts";

/** One message as a Lambda function gets it in `Records`. */
export interface SourceRecord {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly messageAttributes: Readonly<Record<string, unknown>>;
  readonly md5OfBody: string;
  readonly eventSource: "aws:sqs";
  readonly eventSourceARN: string;
  readonly awsRegion: string;
}

/** The queue behind an event source. */
export interface SourceQueue {
  /**
   * At most `max` messages, or none after `waitSeconds`. Abort only at the end of everything: what the queue
   * answers to an aborted call stays hidden for the whole visibility timeout.
   */
  receive(max: number, options: { waitSeconds: number; signal: AbortSignal }): Promise<readonly SourceRecord[]>;
  delete(records: readonly SourceRecord[]): Promise<void>;
}

const callMax = 10;

export function createSourceQueue(options: { client: SqsClient; url: string; region: string }): SourceQueue {
  const { client, url, region } = options;
  const arn = `arn:aws:sqs:${region}:${url.split("/").slice(-2).join(":")}`;
  return {
    async receive(max, { waitSeconds, signal }) {
      const input = {
        QueueUrl: url,
        MaxNumberOfMessages: Math.min(max, callMax),
        WaitTimeSeconds: waitSeconds,
        MessageSystemAttributeNames: ["All"],
      };
      const { Messages = [] } = await client.call<{ Messages?: Message[] }>("ReceiveMessage", input, { signal });
      return Messages.map((message) => recordOf(message, arn, region));
    },
    async delete(records) {
      for (let from = 0; from < records.length; from += callMax) {
        const page = records.slice(from, from + callMax);
        const entries = page.map(({ receiptHandle }, index) => ({ Id: String(index), ReceiptHandle: receiptHandle }));
        await client.call("DeleteMessageBatch", { QueueUrl: url, Entries: entries });
      }
    },
  };
}

interface Message {
  readonly MessageId: string;
  readonly ReceiptHandle: string;
  readonly Body: string;
  readonly MD5OfBody: string;
  readonly Attributes?: Readonly<Record<string, string>>;
  readonly MessageAttributes?: Readonly<Record<string, unknown>>;
}

const recordOf = (message: Message, eventSourceARN: string, awsRegion: string): SourceRecord => ({
  messageId: message.MessageId,
  receiptHandle: message.ReceiptHandle,
  body: message.Body,
  attributes: message.Attributes ?? {},
  messageAttributes: message.MessageAttributes ?? {},
  md5OfBody: message.MD5OfBody,
  eventSource: "aws:sqs",
  eventSourceARN,
  awsRegion,
});
