import { once } from "node:events";
import type { Server } from "node:net";

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
