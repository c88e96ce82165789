import { HttpProblem } from "./problem.ts";
import { retryAfter } from "./store-failure.ts";

/** So that each answer is there within 5 s, also while the database stands still: most clients give up soon after. */
const answerMsDefault = 4_500;

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
    late.reject(lateProblem(ms / 1_000, isWrite));
  }, ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function lateProblem(seconds: number, isWrite: boolean): HttpProblem {
  const cause = new Error(`no answer within ${seconds} s`);
  const late = `there was no answer within ${seconds} s, most likely as the database does not give one`;
  return isWrite
    ? new HttpProblem(
        "outcome-unknown",
        `${late}: the write may happen; send it again with the same key, or look first`,
        { ...retryAfter, cause },
      )
    : new HttpProblem("store-away", `${late}: nothing was changed; send it again in a few seconds`, {
        ...retryAfter,
        cause,
      });
}
