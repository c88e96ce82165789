import type { JobId } from "../machine/job.ts";
import type { Message } from "../machine/outbox.ts";

/** By job, in id order: of several messages only the one with the newest generation can still change anything. */
export function newest(messages: readonly Pick<Message, "jobId" | "generation">[]): Map<JobId, number> {
  const generations = new Map<JobId, number>();
  for (const { jobId, generation } of messages.toSorted((a, b) => byId(a.jobId, b.jobId))) {
    generations.set(jobId, Math.max(generation, generations.get(jobId) ?? 0));
  }
  return generations;
}

/** The same as two columns, for `unnest`. */
export function newestColumns(messages: readonly Pick<Message, "jobId" | "generation">[]): [JobId[], number[]] {
  const generations = newest(messages);
  return [[...generations.keys()], [...generations.values()]];
}

/** Ids are decimal numbers, larger than JavaScript counts exactly. */
export const byId = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : Number(a > b));
