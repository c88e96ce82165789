import type { Store } from "../machine/store.ts";
import { batchStore } from "./batch-store.ts";
import { circuitStore } from "./circuit-store.ts";
import { claimStore, inRuns } from "./claim-store.ts";
import type { Connections } from "./connect.ts";
import { controlStore, laneStore } from "./control-store.ts";
import { enqueueStore } from "./enqueue-store.ts";
import { fenceStore } from "./fence-store.ts";
import { pruneStore } from "./prune-store.ts";
import { relayStore } from "./relay-store.ts";
import { rescueStore } from "./rescue-store.ts";
import { resolveStore } from "./resolve-store.ts";
import { runStore } from "./run-store.ts";
import { scheduleControlStore } from "./schedule-control-store.ts";
import { scheduleStore } from "./schedule-store.ts";
import { createSession, type SessionOptions, transaction } from "./session.ts";
import { settleStore } from "./settle-store.ts";
import { turnStore } from "./turn-store.ts";
import { readJob, readJobByKey } from "./sql/read.ts";
import { selectNow } from "./sql/transaction.ts";

/**
 * The store on Postgres 15 or later. Claim, heartbeat, settle and everything else short share `connections.main`;
 * `transaction` (that is, `ctx.tx`) has connections of its own, so that a long handler cannot starve a heartbeat.
 */
export function createPostgresStore(
  connections: Connections,
  options: SessionOptions & {
    /** Whether jobs, runs, occurrences, the audit, events and history leave by the archive alone. Default false. */
    readonly archives?: boolean;
  } = {},
): Store {
  const session = createSession(connections.main, connections.where, options);
  return {
    dispatchWindowMs: session.dispatchWindowMs,
    now: async () => (await session.run(selectNow))[0]?.now ?? 0,
    job: async (of) =>
      (await (typeof of === "string" ? session.run(readJob, [of]) : session.run(readJobByKey, [of.kind, of.key])))[0] ??
      null,
    ...enqueueStore(session),
    ...relayStore(session),
    ...claimStore(session),
    ...settleStore(session),
    ...rescueStore(session),
    ...controlStore(session),
    ...laneStore(session),
    ...circuitStore(session),
    ...scheduleStore(session),
    ...scheduleControlStore(session),
    ...fenceStore(session),
    ...pruneStore(session, options.archives ?? false),
    ...runStore(session),
    ...resolveStore(session),
    ...turnStore(session),
    ...batchStore(session),
    inRuns: (ids) => inRuns(session, ids),
    transaction: (work, options = {}) => transaction(connections.tx, connections.where, work, options),
  };
}
