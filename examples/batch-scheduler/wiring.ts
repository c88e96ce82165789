import { SendMessageCommand, SQSClient, SQSServiceException } from "@aws-sdk/client-sqs";
import { databasePool } from "belfry/connect";
import { httpClient } from "belfry/http";
import { toMessage } from "./assembler.ts";
import { ExternalFile, Outbox } from "./items.ts";
import type { RetryPorts } from "./ports.ts";
import { reader } from "./reader.ts";
import { writer } from "./writer.ts";

const queueUrl = (): string => process.env["ORDERS_QUEUE_URL"] ?? "";
const sqs = new SQSClient({
  endpoint: async () => ({ url: new URL(queueUrl()) }),
  // The SDK refuses an endpoint together with AWS's dual-stack names, which a deployed function has switched on.
  useDualstackEndpoint: false,
  maxAttempts: 1,
  requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
});
const partners = httpClient({ baseUrl: { env: "FILES_URL" }, totalMs: 20_000, answerBytesMax: 1024 * 1024 });
const pool = databasePool();

export const outbox: RetryPorts<Outbox> = {
  reader: reader(pool, "outbox", Outbox),
  /** `false` when the queue refuses the message; anything else that goes wrong is thrown. */
  async publish(message, abortSignal) {
    const command = new SendMessageCommand({ QueueUrl: queueUrl(), ...toMessage(message) });
    try {
      return (await sqs.send(command, { abortSignal })).MessageId ?? "";
    } catch (error) {
      if (error instanceof SQSServiceException && error.$fault === "client") return false;
      throw error;
    }
  },
  writer: writer(pool, "outbox"),
};

export const downloads: RetryPorts<ExternalFile> = {
  reader: reader(pool, "external_file", ExternalFile),
  publish: async ({ row: { path } }, signal) => (await partners.send({ path, signal })).text(),
  writer: writer(pool, "external_file"),
};
