import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { listenOnLoopback } from "../../src/local/services/server.ts";

/** Shares of messages, and of calls. */
export interface Chaos {
  /** Delivered twice. */
  readonly duplicate: number;
  /** Accepted, and never seen again. */
  readonly lost: number;
  /** Named in the `Failed` of an answer; not taken. */
  readonly refused: number;
  /** Made visible 1 to 60 s after it could be, which also puts it behind later ones. */
  readonly late: number;
  /** Calls that were done and are answered with an error. */
  readonly replyLost: number;
}

const lateSeconds = { min: 1, max: 60 };
const delaySecondsMax = 900;

/** A queue service that behaves as badly as SQS may, and worse: it stands in front of a real one. */
export interface ChaosQueue {
  readonly url: string;
  /** By `job/generation`: how often each message was asked to be sent, and how often it went on to the queue. */
  readonly sent: ReadonlyMap<string, Fate>;
  /** No more chaos from now on. */
  calm(): void;
  readonly counts: { duplicated: number; lost: number; refused: number; late: number; repliesLost: number };
  stop(): Promise<void>;
}

export interface Fate {
  asked: number;
  /** Copies that the queue has or had. */
  delivered: number;
  /** Accepted and thrown away. */
  lost: number;
}

interface Entry {
  readonly Id: string;
  readonly MessageBody: string;
  readonly DelaySeconds?: number;
}

interface Service {
  readonly target: string;
  readonly chaos: Chaos;
  readonly scale: number;
  readonly random: () => number;
  readonly sent: Map<string, Fate>;
  readonly counts: ChaosQueue["counts"];
  isCalm: boolean;
}

export async function startChaosQueue(
  target: string,
  options: { chaos: Chaos; scale: number; random: () => number },
): Promise<ChaosQueue> {
  const counts = { duplicated: 0, lost: 0, refused: 0, late: 0, repliesLost: 0 };
  const service: Service = { ...options, target, sent: new Map(), counts, isCalm: false };
  const server = createServer((request, response) => {
    take(service, request, response).catch(() => response.destroy());
  });
  const port = await listenOnLoopback(server, 0, "the chaos queue");
  return {
    url: `http://127.0.0.1:${port}`,
    sent: service.sent,
    counts,
    calm() {
      service.isCalm = true;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const happens = (service: Service, share: number): boolean => !service.isCalm && service.random() < share;

async function take(service: Service, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const operation = String(request.headers["x-amz-target"] ?? "").replace("AmazonSQS.", "");
  const body = await text(request);
  const answer =
    operation === "SendMessageBatch" ? await sendBatch(service, request, body) : await passOn(service, request, body);
  const isMeddled = operation === "SendMessageBatch" || operation === "DeleteMessageBatch";
  if (isMeddled && happens(service, service.chaos.replyLost)) {
    service.counts.repliesLost += 1;
    response.writeHead(500, { "content-type": "application/x-amz-json-1.0" });
    response.end(JSON.stringify({ __type: "InternalFailure", message: "the reply was lost" }));
    return;
  }
  response.writeHead(answer.status, { "content-type": "application/x-amz-json-1.0" }).end(answer.body);
}

async function sendBatch(service: Service, request: IncomingMessage, body: string): Promise<Answer> {
  const call = JSON.parse(body) as { QueueUrl: string; Entries: readonly Entry[] };
  const forwarded: Entry[] = [];
  const successful: object[] = [];
  const failed: object[] = [];
  for (const entry of call.Entries) {
    const fate = fateOf(service, entry);
    fate.asked += 1;
    if (happens(service, service.chaos.refused)) {
      service.counts.refused += 1;
      failed.push({ Id: entry.Id, SenderFault: false, Code: "InternalError", Message: "not taken" });
      continue;
    }
    const hash = createHash("md5").update(entry.MessageBody).digest("hex");
    successful.push({ Id: entry.Id, MessageId: randomUUID(), MD5OfMessageBody: hash });
    if (happens(service, service.chaos.lost)) {
      service.counts.lost += 1;
      fate.lost += 1;
      continue;
    }
    const copies = happens(service, service.chaos.duplicate) ? 2 : 1;
    if (copies === 2) service.counts.duplicated += 1;
    for (let copy = 0; copy < copies; copy += 1) forwarded.push(delayed(service, entry));
    fate.delivered += copies;
  }
  for (let from = 0; from < forwarded.length; from += call.Entries.length) {
    const page = forwarded.slice(from, from + call.Entries.length);
    const entries = page.map((entry, index) => ({ ...entry, Id: String(index) }));
    const taken = await passOn(service, request, JSON.stringify({ ...call, Entries: entries }));
    if (taken.status !== 200) throw new Error(`the queue itself answered ${taken.status}: ${taken.body}`);
  }
  return { status: 200, body: JSON.stringify({ Successful: successful, Failed: failed }) };
}

function fateOf({ sent }: Service, { MessageBody }: Entry): Fate {
  const { jobId, generation } = JSON.parse(MessageBody) as { jobId: string; generation: number };
  const key = `${jobId}/${generation}`;
  const fate = sent.get(key) ?? { asked: 0, delivered: 0, lost: 0 };
  sent.set(key, fate);
  return fate;
}

function delayed(service: Service, entry: Entry): Entry {
  if (!happens(service, service.chaos.late)) return entry;
  service.counts.late += 1;
  const { min, max } = lateSeconds;
  const lateness = (min + service.random() * (max - min)) / service.scale;
  const seconds = Math.min(delaySecondsMax, (entry.DelaySeconds ?? 0) + lateness);
  // The local queue takes fractions, which compressed time needs.
  return { ...entry, DelaySeconds: service.scale === 1 ? Math.floor(seconds) : seconds };
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

async function passOn({ target }: Service, request: IncomingMessage, body: string): Promise<Answer> {
  const headers = {
    "content-type": String(request.headers["content-type"]),
    "x-amz-target": String(request.headers["x-amz-target"]),
    authorization: String(request.headers.authorization),
  };
  const response = await fetch(new URL(request.url ?? "/", target), { method: "POST", headers, body });
  return { status: response.status, body: await response.text() };
}
