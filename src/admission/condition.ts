import { reasons } from "../machine/reasons.ts";
import type { CodeGate } from "./gate.ts";

/** A task's `when` and a fan-out's `stillWanted`: the worker evaluates them, since a running job cannot be skipped. */
export const conditionGate = {
  form: "code",
  name: "condition",
  refuses: {
    [reasons.notTaken]: {},
    [reasons.noLongerWanted]: {},
  },
} as const satisfies CodeGate;

/** Whether job j has no condition, or one that has passed. `passed`: a parameter, the ids of those. */
export const conditionPassed = (passed: string): string => `(not j.has_condition or j.id = any(${passed}::bigint[]))`;
