import { hostname } from "node:os";
import { openSdk } from "../../aws/sdk.ts";
import { openConnections } from "../../postgres/connect.ts";
import { createPostgresStore } from "../../postgres/store.ts";
import { workerPrefix } from "../../compose/worker-process.ts";
import { scheduleLock } from "../../schedule/run-schedule.ts";

/** Gives back at once what a process held that ended: nothing need wait for the end of its leases. */
export interface DeadWorkers {
  /** A worker of a lane. The cause is a sentence for the attempts that ended with it. */
  ended(lane: string, pid: number, cause: string): void;
  /** The process of a schedule's rule: also its lock. */
  ruleEnded(schedule: string, pid: number, cause: string): void;
  /** A worker lives and stands still: its attempts have this cause if their leases lapse. */
  still(lane: string, pid: number, cause: string): void;
  close(): Promise<void>;
}

/** @param onProblem gets the error when something could not be given back; it ends by itself then. */
export function createDeadWorkers(
  env: Readonly<Record<string, string>>,
  lockTable: string,
  onProblem: (error: unknown) => void,
): DeadWorkers {
  const connections = openConnections({ url: env["DATABASE_URL"] ?? "", applicationName: "belfry dead workers" });
  const store = createPostgresStore(connections);
  const sdk = openSdk({
    region: env["AWS_REGION"] ?? "us-east-1",
    dynamodbEndpoint: env["AWS_ENDPOINT_URL_DYNAMODB"] ?? null,
    sqsEndpoint: null,
  });
  const locks = sdk.locks(env["BELFRY_LOCK_TABLE"] ?? lockTable);
  const releaseLock = async (name: string, owner: string): Promise<void> => {
    const item = await locks.read(name);
    if (item?.owner?.startsWith(owner) === true) await locks.release(name, item.owner, item.fence);
  };
  const calls = new Set<Promise<void>>();
  const follow = (call: Promise<void>): void => {
    const done = call.catch(onProblem).finally(() => calls.delete(done));
    calls.add(done);
  };
  return {
    ended: (lane, pid, cause) => follow(store.endLeases(workerPrefix(lane, pid), cause)),
    still: (lane, pid, cause) => follow(store.noteCause(workerPrefix(lane, pid), cause)),
    ruleEnded(schedule, pid, cause) {
      follow(store.endLeases(workerPrefix(`schedule:${schedule}`, pid), cause));
      follow(releaseLock(scheduleLock(schedule), `${hostname()}:${pid}:`));
    },
    async close() {
      await Promise.all(calls);
      sdk.destroy();
      await connections.close();
    },
  };
}
