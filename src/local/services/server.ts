import { once } from "node:events";
import type { Server } from "node:net";
import type { IncomingMessage, RequestListener, Server as HttpServer } from "node:http";
import { isLocalHost } from "../../api/guard.ts";

/** A part that listens on loopback. */
export interface LocalServer {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Listens on loopback only; port 0 takes a free one.
 * @throws Error that names the port when it is taken.
 */
export async function listenOnLoopback(server: Server, port: number, what: string): Promise<number> {
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (cause) {
    throw portProblem(cause, port, what);
  }
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error(`${what} has no port`);
  return address.port;
}

export function portProblem(cause: unknown, port: number, what: string): Error {
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== "EADDRINUSE" && code !== "EACCES") return cause instanceof Error ? cause : new Error(String(cause));
  const why = code === "EADDRINUSE" ? "is taken by another program" : "may not be used by this user";
  return new Error(`port ${port} for ${what} ${why}: choose another with --port, or leave it out for a free one`, {
    cause,
  });
}

/**
 * Lets a fake of an AWS service answer the programs of this machine alone. It checks no signature, so a web page could read and
 * write it: browsers send `Origin` or `Sec-Fetch-Site`, and a name that was pointed at this machine stands in `Host`.
 */
export function onlyPrograms(server: HttpServer): void {
  const listeners = server.listeners("request") as RequestListener[];
  server.removeAllListeners("request");
  server.on("request", (request, response) => {
    if (isOfProgram(request)) return listeners.forEach((listen) => listen.call(server, request, response));
    request.resume();
    response.writeHead(403, { "content-type": "text/plain", connection: "close" });
    response.end("this service answers only programs of this machine\n");
  });
}

const isOfProgram = ({ headers }: IncomingMessage): boolean =>
  isLocalHost(headers.host) && headers.origin === undefined && headers["sec-fetch-site"] === undefined;
