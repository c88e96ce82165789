import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { listening } from "./listening.ts";

export interface Reply {
  readonly status: number;
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Call {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The client's port: calls on one socket have the same. */
  readonly port: number;
}

export type Answer = Reply | null | ((request: IncomingMessage, response: ServerResponse) => void);

/** Answers each call with the next reply, and the last one for ever; null hangs up without an answer. */
export async function serve(...answers: Answer[]): Promise<{ url: string; calls: Call[] }> {
  const calls: Call[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const answer = answers[Math.min(calls.length, answers.length - 1)] ?? null;
      const { headers, socket } = request;
      calls.push({ headers, body: Buffer.concat(chunks).toString(), port: socket.remotePort ?? 0 });
      if (answer === null) socket.destroy();
      else if (typeof answer === "function") answer(request, response);
      else reply(response, answer);
    });
  });
  const url = `http://127.0.0.1:${await listening(server)}`;
  onTestFinished(() => server.closeAllConnections());
  return { url, calls };
}

export const reply = (response: ServerResponse, { status, body, headers }: Reply): void => {
  response.writeHead(status, { "content-type": "application/x-amz-json-1.0", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
};
