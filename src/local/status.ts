import { openConnections } from "../postgres/connect.ts";
import { createDatabase } from "../postgres/database.ts";
import { insightLimits } from "../insight/insight-limits.ts";
import { secondMs } from "../machine/units.ts";
import { schedulerLock } from "../schedule/pass.ts";
import { findJobs } from "../insight/find-jobs.ts";
import type { JobRow } from "../insight/job.ts";
import { depthOf, type Live, readLive } from "../insight/live.ts";
import { readPassed } from "../insight/locks.ts";
import { readLastHour } from "../insight/minutes.ts";

/** How the jobs of the running system are, for the live line. */
export interface Status {
  readonly live: Live;
  /** Jobs that ended in the last hour, by the roll-up. */
  readonly ended: { readonly succeeded: number; readonly failed: number };
  /** The newest job seen that succeeded or failed. */
  readonly last: JobRow | null;
  /** The age of the scheduler's last pass in milliseconds; null before the first one. */
  readonly passAgeMs: number | null;
}

/** Reads the status on one connection of its own. */
export function statusReader(databaseUrl: string): { read(): Promise<Status>; close(): Promise<void> } {
  const connections = openConnections({ url: databaseUrl, applicationName: "belfry status" });
  const insight = createDatabase(connections);
  let last: JobRow | null = null;
  return {
    async read() {
      // Only the newest few: a search for an ended job would read all jobs that are not due yet.
      const [live, [hour], newest, [pass]] = await Promise.all([
        readLive(insight),
        insight.run(readLastHour, null),
        findJobs(insight, { search: {}, sort: "newest", cursor: null, limit: newestMax }),
        insight.run(readPassed, schedulerLock),
      ]);
      last = newest.jobs.find(({ state }) => state === "SUCCESS" || state === "FAILED") ?? last;
      return { live, ended: hour ?? { succeeded: 0, failed: 0 }, last, passAgeMs: pass?.ageMs ?? null };
    },
    close: () => connections.close(),
  };
}

const newestMax = 20;

/** For example `2 scheduled ahead  3 waiting  1 running  128 succeeded  |  last: hello 4711 SUCCESS`; what ended is of the last hour. */
export function statusLine({ live, ended, last, passAgeMs }: Status): string {
  const { scheduled, waiting, running, held } = depthOf(live.counts);
  const more = live.cut.length > 0 ? "+" : "";
  const groups: readonly (readonly [number, string])[] = [
    [scheduled, `${more} scheduled ahead`],
    [waiting, `${more} waiting`],
    [running, `${more} running`],
    [held.slot + held.paused + held.predecessors, `${more} held`],
    [ended.succeeded, " succeeded"],
    [ended.failed, " failed"],
  ];
  const parts = groups.flatMap(([jobs, what]) => (jobs > 0 ? [`${jobs}${what}`] : []));
  const isLate = passAgeMs !== null && passAgeMs > insightLimits.passAgeMsMax;
  const silence = isLate ? `no pass for ${Math.round(passAgeMs / secondMs)} s  |  ` : "";
  const jobs = `${silence}${parts.length === 0 ? "no jobs yet" : parts.join("  ")}`;
  if (last === null) return jobs;
  const error = last.error === null ? "" : ` (${last.error.code})`;
  return `${jobs}  |  last: ${last.kind} ${last.id} ${last.state}${error}`;
}
