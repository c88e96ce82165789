import { AmbiguousError, httpError, PermanentError, RetryLater } from "../../core/definitions/errors.ts";

export interface HttpClientOptions {
  /** Paths of requests are resolved against it. */
  readonly baseUrl: string | URL;
  /** Milliseconds until the first byte of the answer: name look-up, connecting, sending and waiting together. */
  readonly headersMs?: number;
  /** Milliseconds until the last byte of the answer; a server that sends one byte a second is cut off here. */
  readonly totalMs?: number;
  /** A longer answer is refused while it is read. */
  readonly answerBytesMax?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HttpRequest {
  readonly method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as `Idempotency-Key`: pass `ctx.effectKey("...")`, so that a repeat is recognized. */
  readonly idempotencyKey?: string;
  /** The handler's: `ctx.signal`. */
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
  text(): string;
  /** @throws RetryLater when it is not JSON: a proxy in between may have answered. */
  json(): unknown;
}

export interface HttpClient {
  /**
   * One request, no retries of its own: the job's retries are the retries. Redirects are not followed.
   * @throws PermanentError or RetryLater (`httpError`) for an answer that is not 2xx.
   * @throws RetryLater when nothing can have happened there: no connection, or a request that only reads.
   * @throws AmbiguousError when the request may have been acted on and its answer did not arrive.
   * @throws the signal's reason when the handler was told to stop.
   */
  send(request: HttpRequest): Promise<HttpAnswer>;
}

const defaults = { headersMs: 10_000, totalMs: 30_000, answerBytesMax: 10 * 1024 * 1024 };

export function httpClient(options: HttpClientOptions): HttpClient {
  const settings = { ...defaults, ...options };
  return {
    async send(request) {
      const timeouts = startTimeouts(settings);
      const signal = AbortSignal.any([request.signal, timeouts.signal]);
      try {
        const response = await fetch(new URL(request.path, settings.baseUrl), init(request, settings.headers, signal));
        timeouts.answered();
        if (!response.ok) {
          await response.body?.cancel().catch(() => {});
          throw httpError(response);
        }
        return answer(response, await readBody(response, settings.answerBytesMax));
      } catch (error) {
        throw converted(error, request, timeouts.signal);
      } finally {
        timeouts.stop();
      }
    },
  };
}

function init(request: HttpRequest, common: HttpClientOptions["headers"], signal: AbortSignal): RequestInit {
  const headers = new Headers({ ...common, ...request.headers });
  if (request.idempotencyKey !== undefined) headers.set("idempotency-key", request.idempotencyKey);
  if (request.json !== undefined) headers.set("content-type", "application/json");
  const body = request.json === undefined ? {} : { body: JSON.stringify(request.json) };
  return { method: request.method ?? "GET", headers, redirect: "manual", signal, ...body };
}

interface Timeouts {
  readonly signal: AbortSignal;
  /** The first byte is here: only the total counts from now on. */
  answered(): void;
  stop(): void;
}

function startTimeouts({ headersMs, totalMs }: { headersMs: number; totalMs: number }): Timeouts {
  const controller = new AbortController();
  const abort = (what: string, ms: number): void => controller.abort(new Error(`${what} within ${ms} ms`));
  const first = setTimeout(abort, headersMs, "no answer", headersMs);
  const last = setTimeout(abort, totalMs, "no complete answer", totalMs);
  return {
    signal: controller.signal,
    answered: () => clearTimeout(first),
    stop() {
      clearTimeout(first);
      clearTimeout(last);
    },
  };
}

async function readBody(response: Response, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) {
      throw new PermanentError(`the answer is longer than ${bytesMax} bytes`, { code: "HTTP_ANSWER_TOO_LONG" });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function answer(response: Response, body: Uint8Array): HttpAnswer {
  const text = (): string => new TextDecoder().decode(body);
  return {
    status: response.status,
    headers: response.headers,
    body,
    text,
    json() {
      try {
        return JSON.parse(text());
      } catch (cause) {
        throw new RetryLater("the answer is not JSON", { code: "HTTP_NOT_JSON", cause });
      }
    },
  };
}

/** Failures that come before the first byte of the request left. */
const notSent = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
]);

function converted(error: unknown, request: HttpRequest, timeout: AbortSignal): unknown {
  if (error instanceof PermanentError || error instanceof RetryLater) return error;
  if (request.signal.aborted) return request.signal.reason;
  const code = causeCode(error);
  const reason = timeout.aborted ? (timeout.reason as Error).message : (code ?? String(error));
  const options = { code: timeout.aborted ? "HTTP_TIMEOUT" : "HTTP_NETWORK", cause: error };
  const message = `${request.method ?? "GET"} ${request.path}: ${reason}`;
  const reads = request.method === undefined || request.method === "GET" || request.method === "HEAD";
  if (reads || (code !== null && notSent.has(code))) return new RetryLater(message, options);
  return new AmbiguousError(message, options);
}

/** `fetch` wraps what the socket said as the cause of a TypeError; several addresses tried make an AggregateError. */
function causeCode(error: unknown): string | null {
  const cause = error instanceof Error ? error.cause : undefined;
  if (typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string")
    return cause.code;
  return null;
}
