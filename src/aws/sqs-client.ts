import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { urlToHttpOptions } from "node:url";
import { setTimeout as wait } from "node:timers/promises";
import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { isThrottlingError, isTransientError } from "@smithy/core/retry";
import { Sha256Node } from "@smithy/core/checksum";
import { SignatureV4 } from "@smithy/signature-v4";
import { wallClockMs } from "../outside/clock.ts";
import { isLoopback } from "../outside/outside-address.ts";
import { type AwsSettings, localCredentials, serviceUrl } from "./address.ts";

/** Attempts of one call, throttled ones included. */
const attemptsMax = 5;
/** Without the wait of a long poll, which is added. */
const callMsMax = 10_000;
/** The SDK's standard mode: a wait is a random part of a base that doubles, and failures use up what successes give back. */
const retries = { waitMs: 50, throttledWaitMs: 1_000, waitMsMax: 20_000, tokensMax: 500, cost: 14, throttledCost: 5 };
/** A signature is refused when its time is 5 minutes off. */
const skewMsMin = 240_000;
const expired = ["ExpiredToken", "ExpiredTokenException"];

/** SQS refused a call; `name` is the service's code, for example `QueueDoesNotExist`. */
export class SqsError extends Error {
  /** In the shape that the SDK's rules of what to repeat read. */
  readonly $metadata: { readonly httpStatusCode: number; readonly requestId: string; clockSkewCorrected?: boolean };
  $retryable?: object;

  constructor(operation: string, { status, headers, text }: PostAnswer, refusal: Refusal | null) {
    const { __type: type } = refusal ?? {};
    const code = type?.split("#").at(-1) ?? "UnknownError";
    const message = refusal?.message ?? refusal?.Message ?? text.slice(0, 200);
    const requestId = String(headers["x-amzn-requestid"] ?? "unknown");
    super(`SQS answered ${operation} with ${status} ${code}: ${message} (request ${requestId})`);
    this.name = code;
    this.$metadata = { httpStatusCode: status, requestId };
  }
}

export type Credentials = ReturnType<typeof defaultProvider>;

export interface SqsClientOptions {
  readonly url: string;
  readonly region: string;
  readonly credentials: Credentials;
  /** Default: this machine's clock. */
  readonly wallClockMs?: () => number;
}

/**
 * The API of SQS in its JSON protocol. A call by the SDK costs two to three times the CPU, and sending is most of what a relay
 * does (decision 8).
 */
export class SqsClient {
  readonly #url: URL;
  readonly #poster: Poster;
  readonly #signer: SignatureV4;
  readonly #credentials: Credentials;
  readonly #closing = new AbortController();
  readonly #wallClockMs: () => number;
  #clockOffsetMs = 0;
  #retryTokens = retries.tokensMax;

  constructor({ url, region, credentials, wallClockMs: clock = wallClockMs }: SqsClientOptions) {
    this.#url = new URL(url);
    this.#poster = createPoster(this.#url);
    this.#credentials = credentials;
    this.#wallClockMs = clock;
    this.#signer = new SignatureV4({ service: "sqs", region, credentials, sha256: Sha256Node });
  }

