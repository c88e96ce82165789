import type { Log } from "../core/ports/ports.ts";

/** Goes on with work that was answered with 202; when this process ends first, a pass of the scheduler does the rest. */
export function inBackground(log: Log, what: string, work: () => Promise<unknown>): void {
  work().catch((error: unknown) => log.warn(`${what} stopped here; the next pass goes on with it`, { error }));
}
