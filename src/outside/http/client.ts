import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { AmbiguousError, httpError, PermanentError, RetryLater } from "../../define/errors.ts";
import { checkPayloadNow } from "../../define/payload.ts";
import { type FromEnvironment, outsideAddress } from "../outside-address.ts";
import { openedTracing } from "../tracing.ts";

export interface HttpClientOptions {
  /**
   * Paths of requests are resolved against it. `{ env: "BANK_URL" }` is read at each request, so a client may be made
   * where definitions are, before the variable is set.
   */
  readonly baseUrl: string | URL | FromEnvironment;
  /** Milliseconds for the look-up of the name and the connection, TLS included. */
  readonly connectMs?: number;
  /** Milliseconds from the connection to the first byte of the answer: sending and waiting together. */
  readonly headersMs?: number;
  /** Milliseconds of silence in the middle of the answer. */
  readonly silenceMs?: number;
  /** Milliseconds for everything; a server that sends one byte a second is cut off here. */
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
  /** What the schema makes of it. @throws RetryLater naming each wrong field; TypeError for an asynchronous schema. */
  json<S extends StandardSchemaV1>(schema: S): StandardSchemaV1.InferOutput<S>;
}

export interface HttpClient {
  /**
   * One request without retries: the job is what retries. Redirects are not followed.
   * @throws PermanentError or RetryLater (`httpError`) for an answer that is not 2xx.
   * @throws RetryLater when the server cannot have acted: no connection was made, or the request only reads.
   * @throws AmbiguousError when the request may have been acted on and its answer did not arrive.
   * @throws the signal's reason when the handler must stop.
   */
  send(request: HttpRequest): Promise<HttpAnswer>;
}

const defaults = {
  connectMs: 5_000,
  headersMs: 10_000,
  silenceMs: 10_000,
  totalMs: 30_000,
  answerBytesMax: 10 * 1024 * 1024,
};

/** Of an answer that is not 2xx: enough to see what the service said. */
const refusalBytesMax = 2_000;

type Settings = Required<Omit<HttpClientOptions, "headers">> & Pick<HttpClientOptions, "headers">;

export function httpClient(options: HttpClientOptions): HttpClient {
  const settings: Settings = { ...defaults, ...options };
  return {
    send: (request) =>
      clientSpan(request, settings, async () => {
        request.signal.throwIfAborted();
        const patience = new Patience(settings);
        const progress: Progress = { isConnected: false };
        try {
          const signal = AbortSignal.any([request.signal, patience.signal]);
          const response = await exchange(request, settings, { patience, progress, signal });
          const status = response.statusCode ?? 0;
          if (status < 200 || status > 299) throw await refusal(response, patience);
          return answer(response, await readBody(response, settings.answerBytesMax, patience));
        } catch (error) {
          throw converted(error, request, progress, patience.signal);
        } finally {
          patience.end();
        }
      }),
  };
}

/** With the caller's trace in its head, where the process traces. */
function clientSpan(request: HttpRequest, { baseUrl }: Settings, work: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
  const tracing = openedTracing();
  if (tracing === null) return work();
  const method = request.method ?? "GET";
  const attributes = { "http.request.method": method, "server.address": new URL(outsideAddress(baseUrl)).hostname };
  return tracing.span({ name: method, kind: "client", attributes }, work);
}

/** Bounds each step, and all of them together. */
class Patience {
  readonly #controller = new AbortController();
  readonly #settings: Settings;
  readonly #total: NodeJS.Timeout;
  #current: NodeJS.Timeout;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#total = this.#start("no complete answer", settings.totalMs);
    this.#current = this.#start("no connection", settings.connectMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  connected(): void {
    this.#waitFor("no answer", this.#settings.headersMs);
  }

  /** A part of the answer has arrived. */
  heard(): void {
    this.#waitFor("nothing more of the answer", this.#settings.silenceMs);
  }

  end(): void {
    clearTimeout(this.#total);
    clearTimeout(this.#current);
  }

  #waitFor(what: string, ms: number): void {
    clearTimeout(this.#current);
    this.#current = this.#start(what, ms);
  }

  #start(what: string, ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#controller.abort(new Error(`${what} within ${ms} ms`)), ms);
  }
}

/** Before a connection is made, nothing can have been sent. */
interface Progress {
  isConnected: boolean;
}

