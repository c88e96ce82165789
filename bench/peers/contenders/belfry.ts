import type { StandardSchemaV1 } from "@standard-schema/spec";
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { localCredentials } from "../../../src/aws/address.ts";
import { createSqsQueue } from "../../../src/aws/queue.ts";
import { sqsClient } from "../../../src/aws/sqs-client.ts";
import { createPostgresStore, openConnections } from "../../../src/postgres/index.ts";
import { definitionOf, defineJob } from "../../../src/define/define-job.ts";
import { createClient } from "../../../src/run/enqueue.ts";
import type { Message } from "../../../src/machine/outbox.ts";
import type { Queue } from "../../../src/machine/ports.ts";
import type { Store } from "../../../src/machine/store.ts";
import { lane, portsWith, recordsOf, workerOf } from "../../ports.ts";
import { type Contender, contenderApplication, type Setting } from "../contender.ts";
import { inProcessQueue, sendingTo } from "../queue.ts";

const workers = 2;
const batch = 500;
/** As `connect()` opens. */
const clientConnections = 4;
const remainingMs = (): number => 600_000;

/** As `bench throughput`: two workers of 500, and a queue in this process in the place of SQS. */
export async function belfry({ url }: Setting): Promise<Contender> {
  const waiting = inProcessQueue<Message>();
  const queue = sendingTo(waiting);
  const own = openBelfry(url, queue);
  return {
    insert: own.insert,
    async work(onStart) {
      own.tell(onStart);
      waiting.work(workers, batch, async (page, loop) => {
        const { failed } = (await own.workers[loop]?.handle(recordsOf(page), { remainingMs })) ?? { failed: [] };
        if (failed.length > 0) throw new Error(`${failed.length} messages were given back`);
      });
    },
    rest: () => waiting.close(),
    forget: () => waiting.forget(),
    close: own.close,
  };
}

/** The same with messages through the SQS API, one long poll after the other. */
export async function belfryThroughSqs({ url, sqs }: Setting): Promise<Contender> {
  if (sqs === null) throw new Error("belfry-sqs needs the SQS API");
  const client = sqsClient({ region: "us-east-1", sqsEndpoint: sqs, dynamodbEndpoint: null });
  const { QueueUrl: queueUrl } = await client.call<{ QueueUrl: string }>("CreateQueue", { QueueName: "peers" });
  const poller = new SQSClient({ region: "us-east-1", endpoint: sqs, credentials: localCredentials });
  const own = openBelfry(url, createSqsQueue({ client, names: {}, urls: { [lane]: queueUrl } }));
  let stop = new AbortController();
  let loop: Promise<unknown> = Promise.resolve();
  return {
    insert: own.insert,
    async work(onStart) {
      own.tell(onStart);
      stop = new AbortController();
      loop = receiveUntil(poller, queueUrl, stop.signal, async (records) =>
        own.workers[0]?.handle(records, { remainingMs }),
      );
    },
    async rest() {
      stop.abort();
      await loop;
    },
    forget() {},
    async close() {
      client.destroy();
      poller.destroy();
      await own.close();
    },
  };
}

type Handle = (records: readonly { messageId: string; body: string }[]) => Promise<unknown>;

/** One long poll after the other, as Lambda does; what was handled is deleted. */
async function receiveUntil(client: SQSClient, url: string, signal: AbortSignal, handle: Handle): Promise<void> {
  while (!signal.aborted) {
    const receive = new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 10, WaitTimeSeconds: 20 });
    const { Messages = [] } = await client.send(receive, { abortSignal: signal }).catch(() => ({ Messages: [] }));
    if (Messages.length === 0) continue;
    await handle(Messages.map(({ MessageId = "", Body = "" }) => ({ messageId: MessageId, body: Body })));
    for (const { ReceiptHandle } of Messages)
      await client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }));
  }
}

/** The others check no payload; this one does not either. */
const anyNumber: StandardSchemaV1<{ n: number }> = {
  "~standard": { version: 1, vendor: "bench", validate: (value) => ({ value: value as { n: number } }) },
};

function openBelfry(url: string, queue: Queue) {
  let tell = (_n: number): void => {};
  const definition = definitionOf(defineJob({ id: "noop", payload: anyNumber, run: ({ n }) => tell(n) }));
  const opened: { close(): Promise<void> }[] = [];
  const store = (count: number): Store => {
    const connections = openConnections({ url, applicationName: contenderApplication, connections: count });
    opened.push(connections);
    return createPostgresStore(connections);
  };
  const client = createClient(portsWith(store(clientConnections), queue));
  return {
    workers: Array.from({ length: workers }, (_, n) => workerOf(store(1), definition, `worker-${n + 1}`)),
    tell(onStart: (n: number) => void) {
      tell = onStart;
    },
    async insert(numbers: readonly number[]) {
      await client.enqueue(
        definition,
        numbers.map((n) => ({ payload: { n } })),
      );
    },
    async close() {
      await Promise.all(opened.map((each) => each.close()));
    },
  };
}
