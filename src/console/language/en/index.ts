import { reasonTexts } from "../../../machine/reason-texts.ts";
import { waitHints, type WaitText, waitTexts } from "../../../machine/wait-texts.ts";
import { enChange } from "./change.ts";
import { enSchedules } from "./schedules.ts";
import { enShared } from "./shared.ts";
import { enSystem } from "./system.ts";
import { enWork } from "./work.ts";

/** All texts of the page. The compiler holds every language to the same members. */
export const english = {
  reasons: reasonTexts,
  /** Of a time; null: as the API says it. */
  verdicts: null as Readonly<Record<string, string>> | null,
  waitHints,
  waits: waitTexts as Readonly<Record<WaitText, string>>,
  ...enShared,
  ...enChange,
  ...enSchedules,
  ...enSystem,
  ...enWork,
};
export type Words = typeof english;
