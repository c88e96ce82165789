/** OpenTelemetry, where the project has `@opentelemetry/api`: spans of jobs in its own traces, by W3C trace context. */
import type { Attributes, SpanContext } from "@opentelemetry/api";
import type { SpanOf, Tracing } from "../machine/ports.ts";

type Api = typeof import("@opentelemetry/api");

let opened: Promise<Tracing | null> | undefined;
let current: Tracing | null = null;

/** Loads the API once for a process. @returns null when it is not installed. */
export async function openTracing(): Promise<Tracing | null> {
  opened ??= import("@opentelemetry/api").then(tracingBy, () => null);
  current = await opened;
  return current;
}

/** What `openTracing` loaded in this process; null before that. */
export const openedTracing = (): Tracing | null => current;

function tracingBy(api: Api): Tracing {
  const tracer = api.trace.getTracer("belfry");
  const meter = api.metrics.getMeter("belfry");
  const sent = meter.createCounter("messaging.client.sent.messages", { unit: "{message}" });
  const processed = meter.createHistogram("messaging.process.duration", { unit: "s" });
  const kinds = {
    producer: api.SpanKind.PRODUCER,
    consumer: api.SpanKind.CONSUMER,
    client: api.SpanKind.CLIENT,
    internal: api.SpanKind.INTERNAL,
  };
  const count = ({ kind, attributes }: SpanOf, tookMs: number): void => {
    const own: Attributes = { "messaging.system": "belfry", "messaging.destination.name": attributes[destination] };
    if (kind === "producer") sent.add(Number(attributes[batchSize] ?? 1), own);
    if (kind === "consumer" && attributes[operation] === "process") processed.record(tookMs / 1000, own);
  };
  const contextOf = (parent: string | undefined) => {
    const remote = parent === undefined ? null : readParent(parent);
    return remote === null ? api.context.active() : api.trace.setSpanContext(api.ROOT_CONTEXT, remote);
  };
  return {
    parent() {
      const span = api.trace.getActiveSpan()?.spanContext();
      return span === undefined || !api.isSpanContextValid(span) ? null : writeParent(span);
    },
    span(of, work) {
      const options = { kind: kinds[of.kind], attributes: of.attributes };
      const beganMs = performance.now();
      return tracer.startActiveSpan(of.name, options, contextOf(of.parent), async (span) => {
        try {
          return await work();
        } catch (error) {
          const thrown = error instanceof Error ? error : new Error(String(error));
          span.recordException(thrown);
          span.setStatus({ code: api.SpanStatusCode.ERROR, message: thrown.message });
          throw error;
        } finally {
          span.end();
          count(of, performance.now() - beganMs);
        }
      });
    },
    fail(type, message) {
      const span = api.trace.getActiveSpan();
      span?.setAttribute("error.type", type).setStatus({ code: api.SpanStatusCode.ERROR, message });
    },
  };
}

const destination = "messaging.destination.name";
const batchSize = "messaging.batch.message_count";
const operation = "messaging.operation.type";

const traceparent = /^00-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})$/;

/** Whether a text is a W3C `traceparent` of version 00. */
export const isTraceparent = (text: string): boolean => traceparent.test(text);

function readParent(text: string): SpanContext | null {
  const [, traceId, spanId, flags] = traceparent.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

const writeParent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
