import { openConnections } from "../adapters/postgres/connect.ts";
import { createOperations } from "../adapters/postgres/operations.ts";
import { createPostgresStore } from "../adapters/postgres/store.ts";
import type { JobView } from "../core/job/job.ts";
import { operationsLimits } from "../core/ports/operations-limits.ts";
import type { JobCounts } from "../core/ports/store.ts";
import { secondMs } from "../core/job/units.ts";
import { schedulerLock } from "../core/scheduler/pass.ts";
import { states } from "../core/job/state.ts";

/** How the jobs of the running system are, for the live line. */
export interface Status {
  readonly counts: JobCounts;
  /** The newest job seen that succeeded or failed. */
  readonly last: JobView | null;
  /** The age of the scheduler's last pass in milliseconds; null before the first one. */
  readonly passAgeMs: number | null;
}

/** Reads the status through the store, on one connection of its own. */
export function statusReader(databaseUrl: string): { read(): Promise<Status>; close(): Promise<void> } {
  const connections = openConnections({ url: databaseUrl, applicationName: "belfry status" });
  const store = createPostgresStore(connections);
  const operations = createOperations(connections);
  let last: JobView | null = null;
  return {
    async read() {
      // Only the newest few: a search for an ended job would read all jobs that are not due yet.
      const [counts, newest, pass] = await Promise.all([
        store.counts(),
        store.jobs({ limit: newestMax }),
        operations.lastPass(schedulerLock),
      ]);
      last = newest.find(({ state }) => state === "SUCCESS" || state === "FAILED") ?? last;
      return { counts, last, passAgeMs: pass?.ageMs ?? null };
    },
    close: () => connections.close(),
  };
}

const newestMax = 20;

/** For example `2 scheduled ahead  3 queued  1 running  1000+ success  |  last: hello 4711 SUCCESS`. */
export function statusLine({ counts, last, passAgeMs }: Status): string {
  const { notYetDue, PENDING, QUEUED, RETRY_WAIT, ...others } = counts;
  const groups: readonly (readonly [string, number])[] = [
    ["scheduled ahead", notYetDue],
    ["queued", Math.max(0, PENDING + QUEUED + RETRY_WAIT - notYetDue)],
    ...states.flatMap((state) => (state in others ? [[state.toLowerCase(), counts[state]] as const] : [])),
  ];
  const shown = groups
    .filter(([, n]) => n > 0)
    .map(([name, n]) => `${n}${n >= operationsLimits.countedRowsMax ? "+" : ""} ${name}`);
  const isLate = passAgeMs !== null && passAgeMs > operationsLimits.passAgeMsMax;
  const silence = isLate ? `no pass for ${Math.round(passAgeMs / secondMs)} s  |  ` : "";
  const jobs = `${silence}${shown.length === 0 ? "no jobs yet" : shown.join("  ")}`;
  if (last === null) return jobs;
  const error = last.errorCode === null ? "" : ` (${last.errorCode})`;
  return `${jobs}  |  last: ${last.kind} ${last.id} ${last.state}${error}`;
}
