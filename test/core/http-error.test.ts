import { describe, expect, test } from "vitest";
import { httpError, PermanentError, RetryLater } from "../../src/define/errors.ts";

const answer = (status: number, retryAfter?: string) => ({
  status,
  statusText: "Said So",
  headers: { get: (name: string) => (name === "retry-after" ? (retryAfter ?? null) : null) },
});

describe("the error of an HTTP answer", () => {
  test.each([408, 425, 429, 500, 502, 503, 504, 599])("%i is worth another try", (status) => {
    const error = httpError(answer(status));
    expect(error).toBeInstanceOf(RetryLater);
    expect(error).toMatchObject({ code: `HTTP_${status}`, afterMs: null, message: `HTTP ${status} Said So` });
  });

  test.each([301, 400, 401, 403, 404, 409, 410, 422])("%i is permanent", (status) => {
    const error = httpError(answer(status));
    expect(error).toBeInstanceOf(PermanentError);
    expect(error.code).toBe(`HTTP_${status}`);
  });

  test("Retry-After in seconds is honoured", () => {
    expect(httpError(answer(429, "120"))).toMatchObject({ afterMs: 120_000 });
    expect(httpError(answer(503, " 5 "))).toMatchObject({ afterMs: 5_000 });
  });

  test.each(["Wed, 21 Oct 2026 07:28:00 GMT", "-1", "1.5", "soon", "99999999"])(
    "a Retry-After that is no plain number of seconds is left to the backoff: %s",
    (header) => {
      expect(httpError(answer(503, header))).toMatchObject({ afterMs: null });
    },
  );

  test("a real answer of fetch fits", () => {
    expect(httpError(new Response("", { status: 429, headers: { "Retry-After": "3" } }))).toMatchObject({
      afterMs: 3_000,
      message: "HTTP 429",
    });
  });
});
