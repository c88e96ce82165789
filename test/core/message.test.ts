import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JobId } from "../../src/machine/job.ts";
import { decodeMessage, encodeMessage } from "../../src/run/message.ts";

const anyMessage = fc.record({
  jobId: fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map((id) => String(id) as JobId),
  generation: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  trace: fc.string(),
});

describe("a queue message", () => {
  test("survives the trip", () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        expect(decodeMessage(encodeMessage(message))).toEqual(message);
      }),
    );
  });

  test("carries no payload", () => {
    const body = encodeMessage({
      jobId: "1" as JobId,
      generation: 2,
      trace: "t",
      delayMs: 5,
      payload: "secret",
    } as never);
    expect(JSON.parse(body)).toEqual({ jobId: "1", generation: 2, trace: "t" });
  });

  test.each(["1", "999999999999999999", "1000000000000000000", "9223372036854775807"])(
    "may have each id that a row can have: %s",
    (jobId) => {
      expect(decodeMessage(`{"jobId":"${jobId}","generation":2147483647,"trace":"t"}`)).toEqual({
        jobId,
        generation: 2_147_483_647,
        trace: "t",
      });
    },
  );

  test("without a trace is still one of Belfry", () => {
    expect(decodeMessage('{"jobId":"7","generation":1}')).toEqual({ jobId: "7", generation: 1, trace: "" });
  });

  test.each([
    "",
    "{",
    "null",
    "[]",
    '"text"',
    "{}",
    '{"jobId":7,"generation":1}',
    '{"jobId":"","generation":1}',
    '{"jobId":"0","generation":1}',
    '{"jobId":"-1","generation":1}',
    '{"jobId":"1.5","generation":1}',
    '{"jobId":"1 or 1=1","generation":1}',
    '{"jobId":"9223372036854775808","generation":1}',
    "7",
    "true",
    '["7"]',
    '{"jobId":"7","generation":"1"}',
    '{"jobId":"7","generation":[1]}',
    '{"jobId":"7","generation":-1}',
    '{"jobId":"7","generation":1.5}',
    '{"jobId":"7","generation":2147483648}',
    '{"jobId":"7","generation":1e400}',
  ])("a body that no row can have is not one of Belfry: %s", (body) => {
    expect(decodeMessage(body)).toBeNull();
  });

  test("any text at all is read without throwing", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (body) => {
        const message = decodeMessage(body);
        expect(message === null || /^\d+$/.test(message.jobId)).toBe(true);
      }),
    );
  });
});
