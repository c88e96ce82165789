import { setTimeout as wait } from "node:timers/promises";
import type { BulkReply } from "../api/shape/bulk.ts";
import type { CreatedJobReply, JobDetailReply, JobListReply } from "../api/shape/job.ts";
import type {
  DeletedScheduleReply,
  ExplainedTimesReply,
  ExpressionReply,
  HealthReply,
  NextTimesReply,
  ScheduleDetailReply,
  ScheduleReply,
  TriggeredReply,
} from "../api/shape/schedule.ts";
import type { OccurrenceListReply, ScheduleOutcomeListReply } from "../api/shape/schedule-outcome.ts";
import { CliError, type ExitCode, exitCodes } from "./exit.ts";
import type { UpcomingReply } from "../api/shape/upcoming.ts";

export interface JobRequest {
  readonly kind: string;
  readonly payload?: unknown;
  readonly key?: string | undefined;
  readonly delay?: string | undefined;
  readonly dueAt?: string | undefined;
}

type Query = Readonly<Record<string, string | undefined>>;

const timeoutMs = 15_000;

/** An id in a path: whatever was typed stays one part of it. @throws CliError for what a URL takes for another place. */
export function part(text: string): string {
  if (!/^\.{0,2}$/.test(text)) return encodeURIComponent(text);
  throw new CliError(exitCodes.usage, "bad-id", `${JSON.stringify(text)} is no id: write the one that list shows`);
}

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  /** JSON. */
  readonly body?: string;
}

/** Makes one request of the API. */
export type Send = (request: ApiRequest) => Promise<Response>;

export const plainly =
  (url: string): Send =>
  ({ method, path, body }) => {
    const write = body === undefined ? {} : { body, headers: { "content-type": "application/json" } };
    return fetch(new URL(path, url), { method, signal: AbortSignal.timeout(timeoutMs), ...write });
  };

const reloadMsMax = 15_000;
const lookMs = 200;

/** A local system replaces its API after a save: a refused connection sent nothing, so it is tried again while the system runs. */
export function patiently(send: Send, isRunning: () => boolean): Send {
  const again = async (request: ApiRequest, giveUp: number): Promise<Response> => {
    try {
      return await send(request);
    } catch (error) {
      const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
      if (cause?.code !== "ECONNREFUSED" || performance.now() > giveUp || !isRunning()) throw error;
      await wait(lookMs);
      return await again(request, giveUp);
    }
  };
  return (request) => again(request, performance.now() + reloadMsMax);
}

/**
 * Speaks to the HTTP API and to nothing else. @throws CliError for every answer that is not 2xx, and for none.
 * @param url its address, or its name in messages where `send` knows the way.
 */
export function apiClient(url: string, send: Send = plainly(url)) {
  const calls: Calls = {
    read: (path, query = {}) => call({ url, send }, "GET", `${path}${queryOf(query)}`),
    write: (path, body = {}) => call({ url, send }, "POST", path, body),
    change: (method, path, body) => call({ url, send }, method, path, body),
  };
  const { read, write, change } = calls;
  const at = (id: string): string => `/jobs/${part(id)}`;
  return {
    url,
    /** Any answer of the API, by its path. */
    get: read,
    post: write,
    put: <T>(path: string, body: object) => change<T>("PUT", path, body),
    enqueue: (job: JobRequest) => write<CreatedJobReply>("/jobs", job),
    job: (id: string) => read<JobDetailReply>(at(id)),
    jobs: (filter: Query) => read<JobListReply>("/jobs", filter),
    schedule: scheduleClient(calls),
    cancel: (id: string) => write<JobDetailReply>(`${at(id)}/cancel`),
    /** A bulk action when much of its run goes along. */
    retry: (id: string) => write<JobDetailReply | BulkReply>(`${at(id)}/retry`),
    runNow: (id: string) => write<JobDetailReply>(`${at(id)}/run-now`),
    health: () => read<HealthReply>("/health"),
  };
}

export type ApiClient = ReturnType<typeof apiClient>;
export type ScheduleClient = ApiClient["schedule"];

interface Calls {
  readonly read: <T>(path: string, query?: Query) => Promise<T>;
  readonly write: <T>(path: string, body?: object) => Promise<T>;
  readonly change: <T>(method: "PUT" | "DELETE", path: string, body: object) => Promise<T>;
}

/** The API's part under `/schedules`; ids travel encoded. */
function scheduleClient({ read, write, change }: Calls) {
  const at = (id: string): string => `/schedules/${part(id)}`;
  return {
    list: (page: Query) => read<ScheduleOutcomeListReply>("/schedule-outcomes", page),
    show: (id: string) => read<ScheduleDetailReply>(at(id)),
    create: (schedule: object) => write<ScheduleReply>("/schedules", schedule),
    update: (id: string, schedule: object) => change<ScheduleReply>("PUT", at(id), schedule),
    remove: (id: string) => change<DeletedScheduleReply>("DELETE", at(id), {}),
    pause: (id: string, how: object) => write<ScheduleReply>(`${at(id)}/pause`, how),
    resume: (id: string) => write<ScheduleReply>(`${at(id)}/resume`),
    trigger: (id: string, key?: string) => write<TriggeredReply>(`${at(id)}/trigger`, { key }),
    next: (id: string, query: Query) => read<NextTimesReply>(`${at(id)}/next`, query),
    history: (id: string, query: Query) => read<OccurrenceListReply>(`${at(id)}/occurrences`, query),
    explain: (id: string, time: string) => read<ExplainedTimesReply>(`${at(id)}/explain`, { time }),
    preview: (query: Query) => read<ExpressionReply>("/preview", query),
    upcoming: (query: Query) => read<UpcomingReply>("/upcoming", query),
  };
}

function queryOf(values: Query): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, value);
  return query.size === 0 ? "" : `?${query.toString()}`;
}

async function call<T>(
  { url, send }: { readonly url: string; readonly send: Send },
  method: ApiRequest["method"],
  path: string,
  body?: unknown,
): Promise<T> {
  const request = { method, path, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const response = await send(request).catch((error: unknown) => {
    throw error instanceof CliError ? error : unreachable(url, error);
  });
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer as T;
  throw refused(response.status, url, answer);
}

function unreachable(url: string, error: unknown): CliError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const why = cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : String(cause);
  return new CliError(exitCodes.failure, "not-running", `Belfry does not answer at ${url} (${why})`, [
    "is it running? Start it in another terminal: npm start",
    "what is wrong with it: npx belfry doctor --local",
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
  const message = problem.detail ?? `${url} answered ${status} without saying why: is it a Belfry API?`;
  const details = (problem.errors ?? []).map(({ path, message: rule }) => `${path}: ${rule}`);
  const shown = details.length > 1 ? details : [];
  // Only where the log says more than the answer does.
  const traced = status >= 500 && problem.requestId !== undefined ? [`request id: ${problem.requestId}`] : [];
  return new CliError(code, problem.code ?? `http-${status}`, message, [...shown, ...traced]);
}
