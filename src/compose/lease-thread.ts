/** The thread of `keepWhileStopped`: a breakpoint stops the thread of the handler, not this one. */
import { setTimeout as wait } from "node:timers/promises";
import { workerData } from "node:worker_threads";
import { openConnections } from "../postgres/connect.ts";
import { createPostgresStore } from "../postgres/store.ts";
import type { KeptWorker } from "./debugged.ts";

/** Several beats, and a fraction of the shortest lease. */
const lookMs = 2_000;

const { databaseUrl, worker, beats } = workerData as KeptWorker;
const store = createPostgresStore(openConnections({ url: databaseUrl, applicationName: "belfry debugger" }));
for (let seen = -1; ; await wait(lookMs)) {
  const now = Atomics.load(beats, 0);
  // The database may be away: the next look tries again.
  if (now === seen) await store.keepLeases(worker).catch(() => {});
  seen = now;
}
