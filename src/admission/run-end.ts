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
      job: "its run was canceled",
    },
    [reasons.runStopped]: {
      when: `r.stopped`,
      job: "a task of its run failed, and its run then starts nothing more",
    },
  },
} as const satisfies StateGate;
