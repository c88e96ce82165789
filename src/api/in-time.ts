import { HttpProblem } from "./problem.ts";
import { howToRepeat, retryAfter, type Sent } from "./store-failure.ts";
import { setTimeout as wait } from "node:timers/promises";
import type { Log } from "../machine/ports.ts";

/** So that a request is answered within 5 s also while the database stands still: most clients give up soon after. */
const answerMsDefault = 4_500;

/**
 * The answer, or after `ms` that the database did not give one. The work goes on: a write may still happen, and says so.
 * @throws HttpProblem 503
 */
export async function inTime(
  work: Promise<Response>,
  { ms = answerMsDefault, ...sent }: Sent & { readonly ms?: number | undefined },
): Promise<Response> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(lateProblem(ms / 1_000, sent));
  }, ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function lateProblem(seconds: number, { isWrite, key }: Sent): HttpProblem {
  const about = { ...retryAfter, cause: new Error(`no answer within ${seconds} s`) };
  const late = `there was no answer within ${seconds} s, most likely as the database does not give one`;
  return isWrite
    ? new HttpProblem("outcome-unknown", `${late}: the write may happen; ${howToRepeat(key)}`, about)
    : new HttpProblem("store-away", `${late}: nothing was changed; send it again in a few seconds`, about);
}

/** An answer does not wait longer for work that a pass of the scheduler would do as well. */
const answerMsMax = 1_000;

/** Goes on with work that was answered with 202; when this process ends first, a pass of the scheduler does the rest. */
export function inBackground(log: Log, what: string, work: () => Promise<unknown>): void {
  work().catch((error: unknown) => log.warn(`${what} stopped here; the next pass goes on with it`, { error }));
}

/** Whether work ends in a second. If not, it goes on as above. @throws what it throws until then. */
export async function endsSoon(log: Log, what: string, work: Promise<unknown>): Promise<boolean> {
  const waited = new AbortController();
  const late = wait(answerMsMax, false, { signal: waited.signal }).catch(() => false);
  const ended = await Promise.race([work.then(() => true), late]).finally(() => waited.abort());
  if (!ended) inBackground(log, what, () => work);
  return ended;
}
