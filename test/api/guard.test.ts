import { Hono } from "hono";
import { describe, expect, test } from "vitest";
import { isLocalHost, localOnly, sameOriginOnly } from "../../src/api/guard.ts";
import { HttpProblem } from "../../src/api/problem.ts";

const refusing = (guard: typeof localOnly) =>
  new Hono()
    .use(guard)
    .all("/", (c) => c.text("done"))
    .onError((error, c) =>
      error instanceof HttpProblem ? c.json({ code: error.code, issues: error.issues }, 403) : c.text("broken", 500),
    );
const answer = async (guard: typeof localOnly, headers: Record<string, string>, method = "GET"): Promise<unknown> => {
  const response = await refusing(guard).request("/", { headers, method });
  return response.status === 403 ? response.json() : response.text();
};

describe("a request that names this machine", () => {
  test.each([
    ["127.0.0.1:8080", true],
    ["localhost", true],
    ["LOCALHOST:1", true],
    ["[::1]:65535", true],
    ["localhost:123456", false],
    ["127.0.0.1.example.com", false],
    ["example.com:80", false],
    [undefined, false],
  ])("%s: %s", (host, isLocal) => {
    expect(isLocalHost(host)).toBe(isLocal);
  });

  test("is answered; another one, or one without a host, is refused and told which header", async () => {
    const refused = {
      code: "foreign-host",
      issues: [{ path: "header host", message: "names another machine" }],
    };
    expect(await answer(localOnly, { host: "localhost:8080" })).toBe("done");
    expect(await answer(localOnly, { host: "rebound.example" })).toEqual(refused);
    expect(await answer(localOnly, {})).toEqual(refused);
  });
});

describe("a request of a page of the same origin", () => {
  const refusedBy = (path: string) => ({ code: "foreign-origin", issues: [{ path, message: "is of another origin" }] });
  const host = "localhost:8080";

  test.each([
    [{ host }, "done"],
    [{ host, origin: "http://localhost:8080" }, "done"],
    [{ host, origin: "http://localhost:8081" }, refusedBy("header origin")],
    [{ host, origin: "https://example.com" }, refusedBy("header origin")],
    [{ host, origin: "null" }, refusedBy("header origin")],
    [{ origin: "null" }, refusedBy("header origin")],
    [{ origin: "http://localhost:8080" }, refusedBy("header origin")],
    [{ origin: "http://undefined" }, refusedBy("header origin")],
    [{ host, "sec-fetch-site": "same-origin" }, "done"],
    [{ host, "sec-fetch-site": "none" }, "done"],
    [{ host, "sec-fetch-site": "same-site" }, refusedBy("header sec-fetch-site")],
    [{ host, "sec-fetch-site": "cross-site" }, refusedBy("header sec-fetch-site")],
    [{ host, "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors" }, refusedBy("header sec-fetch-site")],
    [{ host, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }, "done"],
  ] as const)("%o", async (headers, expected) => {
    expect(await answer(sameOriginOnly, { ...headers })).toEqual(expected);
  });

  test("opens a page by a link from elsewhere, and writes nothing by one", async () => {
    const linked = { host, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
    expect(await answer(sameOriginOnly, linked, "POST")).toEqual(refusedBy("header sec-fetch-site"));
  });
});