  /**
   * @param operation by its name in the API, such as `SendMessageBatch`.
   * @throws SqsError when SQS refuses it, after five attempts where a repeat may help; Error when no answer came, and then the call may have been carried out.
   */
  async call<Output>(
    operation: string,
    input: Readonly<Record<string, unknown>>,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<Output> {
    const body = Buffer.from(JSON.stringify(input));
    const msMax = callMsMax + Number(input["WaitTimeSeconds"] ?? 0) * 1_000;
    for (let attempt = 1, lastCost = 1; ; attempt += 1) {
      try {
        const output = await this.#attempt(operation, { body, msMax, signal });
        this.#retryTokens = Math.min(this.#retryTokens + lastCost, retries.tokensMax);
        return output as Output;
      } catch (thrown) {
        const error = thrown as Parameters<typeof isTransientError>[0];
        if (attempt === attemptsMax || this.#closing.signal.aborted) throw error;
        const isThrottled = isThrottlingError(error);
        lastCost = isThrottled ? retries.throttledCost : retries.cost;
        if (!(isThrottled || isTransientError(error)) || this.#retryTokens < lastCost) throw error;
        this.#retryTokens -= lastCost;
        await this.#backOff(attempt, isThrottled, signal);
      }
    }
  }

  /** Calls under way fail. */
  destroy(): void {
    this.#closing.abort(new Error("the client of SQS is closed"));
    this.#poster.close();
  }

  #backOff(attempt: number, isThrottled: boolean, signal?: AbortSignal): Promise<void> {
    const base = isThrottled ? retries.throttledWaitMs : retries.waitMs;
    const ms = Math.random() * Math.min(base * 2 ** (attempt - 1), retries.waitMsMax);
    const either = signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]);
    return wait(ms, undefined, { signal: either });
  }

  async #attempt(
    operation: string,
    { body, msMax, signal }: { body: Buffer; msMax: number; signal?: AbortSignal | undefined },
  ): Promise<object> {
    const { protocol, hostname, host, pathname } = this.#url;
    const offsetMs = this.#clockOffsetMs;
    const named = { host, "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${operation}` };
    const { headers } = await this.#signer.sign(
      { method: "POST", protocol, hostname, path: pathname, query: {}, headers: named, body },
      { signingDate: new Date(this.#wallClockMs() + offsetMs) },
    );
    const answer = await this.#poster.post({ headers, body, msMax, signal });
    const output = objectIn(answer.text);
    if (answer.status < 300 && output !== null) return output;
    const error = new SqsError(operation, answer, output);
    this.#correctClock(error, offsetMs, answer.headers.date);
    if (expired.includes(error.name)) {
      await this.#credentials({ forceRefresh: true });
      error.$retryable = {};
    }
    throw error;
  }

  /** A machine whose clock is off signs by the service's from then on, and repeats the call. */
  #correctClock({ $metadata }: SqsError, signedOffsetMs: number, date = ""): void {
    const offsetMs = Date.parse(date) - this.#wallClockMs();
    if (Math.abs(offsetMs - signedOffsetMs) < skewMsMin || Number.isNaN(offsetMs)) return;
    this.#clockOffsetMs = offsetMs;
    $metadata.clockSkewCorrected = true;
  }
}

export function sqsClient({ sqsEndpoint, region, isDualStack = false }: AwsSettings): SqsClient {
  const url = sqsEndpoint ?? serviceUrl("sqs", region, isDualStack);
  const credentials = isLoopback(url) ? async () => localCredentials : defaultProvider({ clientConfig: { region } });
  return new SqsClient({ url, region, credentials });
}

/** Null when it is no JSON, as that of a proxy. An operation without output may answer nothing. */
function objectIn(text: string): Refusal | null {
  try {
    return JSON.parse(text === "" ? "{}" : text) as Refusal;
  } catch {
    return null;
  }
}

interface Refusal {
  readonly __type?: string;
  readonly message?: string;
  readonly Message?: string;
}

const socketsMax = 50;
const connectMsMax = 2_000;
/** Ten messages of 1 MiB in all, when JSON escapes each byte of them. */
const answerBytesMax = 8 * 1024 * 1024;

interface Post {
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
  /** From the call to the last byte of the answer. */
  readonly msMax: number;
  readonly signal?: AbortSignal | undefined;
}

interface PostAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Poster {
  /** @throws Error when there is no whole answer: of the socket, `TimeoutError`, `AbortError`, or over the bound in bytes. */
  post(what: Post): Promise<PostAnswer>;
  /** Closes every socket; a post under way fails. */
  close(): void;
}

function createPoster(url: URL): Poster {
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
