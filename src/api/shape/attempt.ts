import { z } from "zod";
import type { AttemptTrace } from "../../core/job/job.ts";
import { count, maybeIso, maybeTime } from "./shape.ts";

const line = z.object({
  atMs: z.number().min(0).describe("Since the attempt began."),
  level: z.string(),
  text: z.string(),
});

export const attemptDetail = z
  .object({
    kind: z.string(),
    attempt: count,
    dueAt: maybeTime.describe("Known of the newest attempt only, as `sentAt`."),
    sentAt: maybeTime.describe("When its message was sent: the time until the start is its claiming."),
    startedAt: maybeTime,
    endedAt: maybeTime,
    logGroup: z
      .object({ region: z.string(), name: z.string() })
      .nullable()
      .describe("Where CloudWatch keeps its log; null on a local system, and once its worker is forgotten."),
    failure: z
      .object({
        stack: z.string().nullable(),
        causes: z.array(z.string()),
        response: z.object({ status: z.int(), body: z.string().nullable() }).nullable(),
        log: z.array(line).describe("The last lines that the handler logged."),
      })
      .nullable()
      .describe("Of an attempt that its handler failed; every text is cut."),
  })
  .meta({ id: "AttemptDetail" });

export type AttemptDetailReply = z.infer<typeof attemptDetail>;

/** A name of a log group has no colon. */
function logGroupJson(text: string | null): AttemptDetailReply["logGroup"] {
  const [region, name] = text?.split(":") ?? [];
  return region === undefined || name === undefined ? null : { region, name };
}

export const attemptDetailJson = (attempt: number, trace: AttemptTrace): AttemptDetailReply => ({
  kind: trace.kind,
  attempt,
  dueAt: maybeIso(trace.dueAt),
  sentAt: maybeIso(trace.sentAt),
  startedAt: maybeIso(trace.startedAt),
  endedAt: maybeIso(trace.endedAt),
  logGroup: logGroupJson(trace.logGroup),
  failure: trace.detail as AttemptDetailReply["failure"],
});
