import type { Tour } from "./tour.ts";
import { daily } from "./tours/daily.ts";
import { backfills } from "./tours/backfills.ts";
import { occurrences } from "./tours/occurrences.ts";
import { prematerialized } from "./tours/prematerialized.ts";
import { pruneLedger } from "./tours/prune-ledger.ts";
import { prunes } from "./tours/prunes.ts";
import { resumes } from "./tours/resumes.ts";
import { runEnds } from "./tours/run-ends.ts";
import { runs } from "./tours/runs.ts";
import { scheduleOutcomes } from "./tours/schedule-outcomes.ts";
import { schedules } from "./tours/schedules.ts";
import { walks } from "./tours/walks.ts";

export const tours: readonly Tour[] = [
  daily,
  walks,
  scheduleOutcomes,
  schedules,
  occurrences,
  backfills,
  prematerialized,
  runs,
  runEnds,
  resumes,
  prunes,
  pruneLedger,
];
