import { connect } from "../adapters/postgres/connect.ts";
import { createPostgresStore } from "../adapters/postgres/store.ts";
import type { JobView } from "../core/job.ts";
import { type State, states } from "../core/state.ts";

/** How the jobs of the running system are, for the live line. */
export interface Status {
  readonly counts: Readonly<Record<State, number>>;
  /** The newest job that succeeded or failed. */
  readonly last: JobView | null;
}

/** Reads the status through the store, on one connection of its own. */
export function statusReader(databaseUrl: string): { read(): Promise<Status>; close(): Promise<void> } {
  const connections = connect({ url: databaseUrl, applicationName: "belfry status" });
  const store = createPostgresStore(connections);
  return {
    async read() {
      const [counts, [last]] = await Promise.all([
        store.counts(),
        store.jobs({ states: ["SUCCESS", "FAILED"], limit: 1 }),
      ]);
      return { counts, last: last ?? null };
    },
    close: () => connections.close(),
  };
}

/** For example `3 queued  1 running  128 success  |  last: hello 4711 SUCCESS`. */
export function statusLine({ counts, last }: Status): string {
  const shown = states.filter((state) => counts[state] > 0).map((state) => `${counts[state]} ${state.toLowerCase()}`);
  const jobs = shown.length === 0 ? "no jobs yet" : shown.join("  ");
  if (last === null) return jobs;
  const error = last.errorCode === null ? "" : ` (${last.errorCode})`;
  return `${jobs}  |  last: ${last.kind} ${last.id} ${last.state}${error}`;
}
