import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Json } from "../core/job/job.ts";

/** One thing that is wrong with a request. `path` is the field (`payload.to`, `?limit`, `header host`). */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

/** A request that is answered with a problem document (RFC 9457). Throw it anywhere in a route. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly status: ContentfulStatusCode;
  /** Stable, for programs: `unknown-kind`, `key-conflict`. */
  readonly code: string;
  readonly issues: readonly Issue[];
  /** Further members of the document. */
  readonly extra: Readonly<Record<string, Json>>;
  constructor(
    status: ContentfulStatusCode,
    code: string,
    detail: string,
    more: { issues?: readonly Issue[]; extra?: Readonly<Record<string, Json>> } = {},
  ) {
    super(detail);
    this.status = status;
    this.code = code;
    this.issues = more.issues ?? [];
    this.extra = more.extra ?? {};
  }
}

const titles: Readonly<Record<number, string>> = {
  400: "Bad request",
  403: "Forbidden",
  404: "Not found",
  405: "Method not allowed",
  409: "Conflict",
  413: "Too large",
  415: "Unsupported media type",
  422: "Not acceptable as it is",
  500: "Internal error",
  503: "Not available",
};

/** Writes the document. Only what the problem itself says leaves the process: no stack, no SQL, no cause. */
export function answerProblem(c: Context, problem: Problem): Response {
  const body = {
    type: `urn:belfry:problem:${problem.code}`,
    title: titles[problem.status] ?? "Error",
    status: problem.status,
    code: problem.code,
    detail: problem.message,
    ...(problem.issues.length > 0 ? { errors: problem.issues } : {}),
    ...problem.extra,
  };
  return c.body(JSON.stringify(body), problem.status, { "content-type": "application/problem+json" });
}
