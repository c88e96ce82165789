import { DeleteMessageCommand, ReceiveMessageCommand, SendMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { createSqsQueue } from "../../src/adapters/aws/queue.ts";
import { createClient } from "../../src/core/delivery/enqueue.ts";
import type { Database, Ground, Sqs } from "../ground.ts";
import { compared, inTurns, measured, quantile, type Figure } from "../measure.ts";
import { lane, noOp, portsWith, workerOf } from "../ports.ts";

const samples = 60;

/** An idle system: from the call of enqueue to the start of the handler, beside a loop of commit, send, receive, commit. */
export async function pickup(ground: Ground): Promise<readonly Figure[]> {
  const database = await ground.database();
  const sqs = await ground.sqs();
  const product = await openProduct(database, sqs);
  const roof = await openRoof(database, sqs);
  const all = { product: [] as number[], roof: [] as number[] };
  const p50 = async (of: Timed, into: number[]): Promise<number> => {
    const times: number[] = [];
    for (let sample = 0; sample < samples; sample += 1) times.push(await of.once());
    into.push(...times);
    return quantile(times, 0.5);
  };
  const pairs = await inTurns({ product: () => p50(product, all.product), roof: () => p50(roof, all.roof) });
  const counted = { product: all.product.slice(samples), roof: all.roof.slice(samples) };
  await Promise.all([product.close(), roof.close()]);
  const p99 = quantile(counted.product, 0.99);
  return [
    compared("pickup p50", "ms", pairs, { ratioMax: 1.5 }),
    {
      ...measured("pickup p99", "ms", counted.product, { info: true }),
      value: p99,
      roof: quantile(counted.roof, 0.99),
      ratio: p99 / quantile(counted.roof, 0.99),
    },
  ];
}

interface Timed {
  /** Milliseconds of one trip through an idle system. */
  once(): Promise<number>;
  close(): Promise<void>;
}

async function openProduct(database: Database, sqs: Sqs): Promise<Timed> {
  const url = await sqs.queue("pickup");
  const started = new Map<string, (atMs: number) => void>();
  const early = new Map<string, number>();
  const definition = noOp((jobId) => {
    const atMs = performance.now();
    const tell = started.get(jobId);
    if (tell === undefined) early.set(jobId, atMs);
    else tell(atMs);
  });
  const queue = createSqsQueue({ client: sqs.client, names: {}, urls: { [lane]: url } });
  const client = createClient(portsWith(database.store(1), queue), {
    stage: "bench",
  });
  const worker = workerOf(database.store(1), definition, "worker-1");
  const stop = new AbortController();
  const loop = receiveUntil(sqs.bare, url, stop.signal, (records) =>
    worker.handle(records, { remainingMs: () => 60_000 }),
  );
  return {
    async once() {
      const calledMs = performance.now();
      const [enqueued] = await client.enqueue(definition, [{ payload: undefined }]);
      if (enqueued === undefined) throw new Error("enqueue gave no answer");
      const startedMs =
        early.get(enqueued.id) ?? (await new Promise<number>((resolve) => started.set(enqueued.id, resolve)));
      return startedMs - calledMs;
    },
    async close() {
      stop.abort();
      await loop;
    },
  };
}

/** The loop without Belfry: insert and commit, SendMessage, a receive that waits, an update and commit. */
async function openRoof(database: Database, sqs: Sqs): Promise<Timed> {
  const url = await sqs.queue("roof");
  let tell = (_id: string): void => {};
  const stop = new AbortController();
  const loop = receiveUntil(sqs.bare, url, stop.signal, async ([record]) => {
    const id = record?.body ?? "";
    await database.pool.query(
      "update raw.job set state = 'RUNNING', attempt = 1, worker = 'w', started_at = now(), lease_until = now() where id = $1",
      [id],
    );
    tell(id);
  });
  return {
    async once() {
      const startedMs = performance.now();
      const done = new Promise<number>((resolve) => (tell = () => resolve(performance.now())));
      const { rows } = await database.pool.query<{ id: string }>(
        `insert into raw.job (kind, payload, payload_hash, lane, state, due_at, generation, lease_ms, max_attempts,
           retention_ms, trace, created_at)
         values ('noop', 'null', '', 'default', 'QUEUED', now(), 1, 20000, 4, 1, 't', now()) returning id`,
      );
      await sqs.bare.send(new SendMessageCommand({ QueueUrl: url, MessageBody: String(rows[0]?.id) }));
      return (await done) - startedMs;
    },
    async close() {
      stop.abort();
      await loop;
    },
  };
}

type Handle = (records: readonly { messageId: string; body: string }[]) => Promise<unknown>;

/** One long poll after the other, as Lambda does; what was handled is deleted. */
export async function receiveUntil(client: SQSClient, url: string, signal: AbortSignal, handle: Handle): Promise<void> {
  while (!signal.aborted) {
    const receive = new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 10, WaitTimeSeconds: 20 });
    const { Messages = [] } = await client.send(receive, { abortSignal: signal }).catch(() => ({ Messages: [] }));
    if (Messages.length === 0) continue;
    await handle(Messages.map(({ MessageId = "", Body = "" }) => ({ messageId: MessageId, body: Body })));
    for (const { ReceiptHandle } of Messages)
      await client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }));
  }
}
