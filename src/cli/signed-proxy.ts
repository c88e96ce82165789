import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";

export interface Forwarded {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const bodyBytesMax = 1_048_576;
const asked = ["accept", "content-type", "last-event-id"];
const answered = ["content-type", "cache-control", "location", "etag"];

/**
 * A server on loopback that hands each request on and the answer back as it arrives. It acts with the operator's own
 * rights, so only requests that name this very server, and come from no other site's page, are handed on.
 */
export async function startProxy(
  forward: (request: Forwarded) => Promise<Response>,
  port = 0,
): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const own = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${own}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (isForeign(request.headers)) return refuse(response, 403, "foreign-origin", "made for another site");
    const path = request.url ?? "/";
    // Also `//elsewhere` is a place of its own: what is signed must go to the stage and nowhere else.
    if (URL.parse(path, `http://127.0.0.1:${own}`)?.host !== `127.0.0.1:${own}`) {
      return refuse(response, 400, "bad-path", "the path must be one of this server");
    }
    const body = await read(request);
    if (body === null) return refuse(response, 413, "body-too-large", `the body is larger than ${bodyBytesMax} bytes`);
    const answer = await forward({
      method: request.method ?? "GET",
      path,
      headers: pick(asked, (name) => request.headers[name]?.toString()),
      body,
    }).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
    if (answer instanceof Error) return refuse(response, 502, "stage-away", answer.message);
    response.writeHead(
      answer.status,
      pick(answered, (name) => answer.headers.get(name) ?? undefined),
    );
    if (answer.body === null) return void response.end();
    await pipeline(Readable.fromWeb(answer.body), response);
  }
}

/** A name that was pointed at this machine, or a page of another site. */
function isForeign(headers: IncomingMessage["headers"]): boolean {
  const { host = "", origin } = headers;
  if (!/^(127\.0\.0\.1|localhost):\d{1,5}$/.test(host)) return true;
  if (headers["sec-fetch-site"] === "cross-site") return true;
  return origin !== undefined && origin !== `http://${host}`;
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
  response.writeHead(status, { "content-type": "application/problem+json" }).end(JSON.stringify(body));
}

const pick = (names: readonly string[], of: (name: string) => string | undefined): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = of(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
