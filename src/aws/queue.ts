import { deliveryLimits } from "../machine/delivery-limits.ts";
import { encodeMessage } from "../run/message.ts";
import type { OutMessage } from "../machine/outbox.ts";
import type { Queue } from "../machine/ports.ts";
import { type SqsClient, SqsError } from "./sqs-client.ts";

export interface SqsQueueOptions {
  readonly client: SqsClient;
  /** Queue names by lane, or how a lane's is built where the lanes are not known; their URLs are looked up once. */
  readonly names: Readonly<Record<string, string>> | ((lane: string) => string);
  /** Queue URLs by lane, where they are known already (deployed queues have no fixed names). */
  readonly urls?: Readonly<Record<string, string>>;
  /** Seconds of the system per second of the machine; other than 1 only in a local, compressed run. */
  readonly timeScale?: number;
}

/**
 * The queue port on SQS.
 * @throws Error naming the lanes there are when a lane is unknown, or the queue when it does not exist.
 */
export function createSqsQueue(options: SqsQueueOptions): Queue {
  const urlOf = queueUrls(options);
  const scale = options.timeScale ?? 1;
  return {
    async send(lane, messages) {
      const answer = await options.client.call<{ Successful?: { Id: string }[] }>("SendMessageBatch", {
        QueueUrl: await urlOf(lane),
        Entries: messages.map((message, index) => ({
          Id: String(index),
          MessageBody: encodeMessage(message),
          DelaySeconds: delaySeconds(message, scale),
        })),
      });
      // SQS may answer 200 and refuse some: only a message that the answer lists as accepted was accepted.
      const accepted = new Set((answer.Successful ?? []).map((entry) => Number(entry.Id)));
      return { failed: messages.flatMap((_, index) => (accepted.has(index) ? [] : [index])) };
    },
    async depth(lane) {
      const counts = await queueAttributes(options.client, await urlOf(lane), [
        "ApproximateNumberOfMessages",
        "ApproximateNumberOfMessagesNotVisible",
        "ApproximateNumberOfMessagesDelayed",
      ]);
      return {
        visible: Number(counts.ApproximateNumberOfMessages ?? 0),
        inFlight: Number(counts.ApproximateNumberOfMessagesNotVisible ?? 0),
        delayed: Number(counts.ApproximateNumberOfMessagesDelayed ?? 0),
      };
    },
  };
}

/** @returns each attribute that the queue has, as SQS writes it. */
export async function queueAttributes<Name extends string>(
  client: SqsClient,
  url: string,
  names: readonly Name[],
): Promise<Partial<Record<Name, string>>> {
  const input = { QueueUrl: url, AttributeNames: names };
  const { Attributes = {} } = await client.call<{ Attributes?: Partial<Record<Name, string>> }>(
    "GetQueueAttributes",
    input,
  );
  return Attributes;
}

/**
 * Rounded down: a worker can wait for the rest, but cannot make up for a late message.
 * In compressed time a whole second is long, and the local queue takes fractions.
 */
export function delaySeconds(message: Pick<OutMessage, "delayMs">, scale: number): number {
  const delayMs = Math.min(Math.max(message.delayMs, 0) / scale, deliveryLimits.queueDelayMsMax);
  return scale === 1 ? Math.floor(delayMs / 1_000) : Math.floor(delayMs) / 1_000;
}

/** By lane. Looks each URL up once; a failed look-up is tried again by the next call. */
function queueUrls({ client, names, urls = {} }: SqsQueueOptions): (lane: string) => Promise<string> {
  const known = new Map(Object.entries(urls).map(([lane, url]) => [lane, Promise.resolve(url)]));
  const look = async (lane: string): Promise<string> => {
    const name = typeof names === "function" ? names(lane) : nameIn(names, lane);
    try {
      return (await client.call<{ QueueUrl: string }>("GetQueueUrl", { QueueName: name })).QueueUrl;
    } catch (cause) {
      if (!(cause instanceof SqsError && cause.name === "QueueDoesNotExist")) throw cause;
      const fix = "deploy the stage, or run npx belfry dev";
      throw new Error(`queue "${name}" of lane "${lane}" does not exist: ${fix}`, { cause });
    }
  };
  const lookOnce = (lane: string): Promise<string> => {
    const url = look(lane);
    known.set(lane, url);
    url.catch(() => known.delete(lane));
    return url;
  };
  return (lane) => known.get(lane) ?? lookOnce(lane);
}

function nameIn(names: Readonly<Record<string, string>>, lane: string): string {
  const name = Object.hasOwn(names, lane) ? names[lane] : undefined;
  if (name !== undefined) return name;
  throw new Error(
    `lane "${lane}" has no queue: the lanes are ${Object.keys(names).join(", ")}; add it to the app's lanes`,
  );
}
