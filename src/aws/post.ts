import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { urlToHttpOptions } from "node:url";

const socketsMax = 50;
const connectMsMax = 2_000;
/** Ten messages of 1 MiB in all, when JSON escapes each byte of them. */
const answerBytesMax = 8 * 1024 * 1024;

export interface Post {
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
  /** From the call to the last byte of the answer. */
  readonly msMax: number;
  readonly signal?: AbortSignal | undefined;
}

export interface PostAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Poster {
  /** @throws Error when there is no whole answer: of the socket, `TimeoutError`, `AbortError`, or over the bound in bytes. */
  post(what: Post): Promise<PostAnswer>;
  /** Closes every socket; a post under way fails. */
  close(): void;
}

export function createPoster(url: URL): Poster {
  const isSecure = url.protocol === "https:";
  // An import of `node:http` reads each of its exports, and one of them loads all of `fetch`: 6 MB and 40 ms of a start.
  const { Agent, request: send } = process.getBuiltinModule(isSecure ? "node:https" : "node:http");
  const agent = new Agent({ keepAlive: true, maxSockets: socketsMax });
  const target = { ...urlToHttpOptions(url), method: "POST", agent };
  return {
    post: ({ headers, body, msMax, signal }) =>
      new Promise((resolve, reject) => {
        const options = { ...target, headers: { ...headers, "content-length": body.length }, signal };
        const request = send(options);
        const giveUp = (error: Error): void => {
          reject(error);
          request.destroy();
        };
        const after = (ms: number, what: string): NodeJS.Timeout =>
          setTimeout(() => giveUp(timeoutError(`${url.host} ${what} within ${ms} ms`)), ms);
        const late = after(msMax, "did not answer");
        request.on("close", () => clearTimeout(late)).on("error", reject);
        request.on("socket", (socket) => {
          if (!socket.connecting) return;
          const unconnected = after(connectMsMax, "could not be connected to");
          const stop = (): void => clearTimeout(unconnected);
          socket.once(isSecure ? "secureConnect" : "connect", stop).once("close", stop);
        });
        request.on("response", (response) => {
          const chunks: Buffer[] = [];
          let bytes = 0;
          response.on("data", (chunk: Buffer) => {
            bytes += chunk.length;
            chunks.push(chunk);
            if (bytes > answerBytesMax) giveUp(new Error(`${url.host} answered more than ${answerBytesMax} bytes`));
          });
          response.on("error", reject).on("end", () => {
            const { statusCode: status = 0, headers: answered } = response;
            resolve({ status, headers: answered, text: Buffer.concat(chunks).toString() });
          });
        });
        request.end(body);
      }),
    close: () => agent.destroy(),
  };
}

/** The name by which the SDK's rules know that a call may be repeated. */
const timeoutError = (message: string): Error => Object.assign(new Error(message), { name: "TimeoutError" });
