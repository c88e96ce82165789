import { reasons } from "../machine/reasons.ts";
import type { StateGate } from "./gate.ts";

/** Nothing of a run starts after its end. */
export const runEndGate = {
  form: "state",
  name: "run-end",
  refuses: {
    [reasons.runCanceled]: {
      when: `r.state <> 'RUNNING'`,
      canceledBy: `r.canceled_by`,
    },
    [reasons.runStopped]: {
      when: `r.stopped`,
    },
  },
} as const satisfies StateGate;

/**
 * Whether job j has no run, or one in which it may start: open, and no schedule may take it back. A scalar, since an `exists` is
 * planned as a hash of all open runs.
 */
export const isInOpenRun = `(j.run_id is null or (
  select r.state = 'RUNNING' and not r.stopped and r.prematerialized_by is null from belfry.run r where r.id = j.run_id))`;
