import type { JobId } from "./job.ts";
import type { Message } from "./ports.ts";

/** The body of a queue message. It carries no payload: the row is the truth. */
export const encodeMessage = (message: Message): string =>
  JSON.stringify({ jobId: message.jobId, generation: message.generation, trace: message.trace });

/** @returns null for a body that is not one of ours; the caller quarantines it. */
export function decodeMessage(body: string): Message | null {
  const parsed = parse(body);
  if (typeof parsed !== "object" || parsed === null) return null;
  const { jobId, generation, trace } = parsed as Record<string, unknown>;
  if (typeof jobId !== "string" || !/^[1-9]\d{0,18}$/.test(jobId)) return null;
  if (typeof generation !== "number" || !Number.isInteger(generation) || generation < 0) return null;
  return { jobId: jobId as JobId, generation, trace: typeof trace === "string" ? trace : "" };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
