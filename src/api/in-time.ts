import { setTimeout as wait } from "node:timers/promises";
import type { Log } from "../machine/ports.ts";

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
