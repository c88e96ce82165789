import type { Json } from "../machine/job.ts";
import { type ProblemCode, problemCodes, statusOf } from "./problem-codes.ts";
import { z } from "zod";

/** One thing that is wrong with a request. `path` is the field (`payload.to`, `?limit`, `header host`). */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

interface ProblemOptions {
  readonly issues?: readonly Issue[];
  readonly extra?: Readonly<Record<string, Json>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The kind whose stored payload its texts may quote. Left out: they quote at most what the caller sent. */
  readonly quotes?: string | null;
  readonly cause?: unknown;
}

/** A request that is answered with a problem document (RFC 9457). Throw it anywhere in a route. */
export class HttpProblem extends Error {
  override readonly name = "HttpProblem";
  readonly status: ReturnType<typeof statusOf>;
  readonly code: ProblemCode;
  readonly issues: readonly Issue[];
  readonly extra: Readonly<Record<string, Json>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly quotes: string | null;
  constructor(
    code: ProblemCode,
    detail: string,
    { issues = [], extra = {}, headers = {}, quotes = null, cause }: ProblemOptions = {},
  ) {
    super(detail, { cause });
    this.status = statusOf(code);
    this.code = code;
    this.issues = issues;
    this.extra = extra;
    this.headers = headers;
    this.quotes = quotes;
  }
}

export const fieldProblem = (code: ProblemCode, path: string, message: string): HttpProblem =>
  new HttpProblem(code, `${path}: ${message}`, { issues: [{ path, message }] });
export const invalidField = (path: string, message: string): HttpProblem =>
  fieldProblem("invalid-request", path, message);
export const invalidTime = (path: string, message: string): HttpProblem => fieldProblem("invalid-time", path, message);

export const unknownJob = (id: string): HttpProblem => new HttpProblem("unknown-job", `there is no job ${id}`);
export const unknownBulk = (id: string): HttpProblem =>
  new HttpProblem("unknown-bulk", `there is no bulk action ${id}`);
export const unknownRun = (id: string): HttpProblem =>
  new HttpProblem("unknown-run", `there is no run ${id}: npx belfry runs list shows them`);

const titles: Readonly<Record<HttpProblem["status"], string>> = {
  400: "Bad request",
  401: "Not signed in",
  403: "Forbidden",
  404: "Not found",
  405: "Method not allowed",
  406: "Not acceptable",
  408: "Too slow",
  409: "Conflict",
  412: "Precondition failed",
  413: "Too large",
  415: "Unsupported media type",
  422: "Not acceptable as it is",
  431: "Headers too large",
  500: "Internal error",
  503: "Not available",
};

export const documentOf = (problem: HttpProblem, requestId: string): Readonly<Record<string, unknown>> => ({
  type: `urn:belfry:problem:${problem.code}`,
  title: titles[problem.status],
  status: problem.status,
  code: problem.code,
  detail: problem.message,
  requestId,
  ...(problem.issues.length > 0 ? { errors: problem.issues } : {}),
  ...problem.extra,
});

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.enum(Object.keys(problemCodes) as [ProblemCode, ...ProblemCode[]]),
    detail: z.string(),
    requestId: z.string().describe("As in the header `x-request-id`, the audit and the log."),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .catchall(z.unknown())
  .meta({ id: "Problem" });
