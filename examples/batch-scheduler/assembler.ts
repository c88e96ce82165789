import { createHash } from "node:crypto";
import { SendMessageCommand, SQSClient, SQSServiceException } from "@aws-sdk/client-sqs";
import { databaseConnection } from "belfry/connect";
import { httpClient } from "belfry/http";
import { Pool } from "pg";
import type { Deliver, Download, ExternalFile, OutboxMessage } from "./ports.ts";
import { fileReader, outboxReader } from "./reader.ts";
import type { RetryParts } from "./use-case.ts";
import { fileWriter, outboxWriter } from "./writer.ts";

export interface Assembly {
  readonly outbox: RetryParts<OutboxMessage, true>;
  readonly downloads: RetryParts<ExternalFile, Download>;
}

let assembly: Assembly | null = null;

/** The use case's real parts, made once a process and not before a handler asks: definitions open nothing. */
export function assembled(): Assembly {
  assembly ??= assemble();
  return assembly;
}

function assemble(): Assembly {
  const pool = new Pool({ ...databaseConnection(), max: 2, statement_timeout: 10_000, allowExitOnIdle: true });
  // An idle connection that breaks would end the process; the next query opens another one.
  pool.on("error", () => undefined);
  return {
    outbox: { reader: outboxReader(pool), deliver: publisher(), writer: outboxWriter(pool) },
    downloads: { reader: fileReader(pool), deliver: downloader(), writer: fileWriter(pool) },
  };
}

/** `false` when the queue refuses the message; anything else that goes wrong is thrown. */
function publisher(): Deliver<OutboxMessage, true> {
  const QueueUrl = need("ORDERS_QUEUE_URL");
  const sqs = new SQSClient({
    endpoint: need("ORDERS_QUEUE_ENDPOINT"),
    useQueueUrlAsEndpoint: false,
    // The SDK refuses an endpoint together with AWS's dual-stack names, which a deployed function has switched on.
    useDualstackEndpoint: false,
    maxAttempts: 1,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  });
  return async ({ key, topic, body }, abortSignal) => {
    const attribute = (StringValue: string) => ({ DataType: "String", StringValue });
    const MessageAttributes = { key: attribute(key), topic: attribute(topic) };
    try {
      const sent = await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: body, MessageAttributes }), {
        abortSignal,
      });
      return sent.MessageId !== undefined;
    } catch (error) {
      if (error instanceof SQSServiceException && error.$fault === "client") return false;
      throw error;
    }
  };
}

function downloader(): Deliver<ExternalFile, Download> {
  const http = httpClient({
    baseUrl: need("FILES_URL"),
    headersMs: 5_000,
    totalMs: 20_000,
    answerBytesMax: 1024 * 1024,
  });
  return async ({ path }, signal) => {
    const { body, text } = await http.send({ path, signal });
    return { bytes: body.byteLength, sha256: createHash("sha256").update(body).digest("hex"), content: text() };
  };
}

function need(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: the example's fakes report it when they start (examples/fakes.ts)`);
  return value;
}
