import { createServer } from "node:http";
import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { defineApp, defineJob, PermanentError } from "belfry";
import { httpClient } from "belfry/http";
import { createTestSystem } from "belfry/testing";
import { afterAll, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { listening } from "../support/listening.ts";

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
beforeAll(() => provider.register());
afterAll(async () => {
  await provider.shutdown();
  trace.disable();
  context.disable();
});
beforeEach(() => exporter.reset());

const child = defineJob({ id: "traced-child", async run() {} });
const caller = trace.getTracer("caller");

/** Each span as `NAME < NAME of its parent`, of one trace. */
function picture(traceId: string): readonly string[] {
  const spans = exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === traceId);
  const names = new Map(spans.map((span) => [span.spanContext().spanId, span.name]));
  return spans
    .map((span) => `${span.name} < ${names.get(span.parentSpanContext?.spanId ?? "") ?? "nothing"}`)
    .toSorted();
}

test("one trace goes from the caller over the queue to the handler, its transaction, its calls and its children", async () => {
  let heard: string | undefined;
  const server = createServer((request, response) => {
    heard = request.headers["traceparent"] as string;
    response.end();
  });
  const bank = httpClient({ baseUrl: `http://127.0.0.1:${await listening(server)}` });
  const pay = defineJob({
    id: "traced-pay",
    async run(_, ctx) {
      await bank.send({ path: "/", signal: ctx.signal });
      await ctx.enqueue(child, undefined);
      await ctx.tx(async () => {});
    },
  });
  const app = defineApp({ name: "shop", jobs: [pay, child] });
  await using system = await createTestSystem({ apps: [app], databaseUrl: inject("postgresUrl") });
  const traceId = await caller.startActiveSpan("order", async (span) => {
    await pay.enqueue();
    span.end();
    return span.spanContext().traceId;
  });
  await system.drain();
  expect(picture(traceId)).toEqual([
    "GET < process traced-pay",
    "ctx.tx < process traced-pay",
    "dispatch default < ctx.tx",
    "dispatch default < send traced-pay",
    "order < nothing",
    "process traced-child < process traced-pay",
    "process traced-pay < send traced-pay",
    "send traced-pay < order",
    "settle < process traced-child",
  ]);
  expect(heard).toMatch(new RegExp(`^00-${traceId}-[\\da-f]{16}-01$`));
  const attempt = exporter.getFinishedSpans().find(({ name }) => name === "process traced-pay");
  expect(attempt).toMatchObject({
    kind: SpanKind.CONSUMER,
    attributes: {
      "messaging.operation.type": "process",
      "messaging.destination.name": "traced-pay",
      "belfry.attempt": 1,
    },
  });
});

test("a failed attempt is an error of its span; it needs no caller that traces", async () => {
  const refused = defineJob({
    id: "traced-refused",
    run() {
      throw new PermanentError("no account", { code: "NO_ACCOUNT" });
    },
  });
  const app = defineApp({ name: "shop", jobs: [refused] });
  await using system = await createTestSystem({ apps: [app], databaseUrl: inject("postgresUrl") });
  await refused.enqueue();
  await system.drain();
  const attempt = exporter.getFinishedSpans().find(({ name }) => name === "process traced-refused");
  expect(attempt).toMatchObject({
    status: { code: SpanStatusCode.ERROR, message: "no account" },
    attributes: { "error.type": "NO_ACCOUNT" },
  });
});
