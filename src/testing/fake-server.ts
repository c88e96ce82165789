import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a fake server answers. @beta */
export interface FakeAnswer {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

/** What a fake server was asked. @beta */
export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** What was sent: its JSON, or its text where it is none. */
  readonly body: unknown;
}

/** An outside service of a test, on this machine. @beta */
export interface FakeServer extends AsyncDisposable {
  readonly url: string;
  /** In the order in which they came. */
  readonly requests: readonly FakeRequest[];
}

/** Answers each request by the next answer, and every further one by the last; a function looks at the request. @beta */
export async function fakeServer(
  ...answers: readonly (FakeAnswer | ((request: FakeRequest) => FakeAnswer))[]
): Promise<FakeServer> {
  const requests: FakeRequest[] = [];
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await requestOf(incoming);
    const next = answers[Math.min(requests.push(request), answers.length) - 1] ?? {};
    const { status = 200, headers = {}, body = "" } = typeof next === "function" ? next(request) : next;
    response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));
  };
  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((error: Error) => response.destroy(error));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function requestOf(incoming: IncomingMessage): Promise<FakeRequest> {
  const text = Buffer.concat(await incoming.toArray()).toString();
  const { method = "", url: path = "", headers } = incoming;
  try {
    return { method, path, headers, body: JSON.parse(text) as unknown };
  } catch {
    return { method, path, headers, body: text };
  }
}