/** Sends the request. @returns the answer when its head has arrived, before its body. */
function exchange(
  request: HttpRequest,
  settings: Settings,
  { patience, progress, signal }: { patience: Patience; progress: Progress; signal: AbortSignal },
): Promise<IncomingMessage> {
  const url = new URL(request.path, outsideAddress(settings.baseUrl));
  const body = request.json === undefined ? undefined : JSON.stringify(request.json);
  const method = request.method ?? "GET";
  const headers = Object.fromEntries(headersOf(request, settings.headers, body));
  return new Promise((resolve, reject) => {
    // An import of `node:http` loads all of `fetch` (6 MB), also where no handler sends a request.
    const { request: begin } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
    const call = begin(url, { method, headers, signal });
    call.once("error", reject);
    call.once("response", (response) => {
      patience.heard();
      resolve(response);
    });
    whenConnected(call, url.protocol === "https:" ? "secureConnect" : "connect", () => {
      progress.isConnected = true;
      patience.connected();
    });
    call.end(body);
  });
}

function whenConnected(call: ClientRequest, event: "connect" | "secureConnect", run: () => void): void {
  call.once("socket", (socket: Socket) => {
    // A connection that an earlier request left open is connected already.
    if (call.reusedSocket) run();
    else socket.once(event, run);
  });
}

function headersOf(request: HttpRequest, common: HttpClientOptions["headers"], body: string | undefined): Headers {
  const headers = new Headers(common);
  // One by one: members of an object that differ in case alone would be joined.
  for (const [name, value] of Object.entries(request.headers ?? {})) headers.set(name, value);
  const parent = openedTracing()?.parent() ?? null;
  if (parent !== null) headers.set("traceparent", parent);
  if (request.idempotencyKey !== undefined) headers.set("idempotency-key", request.idempotencyKey);
  if (body === undefined) return headers;
  headers.set("content-type", "application/json");
  headers.set("content-length", String(Buffer.byteLength(body)));
  return headers;
}

async function refusal(response: IncomingMessage, patience: Patience): Promise<Error> {
  const { statusCode = 0, statusMessage = "" } = response;
  const body = await beginning(response, patience);
  return httpError({ status: statusCode, statusText: statusMessage, headers: headersFrom(response) }, body);
}

/** For people. The status is what counts, so a body that does not come is left out. */
async function beginning(response: IncomingMessage, patience: Patience): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      patience.heard();
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes >= refusalBytesMax) break;
    }
  } catch {
    // What came before it broke off is shown.
  }
  response.destroy();
  return bytes === 0 ? null : new TextDecoder().decode(Buffer.concat(chunks).subarray(0, refusalBytesMax));
}

async function readBody(response: IncomingMessage, bytesMax: number, patience: Patience): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    patience.heard();
    bytes += chunk.byteLength;
    if (bytes > bytesMax) {
      throw new PermanentError(`the answer is longer than ${bytesMax} bytes`, { code: "HTTP_ANSWER_TOO_LONG" });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const headersFrom = (response: IncomingMessage): Headers =>
  new Headers(Object.entries(response.headersDistinct).map(([name, values = []]) => [name, values.join(", ")]));

function answer(response: IncomingMessage, body: Uint8Array): HttpAnswer {
  const text = (): string => new TextDecoder().decode(body);
  return {
    status: response.statusCode ?? 0,
    headers: headersFrom(response),
    body,
    text,
    json: (schema?: StandardSchemaV1) => (schema === undefined ? parsed(text()) : shaped(parsed(text()), schema)),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new RetryLater("the answer is not JSON", { code: "HTTP_NOT_JSON", cause });
  }
}

function shaped(value: unknown, schema: StandardSchemaV1): unknown {
  const checked = checkPayloadNow(schema, value);
  if (checked === null) throw new TypeError("the schema of an answer must be synchronous");
  if (checked.ok) return checked.value;
  const wrong = checked.issues.map(({ path, message }) => `${path || "the whole"}: ${message}`).join("; ");
  throw new RetryLater(`the answer is not what was expected: ${wrong}`, { code: "HTTP_UNEXPECTED" });
}

function converted(error: unknown, request: HttpRequest, { isConnected }: Progress, timeout: AbortSignal): unknown {
  if (error instanceof PermanentError || error instanceof RetryLater) return error;
  if (request.signal.aborted) return request.signal.reason;
  const reason = timeout.aborted ? (timeout.reason as Error).message : textOf(error);
  const options = { code: timeout.aborted ? "HTTP_TIMEOUT" : "HTTP_NETWORK", cause: error };
  const message = `${request.method ?? "GET"} ${request.path}: ${reason}`;
  const reads = request.method === undefined || request.method === "GET" || request.method === "HEAD";
  return reads || !isConnected ? new RetryLater(message, options) : new AmbiguousError(message, options);
}

/** When several addresses fail, Node throws an AggregateError without a message. */
function textOf(error: unknown): string {
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  return String(error);
}
