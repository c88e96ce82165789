/** The spans of a job, by OpenTelemetry's conventions for messaging. Where the project does not trace, the work alone. */
import type { Outcome } from "../machine/decide.ts";
import type { SpanOf, Tracing } from "../machine/ports.ts";
import type { Claimed } from "../machine/store.ts";

type Traced = Tracing | undefined;

const attributesOf = (type: string, destination: string, messages: number): SpanOf["attributes"] => ({
  "messaging.system": "belfry",
  "messaging.operation.type": type,
  "messaging.destination.name": destination,
  "messaging.batch.message_count": messages,
});

/** Jobs of a kind are written: the caller's side. */
export const enqueueSpan = <T>(tracing: Traced, kind: string, jobs: number, work: () => Promise<T>): Promise<T> =>
  span(tracing, { name: `send ${kind}`, kind: "producer", attributes: attributesOf("send", kind, jobs) }, work);

/** Messages of a lane go to its queue, or come from it. */
export function laneSpan<T>(
  tracing: Traced,
  operation: "dispatch" | "claim",
  { lane, messages }: { readonly lane: string; readonly messages: number },
  work: () => Promise<T>,
): Promise<T> {
  const attributes = attributesOf(operation === "claim" ? "receive" : "send", lane, messages);
  return span(tracing, { name: `${operation} ${lane}`, kind: "internal", attributes }, work);
}

/** One attempt, under the span that enqueued its job. */
export const attemptSpan = <T>(tracing: Traced, job: Claimed, work: () => Promise<T>): Promise<T> =>
  span(
    tracing,
    {
      name: `process ${job.kind}`,
      kind: "consumer",
      parent: job.trace,
      attributes: {
        ...attributesOf("process", job.kind, 1),
        "messaging.message.id": job.jobId,
        "belfry.attempt": job.attempt,
        "belfry.lateness_ms": job.latenessMs,
      },
    },
    work,
  );

/** The handler's transaction, the settle included. */
export const txSpan = <T>(tracing: Traced, work: () => Promise<T>): Promise<T> => step(tracing, "ctx.tx", work);

/** The write of an outcome. One that is no success is the error of the attempt's span. */
export function settleSpan<T>(tracing: Traced, outcome: Outcome, work: () => Promise<T>): Promise<T> {
  if ("code" in outcome) tracing?.fail(outcome.code, outcome.message);
  return step(tracing, "settle", work);
}

const step = <T>(tracing: Traced, name: string, work: () => Promise<T>): Promise<T> =>
  span(tracing, { name, kind: "internal", attributes: {} }, work);

const span = <T>(tracing: Traced, of: SpanOf, work: () => Promise<T>): Promise<T> =>
  tracing === undefined ? work() : tracing.span(of, work);
