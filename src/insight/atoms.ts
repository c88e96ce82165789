/** Building blocks of what people read. Members are only ever added; times are ISO 8601 in UTC. */
import { z } from "zod";
import type { JobId, RunId } from "../machine/job.ts";
import { states } from "../machine/state.ts";

export const time = z.iso.datetime();
export const maybeTime = time.nullable();
export const count = z.int().min(0);
export const idText = z.string().regex(/^\d{1,19}$/);
export const jobId = z.custom<JobId>((id) => idText.safeParse(id).success);
export const runId = z.custom<RunId>((id) => idText.safeParse(id).success);
export const boundedCount = z.object({ count, isMore: z.boolean() });
export const state = z.enum(states);
export const runStates = ["RUNNING", "CANCELING", "DONE", "FAILED", "CANCELED"] as const;
export const runState = z.enum(runStates);
export const failure = z.object({ code: z.string(), message: z.string().nullable() }).nullable();

/** The shapes of a table whose fields each have a shape and their SQL. */
export const shapesOf = <F extends Readonly<Record<string, readonly [z.ZodType, string]>>>(fields: F) =>
  Object.fromEntries(Object.entries(fields).map(([name, [shape]]) => [name, shape])) as { [K in keyof F]: F[K][0] };
