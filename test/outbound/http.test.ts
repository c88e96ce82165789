import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTcpServer, type Server } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { httpClient } from "../../src/outside/http/client.ts";
import { AmbiguousError, PermanentError, RetryLater } from "../../src/define/errors.ts";
import { listening } from "../support/listening.ts";

const never = new AbortController().signal;

const listen = async (server: Server): Promise<string> => `http://127.0.0.1:${await listening(server)}`;

const serve = (listener: RequestListener): Promise<string> => listen(createServer(listener));

test("a write carries its JSON, its headers and its idempotency key", async () => {
  let seen: unknown;
  const baseUrl = await serve((request, response) => {
    const { method, url, headers } = request;
    request.setEncoding("utf8");
    request.on("data", (body: string) => {
      seen = {
        method,
        url,
        key: headers["idempotency-key"],
        type: headers["content-type"],
        common: headers["x-common"],
        body,
      };
      response.end('{"ok":true}');
    });
  });
  const client = httpClient({ baseUrl, headers: { "x-common": "1" } });
  const answer = await client.send({
    method: "POST",
    path: "/a",
    json: { b: 1 },
    idempotencyKey: "7:mail",
    signal: never,
  });
  expect(answer.json()).toEqual({ ok: true });
  expect(seen).toEqual({
    method: "POST",
    url: "/a",
    key: "7:mail",
    type: "application/json",
    common: "1",
    body: '{"b":1}',
  });
});

test("a header of one request stands in place of the client's own of that name", async () => {
  const seen: unknown[] = [];
  const baseUrl = await serve(({ headers }, response) => {
    seen.push([headers["authorization"], headers["x-common"]]);
    response.end();
  });
  const client = httpClient({ baseUrl, headers: { authorization: "all", "x-common": "1" } });
  await client.send({ path: "/", headers: { Authorization: "one" }, signal: never });
  await client.send({ path: "/", signal: never });
  expect(seen).toEqual([
    ["one", "1"],
    ["all", "1"],
  ]);
});

test.each([
  [404, PermanentError, "HTTP_404"],
  [302, PermanentError, "HTTP_302"],
  [500, RetryLater, "HTTP_500"],
  [429, RetryLater, "HTTP_429"],
])("an answer %i is an error of the right kind", async (status, kind, code) => {
  const baseUrl = await serve((_, response) =>
    response.writeHead(status, { "retry-after": "7", location: "/x" }).end("no"),
  );
  const error: unknown = await httpClient({ baseUrl })
    .send({ method: "POST", path: "/", signal: never })
    .catch((e: unknown) => e);
  expect(error).toBeInstanceOf(kind);
  expect(error).toMatchObject({ code });
});

test("a port without a listener: nothing happened there, so even a write is retried", async () => {
  const gone = await serve(() => undefined);
  const server = createTcpServer();
  const free = await listen(server);
  server.close();
  await once(server, "close");
  expect(gone).not.toBe(free);
  const sending = httpClient({ baseUrl: free }).send({ method: "POST", path: "/", signal: never });
  await expect(sending).rejects.toBeInstanceOf(RetryLater);
});

/** Servers that take the request and then do not answer as they should. */
const broken: readonly [string, RequestListener][] = [
  ["says nothing", () => undefined],
  ["hangs up", (_, response) => void response.destroy()],
  [
    "stops in the middle of the answer",
    (_, response) => {
      response.writeHead(200, { "content-length": 100 });
      response.write("half", () => response.destroy());
    },
  ],
  [
    "never ends its answer",
    (_, response) => {
      response.writeHead(200);
      response.write("x");
    },
  ],
];

test.each(broken)("a server that %s leaves a write ambiguous and a read worth another try", async (_, listener) => {
  const baseUrl = await serve(listener);
  const client = httpClient({ baseUrl, headersMs: 1_000, totalMs: 1_500 });
  await expect(client.send({ method: "POST", path: "/", signal: never })).rejects.toBeInstanceOf(AmbiguousError);
  await expect(client.send({ path: "/", signal: never })).rejects.toBeInstanceOf(RetryLater);
});

test("a longer answer than allowed is refused while it is read", async () => {
  const baseUrl = await serve((_, response) => response.end("x".repeat(5_000)));
  const sending = httpClient({ baseUrl, answerBytesMax: 1_000 }).send({ path: "/", signal: never });
  await expect(sending).rejects.toMatchObject({ code: "HTTP_ANSWER_TOO_LONG" });
});

