import { beforeEach, expect, test, vi } from "vitest";
import { eventBridgeSink } from "../../src/aws/events/sink.ts";
import type { StreamEvent } from "../../src/insight/event-stream.ts";
import { receiver } from "./sink.ts";

const signal = new AbortController().signal;
const event = (id: number): StreamEvent => ({
  id: String(id),
  at: "2026-11-21T08:00:00.250Z",
  job: "7",
  run: null,
  kind: "ping",
  key: null,
  lane: "default",
  from: "RUNNING",
  to: "SUCCESS",
  attempt: 1,
  generation: 1,
  worker: "w",
  reason: null,
});
const accepted = (count: number) => ({
  status: 200,
  body: JSON.stringify({
    FailedEntryCount: 0,
    Entries: Array.from({ length: count }, (_, n) => ({ EventId: `e${n}` })),
  }),
});

beforeEach(() => {
  vi.stubEnv("AWS_PROFILE", undefined);
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  return () => vi.unstubAllEnvs();
});

test("events go to the bus ten a call, signed, with what a rule matches by", async () => {
  const { url, received } = await receiver((n) => accepted(n === 1 ? 10 : 2));
  const sink = eventBridgeSink({ bus: "ours", region: "eu-west-1", endpoint: url, source: "belfry/test" });
  await sink.send(
    Array.from({ length: 12 }, (_, n) => event(n)),
    signal,
  );
  const calls = received.map(({ body }) => (JSON.parse(body) as { Entries: Record<string, unknown>[] }).Entries);
  expect(calls.map((entries) => entries.length)).toEqual([10, 2]);
  expect(received[0]?.headers).toMatchObject({
    "x-amz-target": "AWSEvents.PutEvents",
    "content-type": "application/x-amz-json-1.1",
    authorization: expect.stringContaining("/eu-west-1/events/aws4_request") as string,
  });
  expect(calls[0]?.[3]).toEqual({
    EventBusName: "ours",
    Source: "belfry/test",
    DetailType: "Job SUCCESS",
    Time: Date.UTC(2026, 10, 21, 8) / 1_000,
    Resources: [],
    Detail: JSON.stringify(event(3)),
  });
});

test("a page that is given up in the middle sends nothing more: another publisher may have its lease", async () => {
  const given = new AbortController();
  const { url, received } = await receiver(() => {
    given.abort(new Error("not accepted in time"));
    return accepted(10);
  });
  const sink = eventBridgeSink({ bus: "ours", region: "eu-west-1", endpoint: url, source: "belfry/test" });
  const page = Array.from({ length: 12 }, (_, n) => event(n));
  await expect(sink.send(page, given.signal)).rejects.toThrow("not accepted in time");
  expect(received).toHaveLength(1);
});

// The answers as the service's reference documents them.
test.each([
  [
    "200 with refused entries",
    {
      status: 200,
      body: '{"FailedEntryCount":1,"Entries":[{"EventId":"a"},{"ErrorCode":"ThrottlingException","ErrorMessage":"slow down"}]}',
    },
    "ThrottlingException: slow down",
  ],
  [
    "a bus that is not there",
    { status: 400, body: '{"__type":"ResourceNotFoundException","message":"no bus"}' },
    "ResourceNotFoundException",
  ],
  ["an internal error", { status: 500, body: '{"__type":"InternalException"}' }, "500"],
  ["something that is not JSON", { status: 502, body: "<html>" }, "502"],
])("%s is a failure, so that all of them are sent again", async (_, answer, message) => {
  const { url } = await receiver(() => answer);
  const sink = eventBridgeSink({ bus: "ours", region: "eu-west-1", endpoint: url, source: "belfry/test" });
  await expect(sink.send([event(1), event(2)], signal)).rejects.toThrow(message);
});
