import { createServer, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { getRequestListener, RequestError } from "@hono/node-server";
import { apiDate } from "../api/guard.ts";
import { documentOf, HttpProblem } from "../api/problem.ts";
import type { Random } from "../machine/ports.ts";

type Fetch = Parameters<typeof getRequestListener>[0];

/**
 * A server of this machine in front of the API. What cannot be read as a request is answered with a problem document too,
 * and with an id: Node's own answers have neither.
 */
export function apiServer(fetch: Fetch, random: Random): Server {
  const errorHandler = (error: unknown): Response => {
    const { status, headers, body } = written(problemOf(error), random);
    return new Response(body, { status, headers });
  };
  const listener = getRequestListener(fetch, { errorHandler });
  const answering = new WeakMap<Duplex, ServerResponse>();
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    answering.set(request.socket, response);
    void listener(request, response);
  });
  server.on("clientError", (error, socket) => {
    const open = answering.get(socket);
    // Bytes after the begin of another answer would become a part of that one.
    if (!socket.writable || (open?.headersSent === true && !open.writableFinished)) return void socket.destroy();
    const { status, headers, body } = written(problemOf(error), random);
    const lines = Object.entries({ ...headers, "content-length": Buffer.byteLength(body), connection: "close" });
    const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines.map((line) => line.join(": "))];
    socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
  });
  return server;
}

function written(problem: HttpProblem, random: Random) {
  const requestId = random.id();
  const headers = {
    "content-type": "application/problem+json",
    "x-request-id": requestId,
    "belfry-version": apiDate,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };
  return { status: problem.status, headers, body: JSON.stringify(documentOf(problem, requestId)) };
}

/** An error of Node's parser has a code; one of the address or the host is the listener's. */
function problemOf(error: unknown): HttpProblem {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  if (code === "HPE_HEADER_OVERFLOW")
    return new HttpProblem(
      "headers-too-large",
      "the headers together are larger than 16 KB: send fewer or shorter ones",
    );
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return new HttpProblem("request-too-slow", "the request did not arrive in time: send it again");
  if (error instanceof RequestError) return new HttpProblem("bad-http", `${error.message}: no request can be read`);
  return typeof code === "string"
    ? new HttpProblem("bad-http", `the bytes are no request of HTTP/1.1 (${code}): no request can be read`)
    : new HttpProblem("internal", "the request failed");
}
