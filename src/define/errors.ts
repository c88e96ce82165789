import { type Duration, durationMs } from "../calendar/duration.ts";
import type { Json } from "../machine/job.ts";

/** The same for every copy of Belfry in the process. */
const errorBrand: unique symbol = Symbol.for("belfry.error@1");

/** Thrown by a handler: no retry. The job becomes FAILED at once. */
export class PermanentError extends Error {
  override readonly name = "PermanentError";
  readonly code: string;
  constructor(message: string, options: { code?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = options.code ?? "PERMANENT";
  }
}

/** Thrown by a handler: retry after `after`, or by the definition's backoff. */
export class RetryLater extends Error {
  override readonly name = "RetryLater";
  readonly code: string;
  readonly afterMs: number | null;
  constructor(message: string, options: { after?: Duration; code?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = options.code ?? "RETRY_LATER";
    this.afterMs = options.after === undefined ? null : durationMs("after", options.after);
  }
}

/** Thrown by a handler or client: the call was sent and its result is unknown. `onAmbiguous` decides. */
export class AmbiguousError extends Error {
  override readonly name = "AmbiguousError";
  readonly code: string;
  constructor(message: string, options: { code?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = options.code ?? "AMBIGUOUS";
  }
}

/** Thrown by `ctx.limit`: the rate has no room in the time of this attempt. Uncaught, the job is tried again at `at` and loses no attempt. */
export class RateLimited extends Error {
  override readonly name = "RateLimited";
  readonly code = "RATE_LIMITED";
  /** When the limit may have room. */
  readonly at: Date;
  /** @internal */
  readonly afterMs: number;
  constructor(limit: string, atMs: number, afterMs: number) {
    const at = new Date(atMs);
    super(`limit ${limit} has no room before ${at.toISOString()}`);
    this.at = at;
    this.afterMs = afterMs;
  }
}

/** The payload does not fit the schema of its definition. */
export class InvalidPayload extends Error {
  override readonly name = "InvalidPayload";
  readonly issues: readonly { readonly path: string; readonly message: string }[];
  constructor(kind: string, issues: readonly { path: string; message: string }[]) {
    super(`payload of "${kind}" is invalid: ${issues.map((i) => `${i.path || "(root)"}: ${i.message}`).join("; ")}`);
    this.issues = issues;
  }
}

/** The key exists with another payload, or another key has its hash: one of 1e19 pairs. It says nothing of either payload: who may not see one could compare guesses. */
export class KeyConflict extends Error {
  override readonly name = "KeyConflict";
  readonly detail: Json;
  constructor(kind: string, key: string, jobId: string) {
    super(
      `key "${key}" of "${kind}" already belongs to job ${jobId} with another payload, or its place in the index has another key: ` +
        "use another key, or enqueue the same payload",
    );
    this.detail = { jobId };
  }
}

const own = { PermanentError, RetryLater, AmbiguousError, RateLimited, InvalidPayload, KeyConflict };

// `instanceof` also recognizes the errors of another copy of Belfry; a class that extends one of these keeps the usual check.
for (const [name, type] of Object.entries(own)) {
  Object.defineProperty(type.prototype, errorBrand, { value: name });
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: object, value: unknown) {
      if (this !== type) return Function.prototype[Symbol.hasInstance].call(this, value);
      return typeof value === "object" && value !== null && (value as Branded)[errorBrand] === name;
    },
  });
}

interface Branded {
  readonly [errorBrand]?: string;
}

const retryableStatuses = new Set([408, 425, 429]);

/**
 * The error of an HTTP answer: 408, 425, 429 and 5xx are retried (`Retry-After` in seconds is honoured);
 * every other status is permanent. The code is `HTTP_<status>`. The beginning of `body` is kept with the failed attempt.
 */
export function httpError(
  response: {
    readonly status: number;
    readonly statusText?: string;
    readonly headers?: { get(name: string): string | null };
  },
  body: string | null = null,
): PermanentError | RetryLater {
  const { status } = response;
  const message = `HTTP ${status}${response.statusText ? ` ${response.statusText}` : ""}`;
  const code = `HTTP_${status}`;
  const seen = { response: { status, body } };
  if (!retryableStatuses.has(status) && status < 500) return Object.assign(new PermanentError(message, { code }), seen);
  const afterMs = retryAfterMs(response.headers?.get("retry-after") ?? null);
  return Object.assign(new RetryLater(message, afterMs === null ? { code } : { code, after: `${afterMs}ms` }), seen);
}

/** Seconds only: a date would need a wall clock. */
function retryAfterMs(header: string | null): number | null {
  if (header === null || !/^\d{1,6}$/.test(header.trim())) return null;
  return Number(header.trim()) * 1_000;
}
