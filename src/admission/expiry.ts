import { reasons } from "../machine/reasons.ts";
import type { StateGate } from "./gate.ts";

/** No attempt of a job starts after its expiry. */
export const expiryGate = {
  form: "state",
  name: "expiry",
  refuses: {
    [reasons.expired]: {
      when: `m.expires_at <= belfry.now()`,
      later: "its startDeadline passed before its next attempt",
      time: ({ deadline, again }) => [
        `its job had not started ${deadline}`,
        `see what its lane's workers were doing, or give it a longer startDeadline; ${again}`,
      ],
    },
  },
} as const satisfies StateGate;
