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
