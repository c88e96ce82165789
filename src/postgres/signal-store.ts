import type { JobId } from "../machine/job.ts";
import { reasons } from "../machine/reasons.ts";
import type { RunStore, Signaled } from "../machine/run.ts";
import { aftermathOf } from "./outbox.ts";
import type { Session } from "./session.ts";
import { redispatchNow, runNow } from "./sql/relay.ts";
import { type SignaledRow, writeSignal } from "./sql/signal.ts";
import { execute } from "./statement.ts";

export const signalStore = (session: Session) =>
  ({
    signal: (runId, name, { payload, caller = null }) =>
      session.transaction(async (tx) => {
        const [row] = await execute(tx, writeSignal, [runId, name, JSON.stringify(payload), caller]);
        if (row?.written !== true) return refused(row);
        const ids = [row.id];
        const rows = [
          ...(await execute(tx, runNow, [ids, caller, reasons.signal])),
          ...(await execute(tx, redispatchNow, [ids])),
        ];
        return { is: "taken", jobId: row.id as JobId, aftermath: aftermathOf(rows) };
      }),
  }) satisfies Partial<RunStore>;

function refused(row: SignaledRow | undefined): Signaled {
  if (row === undefined || !row.awaits_signal) return { is: "unknown" };
  const jobId = row.id as JobId;
  if (row.at !== null) return { is: row.same ? "repeated" : "conflict", jobId, at: row.at, by: row.by };
  return { is: "late", jobId, state: row.state, runState: row.run_state };
}
