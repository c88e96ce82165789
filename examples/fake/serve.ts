import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { text } from "node:stream/consumers";

/** A request, as a fake looks at it. */
export interface Call {
  readonly path: string;
  /** Its `Idempotency-Key`; empty when it has none. */
  readonly key: string;
  /** From its JSON; null when it has no body. */
  readonly body: unknown;
}

/** `hang` answers never, `drop` ends the connection without an answer. */
export type Reply = "hang" | "drop" | Answer;

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: object | string;
  /** Characters of the body after which the connection ends. */
  readonly cutAfter?: number;
}

/** Serves HTTP, and reports its address as `variable`. */
export function serve(name: string, variable: string, replyTo: (call: Call) => Reply | Promise<Reply>): void {
  const server = createServer((request, response) => {
    void send(request, response, replyTo).catch(() => response.destroy());
  });
  listen(name, server, (place) => ({ [variable]: `http://${place}` }));
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  replyTo: (call: Call) => Reply | Promise<Reply>,
): Promise<void> {
  const sent = await text(request);
  const key = String(request.headers["idempotency-key"] ?? "");
  const reply = await replyTo({ path: request.url ?? "/", key, body: sent === "" ? null : JSON.parse(sent) });
  if (reply === "hang") return;
  if (reply === "drop") return void response.destroy();
  const { status, headers, body = "", cutAfter } = reply;
  const whole = typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(status, { "content-length": Buffer.byteLength(whole), ...headers });
  if (cutAfter === undefined) response.end(whole);
  else response.write(whole.slice(0, cutAfter), () => response.destroy());
}

/** Listens on `HOST` at its port of `PORTS`, reports its addresses to its starter (`examples/fake.ts`) and stops on SIGTERM. */
export function listen(name: string, server: Server, env: (place: string) => Readonly<Record<string, string>>): void {
  const host = process.env["HOST"] || "127.0.0.1";
  const ports = JSON.parse(process.env["PORTS"] || "{}") as Readonly<Record<string, number>>;
  server.listen(ports[name] ?? 0, host, () => {
    const { port } = server.address() as AddressInfo;
    console.log(JSON.stringify({ ready: name, env: env(`${host}:${port}`) }));
  });
  process.once("SIGTERM", () => process.exit(0));
}

/** The folder given by the starter. */
export function home(): string {
  const folder = process.env["FAKE_HOME"];
  if (!folder) throw new Error("FAKE_HOME is not set: name a folder for the ledger");
  return folder;
}
