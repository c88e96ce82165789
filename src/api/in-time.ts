import { UnknownOutcome } from "../core/ports/ports.ts";
import { problemOfStore } from "./store-failure.ts";

/** A request is answered in this time also while the database stands still: most clients give up soon after. */
const answerMsDefault = 5_000;

/**
 * The answer, or after `ms` that the database did not give one. The work goes on: a write may still happen, and says so.
 * @throws HttpProblem 503
 */
export async function inTime(
  work: Promise<Response>,
  { ms = answerMsDefault, isWrite }: { readonly ms?: number | undefined; readonly isWrite: boolean },
): Promise<Response> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const cause = new UnknownOutcome(`the database gave no answer within ${ms} ms`);
    late.reject(problemOfStore(cause, { isWrite }) ?? cause);
  }, ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