test("no request leaves a timer behind, however it ends: a process would wait for it", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const controller = new AbortController();
  const baseUrl = await serve(({ url }, response) => {
    if (url === "/stop") controller.abort(new Error("stop"));
    else if (url === "/gone") response.destroy();
    else response.writeHead(url === "/no" ? 500 : 200).end("x".repeat(50));
  });
  const client = httpClient({ baseUrl, answerBytesMax: 100 });
  const short = httpClient({ baseUrl, answerBytesMax: 10 });
  await client.send({ path: "/", signal: never });
  const { signal } = controller;
  for (const [path, error] of [
    ["/no", "HTTP 500"],
    ["/gone", "ECONNRESET"],
    ["/stop", "stop"],
  ] as const)
    await expect(client.send({ path, signal })).rejects.toThrow(error);
  await expect(short.send({ path: "/", signal: never })).rejects.toThrow("longer than 10 bytes");
  expect(vi.getTimerCount()).toBe(0);
});

test("a handler that has to stop gets its own reason back, not an outcome of the call", async () => {
  const controller = new AbortController();
  const baseUrl = await serve(() => controller.abort(new Error("the worker has to stop")));
  const sending = httpClient({ baseUrl }).send({ method: "POST", path: "/", signal: controller.signal });
  await expect(sending).rejects.toThrow("the worker has to stop");
});

test("an answer that should be JSON and is not is worth another try", async () => {
  const baseUrl = await serve((_, response) => response.end("<html>"));
  const answer = await httpClient({ baseUrl }).send({ path: "/", signal: never });
  expect(() => answer.json()).toThrow(RetryLater);
});

test("a connection that is dropped before its TLS hand-shake is none: even a write is worth another try", async () => {
  const server = createTcpServer(() => undefined);
  server.maxConnections = 0;
  const port = new URL(await listen(server)).port;
  const client = httpClient({ baseUrl: `https://127.0.0.1:${port}`, connectMs: 200, headersMs: 60_000 });
  const sending = client.send({ method: "POST", path: "/", signal: never });
  await expect(sending).rejects.toMatchObject({ name: "RetryLater" });
});

test("silence before the TLS hand-shake ends is no connection", async () => {
  const port = new URL(await listen(createTcpServer(() => undefined))).port;
  const client = httpClient({ baseUrl: `https://127.0.0.1:${port}`, connectMs: 200, headersMs: 60_000 });
  const sending = client.send({ method: "POST", path: "/", signal: never });
  await expect(sending).rejects.toMatchObject({ name: "RetryLater", code: "HTTP_TIMEOUT" });
});

test("silence in the middle of an answer ends it before its whole time is over", async () => {
  const baseUrl = await serve((_, response) => void response.writeHead(200).write("x"));
  const client = httpClient({ baseUrl, silenceMs: 200, totalMs: 60_000 });
  const sending = client.send({ path: "/", signal: never });
  await expect(sending).rejects.toThrow("nothing more of the answer within 200 ms");
});

test("an answer of a byte now and then is cut off when its time is over", async () => {
  const baseUrl = await serve((_, response) => {
    const timer = setInterval(() => response.write("x"), 50);
    response.once("close", () => clearInterval(timer));
  });
  const client = httpClient({ baseUrl, silenceMs: 10_000, totalMs: 1_500 });
  await expect(client.send({ path: "/", signal: never })).rejects.toThrow("no complete answer within 1500 ms");
});

test("an address is read from the environment at each request, and a missing one is named", async () => {
  const client = httpClient({ baseUrl: { env: "TEST_BANK_URL" } });
  onTestFinished(() => void delete process.env["TEST_BANK_URL"]);
  const asked = () => client.send({ path: "/", signal: never });
  await expect(asked()).rejects.toThrow("TEST_BANK_URL is not set");
  process.env["TEST_BANK_URL"] = await serve((_, response) => void response.end("first"));
  expect((await asked()).text()).toBe("first");
  process.env["TEST_BANK_URL"] = await serve((_, response) => void response.end("second"));
  expect((await asked()).text()).toBe("second");
});

test("an answer has the shape that its schema says, or is asked for again with the fields that are wrong", async () => {
  const baseUrl = await serve((_, response) => void response.end('{"cents":"12"}'));
  const answer = await httpClient({ baseUrl }).send({ path: "/", signal: never });
  expect(answer.json(z.object({ cents: z.coerce.number() }))).toEqual({ cents: 12 });
  const wrong = () => answer.json(z.object({ cents: z.number(), day: z.string() }));
  expect(wrong).toThrow(RetryLater);
  expect(wrong).toThrow(/cents: .*; day: /);
  expect(wrong).toThrow(expect.objectContaining({ code: "HTTP_UNEXPECTED" }));
  const slow = z.object({}).refine(async () => true);
  expect(() => answer.json(slow)).toThrow(TypeError);
});
