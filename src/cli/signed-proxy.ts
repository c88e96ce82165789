import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";
import { readFile } from "node:fs/promises";
import { InvalidArgumentError } from "commander";
import { CliError, exitCodes } from "./exit.ts";
import { createGate } from "./proxy-gate.ts";

export interface Forwarded {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const bodyBytesMax = 1_048_576;
const handedOn = /^(accept|content-type|last-event-id|if-match|if-none-match|idempotency-key|mcp-.*)$/;
/** Of one connection alone (RFC 9110 7.6.1), or of a body that has been decoded on the way. */
const keptHere = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "content-encoding",
  "content-length",
  "set-cookie",
]);

interface ProxyOptions {
  readonly port?: number | undefined;
  readonly readOnly?: boolean | undefined;
  readonly isOpen?: boolean;
  readonly nowMs?: () => number;
  /** Hears of each request that was refused for who sent it. */
  readonly onRefused?: (code: string) => void;
}

export interface Proxy {
  readonly url: string;
  /** Signs a browser in, once. */
  readonly open: string;
  /** For programs: `authorization: Bearer ...`. */
  readonly bearer: string;
  close(): void;
}

/**
 * A server on loopback that hands each request on and the answer back as it arrives. It acts with the operator's own
 * rights, so a request needs the session that the printed address gives.
 */
export async function startProxy(
  forward: (request: Forwarded) => Promise<Response>,
  { port = 0, readOnly = false, isOpen = false, nowMs = Date.now, onRefused = () => undefined }: ProxyOptions = {},
): Promise<Proxy> {
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening").catch((error: unknown) => {
    throw portTaken(port, error);
  });
  const own = (server.address() as AddressInfo).port;
  const gate = createGate({ port: own, readOnly, isOpen, nowMs });
  const url = `http://127.0.0.1:${own}`;
  return {
    url,
    open: `${url}/console/?token=${gate.token}`,
    bearer: gate.bearer,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "/";
    // Also `//elsewhere` is a place of its own: what is signed must go to the stage and nowhere else.
    if (URL.parse(path, `http://127.0.0.1:${own}`)?.host !== `127.0.0.1:${own}`) {
      return refuse(response, 400, "bad-path", "the path must be one of this server");
    }
    // A cookie reaches every port of 127.0.0.1, so also a server of another user, who must not act with it.
    if (!isOpen && (await isOtherUser(request.socket))) {
      onRefused("other-user");
      return refuse(response, 403, "other-user", "only programs of the user who started this command may ask");
    }
    const method = request.method ?? "GET";
    const verdict = gate.judge({ method, path, headers: request.headers });
    if (verdict.kind === "refuse") {
      onRefused(verdict.code);
      return refuse(response, verdict.status, verdict.code, verdict.detail);
    }
    if (verdict.kind === "sign-in") {
      const { location, cookie } = verdict;
      const headers = { location, "set-cookie": cookie, "cache-control": "no-store", "referrer-policy": "no-referrer" };
      return void response.writeHead(303, headers).end();
    }
    const body = await read(request);
    if (body === null) return refuse(response, 413, "body-too-large", `the body is larger than ${bodyBytesMax} bytes`);
    const answer = await forward({
      method,
      path,
      headers: Object.fromEntries(
        Object.entries(request.headers).flatMap(([name, value]) =>
          handedOn.test(name) ? [[name, String(value)]] : [],
        ),
      ),
      body,
    }).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
    if (answer instanceof Error) return refuse(response, 502, "stage-away", answer.message);
    response.writeHead(answer.status, [...answer.headers].filter(([name]) => !keptHere.has(name)).flat());
    if (answer.body === null) return void response.end();
    await pipeline(Readable.fromWeb(answer.body), response);
  }
}

async function read(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > bodyBytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function refuse(response: ServerResponse, status: number, code: string, detail: string): void {
  const body = { type: `urn:belfry:problem:${code}`, title: "Proxy", status, code, detail };
  response
    .writeHead(status, {
      "content-type": "application/problem+json",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    })
    .end(JSON.stringify(body));
}

/**
 * The user of the other end of a connection of this machine. Null: the system does not say. Undefined: its program has closed it, and
 * the table names root for such an end, of any user.
 */
export async function peerUser({ remotePort = 0, localPort = 0 }: Pick<Socket, "remotePort" | "localPort">) {
  const table = await readFile("/proc/net/tcp", "utf8").catch(() => null);
  if (table === null) return null;
  const end = (port: number): string => `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const ends = `${end(remotePort)} ${end(localPort)}`;
  const row = table.split("\n").find((line) => line.includes(ends));
  const [, , , , , , , uid, , inode] = row?.trim().split(/\s+/) ?? [];
  return uid === undefined || inode === "0" ? undefined : Number(uid);
}

/** Root may act for every user anyway: some systems hand the connections of a browser on under it. */
export async function isOtherUser(
  socket: Pick<Socket, "remotePort" | "localPort">,
  own = process.getuid?.(),
): Promise<boolean> {
  const peer = await peerUser(socket);
  return peer !== null && peer !== 0 && peer !== own;
}

function portTaken(port: number, error: unknown): CliError {
  const why = error instanceof Error && "code" in error ? String(error.code) : String(error);
  const advice = "name another one: --port 8080, or leave it out for a free one";
  return new CliError(exitCodes.failure, "port-taken", `port ${port} of this machine cannot be used (${why})`, [
    advice,
  ]);
}

/** Of an option. */
export function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new InvalidArgumentError("It must be a number from 0 to 65535.");
}
