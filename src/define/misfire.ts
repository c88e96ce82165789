import type { CatchUp, SchedulePolicies } from "./schedule-policy.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { ProblemList } from "./problem.ts";
import type { Misfire } from "../machine/schedule.ts";
import { readChoice, readCount, readDuration } from "./setting.ts";

/** `latest` unless said otherwise; `all` catches up everything, a second apart. */
export function readMisfire(misfire: SchedulePolicies["misfire"], problems: ProblemList): Misfire {
  if (typeof misfire === "object") return { rule: "all", ...readCatchUp(misfire.all, problems) };
  const rule = readChoice(problems, "misfire", misfire, { choices: ["skip", "latest", "all"], fallback: "latest" });
  return { rule, maxAgeMs: null, maxCount: null, paceMs: contractLimits.catchUpPaceMsDefault };
}

function readCatchUp({ maxAge, maxCount, pace }: CatchUp, problems: ProblemList): Omit<Misfire, "rule"> {
  const age = { min: 1, max: contractLimits.misfireAgeMsMax, fallback: null };
  const paces = { min: 1, max: contractLimits.misfireAgeMsMax, fallback: contractLimits.catchUpPaceMsDefault };
  return {
    maxAgeMs: readDuration(problems, "misfire.all.maxAge", maxAge, age),
    maxCount: readCount(problems, "misfire.all.maxCount", maxCount, {
      min: 1,
      max: contractLimits.misfireCountMax,
      fallback: null,
    }),
    paceMs: readDuration(problems, "misfire.all.pace", pace, paces),
  };
}
