import type { JobId } from "../machine/job.ts";
import type { Message } from "../machine/outbox.ts";

/** The body of a queue message. It carries no payload: the row is the truth. */
export const encodeMessage = (message: Message): string =>
  JSON.stringify({ jobId: message.jobId, generation: message.generation, trace: message.trace });

/** @returns null for a body that Belfry did not write; the caller quarantines it. */
export function decodeMessage(body: string): Message | null {
  const parsed = parse(body);
  if (parsed === null) return null;
  const { jobId, generation, trace } = parsed as Record<string, unknown>;
  if (!isJobId(jobId) || !isGeneration(generation)) return null;
  return { jobId, generation, trace: typeof trace === "string" ? trace : "" };
}

/** A number that its column cannot hold would fail the claim of the whole batch, again and again. */
const isJobId = (value: unknown): value is JobId =>
  typeof value === "string" && /^[1-9]\d{0,18}$/.test(value) && (value.length < 19 || BigInt(value) <= jobIdMax);

const jobIdMax = 2n ** 63n - 1n;

const isGeneration = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 2 ** 31;

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

/** A readable message with the id the queue knows it by. */
export interface Arrived {
  readonly messageId: string;
  readonly message: Message;
}

/** Each record in its order, as a message of Belfry or as one that cannot be read. */
export function decodeRecords(records: readonly QueueRecord[]) {
  const messages: Arrived[] = [];
  const unreadable: QueueRecord[] = [];
  for (const record of records) {
    const message = decodeMessage(record.body);
    if (message === null) unreadable.push(record);
    else messages.push({ messageId: record.messageId, message });
  }
  return { messages, unreadable };
}

export interface QueueRecord {
  readonly messageId: string;
  readonly body: string;
}
