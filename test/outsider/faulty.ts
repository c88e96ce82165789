import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { buffer } from "node:stream/consumers";
import { listenOnLoopback } from "../../src/local/services/server.ts";
import type { Planted } from "./check.ts";
import type { Target } from "./world.ts";

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface Given {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How a server is made wrong: by an answer of its own, or by what it changes in one. */
export interface Fault {
  before?(sent: Sent): { readonly status: number; readonly body: object } | null;
  after?(given: Given, sent: Sent): Given;
  /** Headers of the request that the server behind never sees. */
  readonly hides?: readonly string[];
  /** Headers that the server behind sees instead. */
  readonly adds?: Readonly<Record<string, string>>;
}

/** The target behind a server with one fault. */
export async function faultyServer(target: Target, { before, after, hides = [], adds = {} }: Fault): Promise<Planted> {
  const server = createServer((request, response) => {
    const sent: Sent = { method: request.method ?? "", path: request.url ?? "", headers: request.headers };
    void (async () => {
      const own = before?.(sent) ?? null;
      if (own !== null) {
        response.writeHead(own.status, { "content-type": "application/problem+json" }).end(JSON.stringify(own.body));
        return;
      }
      const content = await buffer(request);
      const headers = Object.fromEntries(
        Object.entries(request.headers).flatMap(([name, value]) => {
          if (["host", "connection", "content-length", "transfer-encoding", "accept-encoding", ...hides].includes(name))
            return [];
          return [[name, String(value)]];
        }),
      );
      const body = content.length === 0 ? {} : { body: new Uint8Array(content) };
      const aborter = new AbortController();
      response.once("close", () => aborter.abort());
      const how = {
        method: sent.method,
        headers: { ...headers, ...adds },
        ...body,
        redirect: "manual",
        signal: aborter.signal,
      } as const;
      const answer = await fetch(`${target.url}${sent.path}`, how);
      const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
      const plain = {
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        body: isStream ? ": open\n\n" : await answer.text(),
      };
      const { status, headers: shown, body: text } = after?.(plain, sent) ?? plain;
      const { "content-length": _, "content-encoding": __, "transfer-encoding": ___, ...rest } = shown;
      response.writeHead(status, rest).end(text);
    })().catch(() => response.destroy());
  });
  const { url, close } = await served(server);
  return { target: { ...target, url }, close };
}

/** On loopback. A client that is cut off is no failure of this server. */
export async function served(server: Server): Promise<{ url: string; port: number; close(): void }> {
  server.on("connection", (socket) => socket.on("error", () => {}));
  const port = await listenOnLoopback(server, 0, "a server of the outsider");
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, port, close };
}
