import { writeSync } from "node:fs";
import type { CrashPoint } from "../machine/ports.ts";

/** Where, at which passing, and how to end: `relay.sent:2` kills at the second, `claimed:1:stop` freezes at the first. */
export interface CrashPlan {
  readonly name: string;
  readonly ordinal: number;
  readonly how: "kill" | "stop";
}

/** @returns null when the text is not a plan. Several are separated by commas. */
export function parseCrashPlans(text: string): readonly CrashPlan[] | null {
  const plans = text.split(",").map((each) => {
    const [name, ordinal = "1", how = "kill", ...rest] = each.trim().split(":");
    if (!name || !/^[1-9]\d{0,5}$/.test(ordinal) || (how !== "kill" && how !== "stop") || rest.length > 0) return null;
    return { name, ordinal: Number(ordinal), how } satisfies CrashPlan;
  });
  return plans.includes(null) ? null : plans.filter((plan) => plan !== null);
}

/**
 * A point at which a test ends the process. `kill` is SIGKILL: nothing runs after it. `stop` is SIGSTOP: SIGCONT resumes the
 * process.
 */
export function createCrashPoint(plans: readonly CrashPlan[]): CrashPoint {
  const passed = new Map<string, number>();
  return async (name) => {
    const ordinal = (passed.get(name) ?? 0) + 1;
    passed.set(name, ordinal);
    const plan = plans.find((each) => each.name === name && each.ordinal === ordinal);
    if (plan === undefined) return;
    writeSync(2, `crash point ${name}:${ordinal}:${plan.how}\n`);
    process.kill(process.pid, plan.how === "kill" ? "SIGKILL" : "SIGSTOP");
    // The signal may arrive a moment later; not one more step may happen before it does.
    if (plan.how === "kill") await new Promise(() => {});
  };
}
