import { once } from "node:events";
import { connect } from "node:net";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { apiServer } from "../../src/local/api-listener.ts";
import { listening } from "../support/listening.ts";

/** The bytes that come back until the server ends the connection. */
async function send(bytes: string): Promise<string> {
  const api = new Hono();
  api.get("/livez", (c) => c.text("it lives")).post("/jobs", async (c) => c.text(await c.req.text()));
  // Of the body that is cut off.
  api.onError((_, c) => c.text("", 500));
  const server = apiServer(api.fetch, { next: () => 0.5, id: () => "id-1" });
  const socket = connect(await listening(server), "127.0.0.1");
  let text = "";
  socket.on("data", (part) => (text += part.toString("latin1")));
  socket.write(bytes);
  await once(socket, "close");
  return text;
}

test.each([
  ["a line that is no request", "HELLO\r\n\r\n", 400, "bad-http", "HPE_INVALID_METHOD"],
  [
    "two lengths",
    "POST /jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
    400,
    "bad-http",
    "HPE_UNEXPECTED_CONTENT_LENGTH",
  ],
  [
    "a chunk without a length",
    "POST /jobs HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nno\r\n",
    400,
    "bad-http",
    "HPE_INVALID_CHUNK_SIZE",
  ],
  ["no host", "GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n", 400, "bad-http", "Missing host header"],
  [
    "large headers",
    `GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${"a".repeat(20_000)}\r\n\r\n`,
    431,
    "headers-too-large",
    "16 KB",
  ],
])("%s is answered with a problem document and an id", async (_what, bytes, status, code, detail) => {
  const [head = "", body = ""] = (await send(bytes)).split("\r\n\r\n");
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head.toLowerCase()).toContain("content-type: application/problem+json");
  expect(head.toLowerCase()).toContain("x-request-id: id-1");
  expect(JSON.parse(body)).toMatchObject({
    status,
    code,
    requestId: "id-1",
    detail: expect.stringContaining(detail) as unknown,
  });
});

test("nothing is written into an answer that has begun", async () => {
  const text = await send(`GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nHELLO\r\n\r\n`);
  expect(text.match(/HTTP\/1\.1 \d{3}/g)).toEqual(["HTTP/1.1 200"]);
});
