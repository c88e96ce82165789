import { SendMessageCommand, SQSClient, SQSServiceException } from "@aws-sdk/client-sqs";
import { httpClient } from "belfry/http";
import { databasePool } from "belfry/connect";
import { toDownload, toMessage } from "./assembler.ts";
import type { Download, ExternalFile, Outbox } from "./items.ts";
import type { PublishPort, RetryPorts } from "./ports.ts";
import { fileReader, outboxReader } from "./reader.ts";
import { fileWriter, outboxWriter } from "./writer.ts";

interface Wired {
  readonly outbox: RetryPorts<Outbox, true>;
  readonly downloads: RetryPorts<ExternalFile, Download>;
}

const connected = databasePool();
let made: Wired | null = null;

/** The use case's real parts, made once a process and not before a handler asks: definitions open nothing. */
export function wired(): Wired {
  made ??= {
    outbox: { reader: outboxReader(connected()), publish: publisher(), writer: outboxWriter(connected()) },
    downloads: { reader: fileReader(connected()), publish: downloader(), writer: fileWriter(connected()) },
  };
  return made;
}

/** `false` when the queue refuses the message; anything else that goes wrong is thrown. */
function publisher(): PublishPort<Outbox, true> {
  const QueueUrl = need("ORDERS_QUEUE_URL");
  const sqs = new SQSClient({
    endpoint: need("ORDERS_QUEUE_ENDPOINT"),
    useQueueUrlAsEndpoint: false,
    // The SDK refuses an endpoint together with AWS's dual-stack names, which a deployed function has switched on.
    useDualstackEndpoint: false,
    maxAttempts: 1,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  });
  return async (outbox, abortSignal) => {
    try {
      await sqs.send(new SendMessageCommand({ QueueUrl, ...toMessage(outbox) }), { abortSignal });
      return true;
    } catch (error) {
      if (error instanceof SQSServiceException && error.$fault === "client") return false;
      throw error;
    }
  };
}

function downloader(): PublishPort<ExternalFile, Download> {
  const limits = { headersMs: 5_000, totalMs: 20_000, answerBytesMax: 1024 * 1024 };
  const http = httpClient({ baseUrl: need("FILES_URL"), ...limits });
  return async ({ path }, signal) => toDownload((await http.send({ path, signal })).body);
}

function need(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: the example's fakes report it when they start (examples/fakes.ts)`);
  return value;
}
