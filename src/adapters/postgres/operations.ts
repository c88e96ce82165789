import type { Operations } from "../../core/ports/operations.ts";
import type { Connections } from "./connect.ts";
import { auditStore } from "./audit-store.ts";
import { overviewStore } from "./overview-store.ts";
import { readerStore } from "./reader-store.ts";
import { rollUpStore } from "./rollup-store.ts";
import { runMapStore } from "./run-map-store.ts";
import { scheduleOutcomeStore } from "./schedule-outcome-store.ts";
import { secrecyStore } from "./secrecy-store.ts";
import { searchStore } from "./search-store.ts";
import { createSession, type SessionOptions } from "./session.ts";
import { steerStore } from "./steer-store.ts";
import { streamStore } from "./stream-store.ts";

/** Searches and changes for operators, on the connections for short statements. */
export function createOperations(connections: Connections, options?: SessionOptions): Operations {
  const session = createSession(connections.main, connections.where, options);
  return {
    ...searchStore(session),
    ...overviewStore(session),
    ...rollUpStore(session),
    ...auditStore(session),
    ...streamStore(session),
    ...readerStore(session),
    ...steerStore(session),
    ...scheduleOutcomeStore(session),
    ...runMapStore(session),
    ...secrecyStore(session),
  };
}
