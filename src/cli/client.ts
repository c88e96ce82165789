import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import type { Endpoint } from "../api/endpoint.ts";
import type { OperationName, ReplyOf } from "../api/api.ts";
import { CliError, type ExitCode, exitCodes, wrongUsage } from "./exit.ts";
import { operationNamed, type Values } from "./query-options.ts";

export type { ReplyOf };

const timeoutMs = 15_000;

/** An id in a path: whatever was typed stays one part of it. @throws CliError for what a URL takes for another place. */
function part(text: string): string {
  if (!/^\.{0,2}$/.test(text)) return encodeURIComponent(text);
  throw wrongUsage("bad-id", `${JSON.stringify(text)} is no id: write the one that list shows`);
}

export interface ApiRequest {
  readonly method: Endpoint["method"];
  readonly path: string;
  readonly body?: string;
}

/** Makes one request of the API. What it answers is the part of a `Response` that is read. */
export type Send = (request: ApiRequest) => Promise<Pick<Response, "ok" | "status" | "json">>;

/**
 * A local system keeps its port while it replaces its API after a save, so nothing is tried again here. Without `fetch`, which
 * costs a command as much time as all of its other modules; an import of `node:http` reads all of its exports, and loads it too.
 */
const plainly =
  (url: string): Send =>
  async ({ method, path, body }) => {
    const to = new URL(path, url);
    const { request } = process.getBuiltinModule(to.protocol === "https:" ? "node:https" : "node:http");
    // Without its length the body of a DELETE would be read as the next request.
    const length = Buffer.byteLength(body ?? "");
    const headers = body === undefined ? {} : { "content-type": "application/json", "content-length": length };
    const sent = request(to, { method, headers, signal: AbortSignal.timeout(timeoutMs) }).end(body);
    // Of a body that stops half way: reading it says so.
    sent.on("error", () => undefined);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    const { statusCode: status = 0 } = response;
    return { ok: status >= 200 && status < 300, status, json: () => json(response) };
  };

export interface ApiClient {
  readonly url: string;
  /**
   * One operation of the API. Of `values` those that its path names go there, encoded; the others are its query.
   * @throws CliError for every answer that is not 2xx, and for none.
   */
  call<N extends OperationName>(name: N, values?: Values, body?: object): Promise<ReplyOf<N>>;
  /** Any request. @throws likewise */
  request<T>(request: ApiRequest): Promise<T>;
}

/** Speaks to the HTTP API and to nothing else. @param url its address, or its name in messages where `send` knows the way. */
export function apiClient(url: string, send: Send = plainly(url)): ApiClient {
  return {
    url,
    async call(name, values, body = {}) {
      const { method, path } = operationNamed(name);
      const to = addressOf(path, values ?? {});
      return await this.request({ method, path: to, ...(method === "GET" ? {} : { body: JSON.stringify(body) }) });
    },
    request: (request) => call(url, send, request),
  };
}

function addressOf(path: string, values: Values): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && !path.split("/").includes(`:${name}`)) query.set(name, value);
  }
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => part(values[name] ?? ""));
  return query.size === 0 ? filled : `${filled}?${query.toString()}`;
}

async function call<T>(url: string, send: Send, request: ApiRequest): Promise<T> {
  const response = await send(request).catch((error: unknown) => {
    throw error instanceof CliError ? error : unreachable(url, error);
  });
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer as T;
  throw refused(response.status, url, answer);
}

interface Paged {
  readonly nextCursor: string | null;
}

/** The pages of a list, as large as they may be, up to a bound: `last` then has a cursor. */
export async function pagesOf<P extends Paged>(read: (page: Values) => Promise<P>, pagesMax: number) {
  const limit = "500";
  let last = await read({ limit });
  const pages = [last];
  while (last.nextCursor !== null && pages.length < pagesMax) {
    last = await read({ limit, cursor: last.nextCursor });
    pages.push(last);
  }
  return { pages, last };
}

function unreachable(url: string, error: unknown): CliError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const isLate = cause instanceof Error && cause.name === "TimeoutError";
  if (isLate)
    return new CliError(exitCodes.failure, "no-answer", `${url} did not answer in time`, [
      "what was to be changed may have been: look before you repeat it",
    ]);
  const said = cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : String(cause);
  return new CliError(exitCodes.failure, "not-running", `Belfry does not answer at ${url} (${said})`, [
    "is it running? Start it in another terminal: npm start",
    "what is wrong with it: npx belfry doctor",
  ]);
}

const codeOfStatus: Readonly<Record<number, ExitCode>> = {
  400: exitCodes.usage,
  401: exitCodes.auth,
  403: exitCodes.auth,
  404: exitCodes.notFound,
  409: exitCodes.conflict,
  413: exitCodes.usage,
  422: exitCodes.usage,
};

function refused(status: number, url: string, answer: unknown): CliError {
  const problem = (typeof answer === "object" && answer !== null ? answer : {}) as {
    code?: string;
    detail?: string;
    errors?: readonly { path: string; message: string }[];
    requestId?: string;
  };
  // A server that is no Belfry, or an older one, misses more than the thing that was asked for.
  const isOther = problem.code === undefined || problem.code === "no-such-route";
  const code = status === 404 && isOther ? exitCodes.failure : (codeOfStatus[status] ?? exitCodes.failure);
  const isElsewhere = status >= 300 && status < 400;
  const message =
    problem.detail ??
    (isElsewhere
      ? `${url} sends its callers to another address (${status}): use that one`
      : `${url} answered ${status} without saying why: is it a Belfry API?`);
  const details = (problem.errors ?? []).map(({ path, message: rule }) => `${path}: ${rule}`);
  const shown = details.length > 1 ? details : [];
  // Only where the log says more than the answer does.
  const traced = status >= 500 && problem.requestId !== undefined ? [`request id: ${problem.requestId}`] : [];
  return new CliError(code, problem.code ?? `http-${status}`, message, [...shown, ...traced]);
}
