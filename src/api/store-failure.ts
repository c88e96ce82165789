import { codeOf, DatabaseError, DatabaseUnavailable, isLockTimeout, isRetryable } from "../postgres/failure.ts";
import { UnknownOutcome } from "../machine/transaction.ts";
import { HttpProblem } from "./problem.ts";

/** Long enough for a failover to begin, and short after a mere restart. */
export const retryAfter = { headers: { "retry-after": "2" } };

/** Whether the store did not answer: another call would only wait too. */
export const storeDoesNotAnswer = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable || error instanceof UnknownOutcome || isOutOfService(error);

export interface Sent {
  readonly isWrite: boolean;
  /** Of a write that takes one; null: it came without. */
  readonly key?: string | null;
}

/**
 * The answer when the store failed: whether to send the request again. Null for other errors. A read whose connection broke
 * has changed nothing; a write may have.
 */
export function problemOfStore(error: unknown, { isWrite, key }: Sent): HttpProblem | null {
  if (error instanceof UnknownOutcome && isWrite) {
    const detail = `the connection to the database broke during the write, so it may have happened: ${howToRepeat(key)}`;
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

/** How to go on after a write whose outcome is not known. */
export const howToRepeat = (key?: string | null): string => {
  if (key === undefined) return "look before you send it again";
  return key === null
    ? "it came without a key, so look before you send it again, or it may happen twice"
    : "send it again with the same key, and it happens once";
};

/** Resources are used up, the server starts or stops, or it has become a reader after a failover. */
const isOutOfService = (error: unknown): boolean =>
  error instanceof DatabaseError && /^(53...|57P0[1-5]|57014|25006)$/.test(error.code);
