import { openConnections } from "../../adapters/postgres/connect.ts";
import { createPostgresStore } from "../../adapters/postgres/store.ts";
import { workerPrefix } from "../../adapters/worker-process.ts";

/** Gives back what the workers had claimed whose process ended: their jobs need not wait for the end of a lease. */
export interface DeadWorkers {
  ended(lane: string, pid: number): void;
  close(): Promise<void>;
}

/** @param onProblem gets the error when the leases could not be ended; they end by themselves then. */
export function createDeadWorkers(databaseUrl: string, onProblem: (error: unknown) => void): DeadWorkers {
  const connections = openConnections({ url: databaseUrl, applicationName: "belfry dead workers" });
  const store = createPostgresStore(connections);
  return {
    ended: (lane, pid) => void store.endLeases(workerPrefix(lane, pid)).catch(onProblem),
    close: () => connections.close(),
  };
}
