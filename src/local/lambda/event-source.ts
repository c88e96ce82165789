import { setTimeout as wait } from "node:timers/promises";
import type { SandboxPool } from "./sandbox-pool.ts";
import type { Sandbox } from "./sandbox.ts";
import type { SqsClient } from "../../aws/sqs-client.ts";
import { chunksOf } from "../../machine/chunks.ts";

export interface EventSourceMappingOptions {
  readonly queue: SourceQueue;
  readonly pool: SandboxPool;
  /** Starts its first sandbox when a message came: for queues that are normally empty. */
  readonly isLazy?: boolean;
  readonly batchSize: number;
  /** How long a batch above ten messages is gathered. */
  readonly windowMs: number;
  readonly onProblem: (what: string, error: unknown) => void;
}

export interface EventSource {
  /** Receives no more; resolves when the batches under way were answered. */
  stop(): Promise<void>;
}

const longPollSeconds = 20;
const afterErrorMs = 1_000;

/**
 * Plays the event source mapping between a queue and a function. A message that succeeded is
 * deleted; one that failed stays hidden until its visibility timeout passes, and is then delivered again.
 */
export function startEventSource(options: EventSourceMappingOptions): EventSource {
  const stopping = new AbortController();
  const batches = new Set<Promise<void>>();
  const loop = receiveUntil(options, stopping.signal, batches);
  return {
    async stop() {
      stopping.abort();
      await loop;
      await Promise.all(batches);
    },
  };
}

async function receiveUntil(
  options: EventSourceMappingOptions,
  signal: AbortSignal,
  batches: Set<Promise<void>>,
): Promise<void> {
  const { pool } = options;
  if (options.isLazy !== true) await pool.warm(signal);
  while (!signal.aborted) {
    // Messages without a sandbox would stay hidden for their whole visibility timeout.
    await pool.room(signal);
    if (signal.aborted) break;
    const records = await receiveOrWait(options, signal);
    if (records.length === 0) continue;
    // Not before: the code may change during the long poll, and a message that arrives after a save runs the saved code.
    const sandbox = await pool.acquire(signal);
    if (sandbox === null) return;
    const batch = runBatch(options, sandbox, records).finally(() => {
      pool.release(sandbox);
      batches.delete(batch);
    });
    batches.add(batch);
  }
}

async function receiveOrWait(
  options: EventSourceMappingOptions,
  signal: AbortSignal,
): Promise<readonly SourceRecord[]> {
  try {
    return await receiveBatch(options, signal);
  } catch (error) {
    if (signal.aborted) return [];
    options.onProblem("receiving messages failed", error);
    await wait(afterErrorMs, undefined, { signal }).catch(() => {});
    return [];
  }
}

async function receiveBatch(options: EventSourceMappingOptions, signal: AbortSignal): Promise<readonly SourceRecord[]> {
  const { queue, batchSize, windowMs } = options;
  const records = [...(await queue.receive(batchSize, { waitSeconds: longPollSeconds, signal }))];
  const until = performance.now() + windowMs;
  while (records.length > 0 && records.length < batchSize && performance.now() < until) {
    const waitSeconds = Math.ceil((until - performance.now()) / 1_000);
    records.push(...(await queue.receive(batchSize - records.length, { waitSeconds, signal }).catch(() => [])));
  }
  return records;
}

async function runBatch(
  options: EventSourceMappingOptions,
  sandbox: Sandbox,
  records: readonly SourceRecord[],
): Promise<void> {
  const { queue, onProblem } = options;
  const ids = records.map(({ messageId }) => messageId);
  const failed = await sandbox.invoke({ Records: records }).then(
    (answer) => failedMessages(ids, answer),
    (error: unknown) => {
      onProblem(`an invocation with ${records.length} messages failed`, error);
      return new Set(ids);
    },
  );
  const succeeded = records.filter(({ messageId }) => !failed.has(messageId));
  try {
    if (succeeded.length > 0) await queue.delete(succeeded);
    sandbox.acknowledged();
  } catch (error) {
    // They come again, and their rows say that they are done.
    onProblem(`${succeeded.length} messages could not be deleted`, error);
  }
}

/**
 * How AWS reads a function's answer to a batch when partial answers are on. An empty answer means
 * that every message succeeded; a malformed one means that every message failed.
 * @returns the ids to leave in the queue.
 */
export function failedMessages(ids: readonly string[], answer: unknown): ReadonlySet<string> {
  const all = new Set(ids);
  if (answer === null || answer === undefined) return none;
  if (typeof answer !== "object" || Array.isArray(answer)) return all;
  const { batchItemFailures } = answer as Record<string, unknown>;
  if (batchItemFailures === null || batchItemFailures === undefined) return none;
  if (!Array.isArray(batchItemFailures)) return all;
  const failed = new Set<string>();
  for (const failure of batchItemFailures as unknown[]) {
    const id = identifierOf(failure);
    if (id === null || !all.has(id)) return all;
    failed.add(id);
  }
  return failed;
}

const none: ReadonlySet<string> = new Set();

function identifierOf(failure: unknown): string | null {
  if (typeof failure !== "object" || failure === null) return null;
  const { itemIdentifier } = failure as Record<string, unknown>;
  return typeof itemIdentifier === "string" && itemIdentifier !== "" ? itemIdentifier : null;
}

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
      for (const page of chunksOf(records, callMax)) {
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
