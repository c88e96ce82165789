import { koreanVerdicts } from "../../../insight/verdict-texts-ko.ts";
import { koreanReasonTexts } from "../../../machine/reason-texts-ko.ts";
import { koreanWaitHints, koreanWaitTexts } from "../../../machine/wait-texts-ko.ts";
import type { Words } from "../en/index.ts";
import { koChange } from "./change.ts";
import { koSchedules } from "./schedules.ts";
import { koShared } from "./shared.ts";
import { koSystem } from "./system.ts";
import { koWork } from "./work.ts";

export const korean: Words = {
  reasons: koreanReasonTexts,
  verdicts: koreanVerdicts,
  waitHints: koreanWaitHints,
  waits: koreanWaitTexts,
  ...koShared,
  ...koChange,
  ...koSchedules,
  ...koSystem,
  ...koWork,
};
