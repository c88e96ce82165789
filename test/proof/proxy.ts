import { Agent, createServer, request as forward, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { listenOnLoopback } from "../../src/local/services/server.ts";
import { letPass } from "./until.ts";

/** One call of an AWS SDK client on its way to a service. */
export interface ProxiedCall {
  /** The operation, like `UpdateItem` or `SendMessageBatch`. */
  readonly operation: string;
  readonly body: string;
}

/** What the proxy does with a call. */
export type Verdict =
  | { readonly do: "pass"; readonly afterMs?: number }
  /** Answered by the proxy; the service never hears of it. */
  | { readonly do: "refuse"; readonly status: number; readonly body: object }
  /** The service does it, and the caller gets an error. */
  | { readonly do: "do-and-refuse"; readonly status: number; readonly body: object }
  /** Never answered; the service never hears of it. */
  | { readonly do: "hang" };

export interface Proxy {
  readonly url: string;
  /** From now on. */
  judge(verdict: (call: ProxiedCall) => Verdict): void;
  stop(): Promise<void>;
}

export const pass: Verdict = { do: "pass" };

/** What the services themselves answer when they are ill. */
export const illnesses = {
  broken: { status: 500, body: { __type: "com.amazonaws.dynamodb.v20120810#InternalServerError", message: "ill" } },
  throttled: {
    status: 400,
    body: {
      __type: "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
      message: "slow down",
    },
  },
} as const;

/** Stands in front of one service. The clients are the real ones; only their endpoint is the proxy's. */
export async function startProxy(target: string): Promise<Proxy> {
  let judge: (call: ProxiedCall) => Verdict = () => pass;
  const agent = new Agent({ keepAlive: true });
  const server = createServer((incoming, outgoing) => {
    void take(incoming).then(
      async (body) => {
        const verdict = judge({ operation: operationOf(incoming.headers), body });
        if (verdict.do === "hang") return;
        if (verdict.do === "pass" && verdict.afterMs !== undefined) await letPass(verdict.afterMs);
        const answer = verdict.do === "refuse" ? null : await passOn(target, agent, incoming, body);
        if (verdict.do === "pass") {
          outgoing.writeHead(answer?.status ?? 502, answer?.headers).end(answer?.body);
          return;
        }
        const type = { "content-type": "application/x-amz-json-1.0" };
        outgoing.writeHead(verdict.status, type).end(JSON.stringify(verdict.body));
      },
      () => outgoing.destroy(),
    );
  });
  const port = await listenOnLoopback(server, 0, "the proxy");
  return {
    url: `http://127.0.0.1:${port}`,
    judge(next) {
      judge = next;
    },
    async stop() {
      server.closeAllConnections();
      agent.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const operationOf = (headers: IncomingHttpHeaders): string =>
  String(headers["x-amz-target"] ?? "")
    .split(".")
    .at(-1) ?? "";

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

function passOn(target: string, agent: Agent, incoming: IncomingMessage, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { connection: _, "transfer-encoding": __, ...headers } = incoming.headers;
    const options = { method: incoming.method ?? "POST", agent, headers };
    const call = forward(new URL(incoming.url ?? "/", target), options, (response) => {
      void takeBytes(response).then((bytes) => {
        const { connection: _c, "keep-alive": _k, "transfer-encoding": _t, ...rest } = response.headers;
        resolve({ status: response.statusCode ?? 502, headers: rest, body: bytes });
      }, reject);
    });
    call.on("error", reject);
    call.end(body);
  });
}

const take = async (stream: IncomingMessage): Promise<string> => (await takeBytes(stream)).toString("utf8");

async function takeBytes(stream: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
