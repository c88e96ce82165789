import { createServer, type RequestListener, type ServerOptions } from "node:http";
import { connect } from "node:net";
import type { Check, Planted } from "./check.ts";
import { served } from "./faulty.ts";
import type { Target } from "./world.ts";

/** Bytes that no client sends, and the statuses that are an answer to them; `null` is a connection that is closed. */
const cases: readonly (readonly [name: string, bytes: string, allowed: readonly (number | null)[]])[] = [
  [
    "two lengths",
    "POST /jobs HTTP/1.1\r\nHost: HOST\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
    [400, null],
  ],
  [
    "a length and chunks",
    "POST /jobs HTTP/1.1\r\nHost: HOST\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /livez HTTP/1.1\r\nHost: HOST\r\n\r\n",
    [400, null],
  ],
  [
    "an unknown encoding",
    "POST /jobs HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    [400, 501, null],
  ],
  ["a line that is folded", "GET /jobs HTTP/1.1\r\nHost: HOST\r\nX: a\r\n b\r\n\r\n", [400, null]],
  ["a space before the colon", "GET /jobs HTTP/1.1\r\nHost : HOST\r\n\r\n", [400, null]],
  ["no host", "GET /jobs HTTP/1.1\r\n\r\n", [400, 403, null]],
  ["two hosts", "GET /jobs HTTP/1.1\r\nHost: HOST\r\nHost: evil.example\r\n\r\n", [400, 403, null]],
  ["another host", "GET /jobs HTTP/1.1\r\nHost: evil.example\r\n\r\n", [403]],
  [
    "an address of another host",
    "GET http://evil.example/jobs HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    [400, 403, 404],
  ],
  ["a path of another host", "GET //evil.example/jobs HTTP/1.1\r\nHost: HOST\r\n\r\n", [400, 404]],
  ["steps up", "GET /console/../../../etc/passwd HTTP/1.1\r\nHost: HOST\r\n\r\n", [400, 404]],
  ["coded steps up", "GET /console/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: HOST\r\n\r\n", [400, 404]],
  ["a NUL in the path", "GET /jobs/%00 HTTP/1.1\r\nHost: HOST\r\n\r\n", [400, 404]],
  ["a tunnel", "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n", [400, 403, 404, 405, null]],
  ["a trace", "TRACE /jobs HTTP/1.1\r\nHost: HOST\r\nCookie: secret\r\n\r\n", [405]],
  ["a header without end", `GET /jobs HTTP/1.1\r\nHost: HOST\r\nX: ${"a".repeat(100_000)}\r\n\r\n`, [400, 431, null]],
  [
    "a body longer than any payload",
    `POST /jobs HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{`,
    [413],
  ],
  ["a splitting value", "GET /schedules/a%0d%0aset-cookie:%20x HTTP/1.1\r\nHost: HOST\r\n\r\n", [404]],
];

/** A busy system answers late; one that has answered says the rest at once. */
const firstMsMax = 10_000;
const quietMsMax = 1_500;
const answerMsMax = 20_000;

interface Answered {
  readonly statuses: readonly number[];
  readonly text: string;
}

/** Everything that comes back until the connection ends or is quiet. */
async function exchange(url: string, bytes: string): Promise<Answered> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket.on("data", (part) => {
    text += part.toString("latin1");
    socket.setTimeout(quietMsMax);
  });
  socket.on("error", () => {});
  socket.setTimeout(firstMsMax, () => socket.destroy());
  const late = setTimeout(() => socket.destroy(), answerMsMax);
  socket.write(bytes.replaceAll("HOST", host));
  // `once` of events would throw where the connection is reset.
  await new Promise((resolve) => socket.once("close", resolve));
  clearTimeout(late);
  return { statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => Number(match[1])), text };
}

async function run({ url }: Target): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [name, bytes, allowed] of cases) {
    const { statuses, text } = await exchange(url, bytes);
    const [status = null] = statuses;
    if (!allowed.includes(status)) found.push(`${name} is answered ${status}`);
    if (status !== null && status >= 400 && !/content-type: application\/problem\+json/i.test(text))
      found.push(`${name} is answered ${status} without a problem document`);
    if (statuses.length > 1) found.push(`${name} is answered ${statuses.length} times: one request became two`);
    if (/root:|\r\nset-cookie: x|secret/i.test(text))
      found.push(`${name} gives back what it must not: ${text.slice(-200)}`);
  }
  const alive = await fetch(`${url}/livez`);
  return alive.ok ? found : [...found, `and then /livez answers ${alive.status}`];
}

async function lenient(target: Target, options: ServerOptions, answer: RequestListener): Promise<Planted> {
  const server = createServer(options, answer);
  // So that it is found by what it takes, not by what it says to the rest.
  server.on("clientError", (_error, socket) => {
    socket.end("HTTP/1.1 400 Bad Request\r\ncontent-type: application/problem+json\r\nconnection: close\r\n\r\n{}");
  });
  const { url, close } = await served(server);
  return { target: { ...target, url }, close };
}

export const socketCheck: Check = {
  name: "raw sockets",
  run,
  faults: {
    "a parser that takes what is ambiguous, and any host": (target) =>
      lenient(target, { insecureHTTPParser: true, requireHostHeader: false }, (request, response) => {
        request.resume();
        response.end("{}");
      }),
  },
};
