import {
  codeOf,
  DatabaseError,
  DatabaseUnavailable,
  isLockTimeout,
  isRetryable,
} from "../adapters/postgres/failure.ts";
import { UnknownOutcome } from "../core/ports/ports.ts";
import { HttpProblem } from "./problem.ts";

/** Long enough for a failover to begin, and short after a mere restart. */
export const retryAfter = { headers: { "retry-after": "2" } };

/** Whether the store did not answer: another call would only wait too. */
export const storeDoesNotAnswer = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable || error instanceof UnknownOutcome || isOutOfService(error);

/**
 * The answer when the store failed: whether to send the request again. Null for other errors. A read whose connection broke
 * has changed nothing; a write may have.
 */
export function problemOfStore(error: unknown, request: { readonly isWrite: boolean }): HttpProblem | null {
  if (error instanceof UnknownOutcome && request.isWrite) {
    const detail =
      "the connection to the database broke during the write, so it may have happened: send it again with the same key, or look first";
    return new HttpProblem("outcome-unknown", detail, { ...retryAfter, cause: error });
  }
  if (codeOf(error) === "53100") {
    const detail = "the database's disk is full: nothing was changed; send it again when there is space";
    return new HttpProblem("store-full", detail, { ...retryAfter, cause: error });
  }
  if (storeDoesNotAnswer(error)) {
    const detail = "the database does not answer: nothing was changed; send it again in a few seconds";
    return new HttpProblem("store-away", detail, { ...retryAfter, cause: error });
  }
  if (isLockTimeout(error) || isRetryable(error)) {
    const detail = "another transaction holds what this request needs: nothing was changed; send it again";
    return new HttpProblem("store-busy", detail, { ...retryAfter, cause: error });
  }
  return null;
}

/** Resources are used up, the server starts or stops, or it has become a reader after a failover. */
const isOutOfService = (error: unknown): boolean =>
  error instanceof DatabaseError && /^(53...|57P0[1-5]|57014|25006)$/.test(error.code);
