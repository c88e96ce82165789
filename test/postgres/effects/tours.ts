import type { Tour } from "./tour.ts";
import { archiveLags } from "./tours/archive-lags.ts";
import { archive } from "./tours/archive.ts";
import { backfills } from "./tours/backfills.ts";
import { bounds } from "./tours/bounds.ts";
import { claimsOfSlots } from "./tours/claims-of-slots.ts";
import { claims } from "./tours/claims.ts";
import { daily } from "./tours/daily.ts";
import { days } from "./tours/days.ts";
import { ends } from "./tours/ends.ts";
import { figures } from "./tours/figures.ts";
import { handOffs } from "./tours/hand-offs.ts";
import { occurrences } from "./tours/occurrences.ts";
import { overview } from "./tours/overview.ts";
import { prematerialized } from "./tours/prematerialized.ts";
import { pruneLedger } from "./tours/prune-ledger.ts";
import { prunes } from "./tours/prunes.ts";
import { reads } from "./tours/reads.ts";
import { requeues } from "./tours/requeues.ts";
import { rescues } from "./tours/rescues.ts";
import { resumes } from "./tours/resumes.ts";
import { runEnds } from "./tours/run-ends.ts";
import { runs } from "./tours/runs.ts";
import { scheduleOutcomes } from "./tours/schedule-outcomes.ts";
import { schedules } from "./tours/schedules.ts";
import { search } from "./tours/search.ts";
import { server } from "./tours/server.ts";
import { steering } from "./tours/steering.ts";
import { stream } from "./tours/stream.ts";
import { waitings } from "./tours/waitings.ts";
import { walks } from "./tours/walks.ts";

export const tours: readonly Tour[] = [
  daily,
  walks,
  archive,
  archiveLags,
  days,
  figures,
  overview,
  reads,
  search,
  server,
  steering,
  stream,
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
  rescues,
  requeues,
  handOffs,
  claims,
  claimsOfSlots,
  ends,
  waitings,
  bounds,
];
