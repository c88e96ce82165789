import { type Column, column, DataTable, ErrorText, JobBadge, JobLink, Nothing, Time } from "../parts/index.ts";
import { addresses } from "../address.ts";
import { currentTime } from "../clock.ts";
import { RunStatus } from "../runs/status.tsx";
import type { OccurrenceListReply } from "../../api/shape/schedule-outcome.ts";
import { squareClass } from "./squares.tsx";
import { words } from "../language/words.ts";
import { reasonText } from "../language/spoken.ts";

export type OccurrenceReply = OccurrenceListReply["occurrences"][number];

const names = { ...words.labels, ...words.occurrences.columns };

const columns: readonly Column<OccurrenceReply>[] = [
  column.text(names.for, "nominalAt", {
    cell: ({ nominalAt, timezone }) => <Time at={nominalAt} zone={timezone} />,
  }),
  {
    name: names.decision,
    cell: ({ outcome, jobId, end }) => (
      <span class="state">
        <i class={squareClass({ outcome, job: jobId, result: end?.result ?? null })} />
        {words.occurrences.decisions[outcome]}
      </span>
    ),
  },
  { name: names.why, class: "dim", cell: ({ reason, end }) => reasonText(reason ?? end?.reason ?? null) },
  column.duration(names.lateness, "latenessMs"),
  { name: names.job, cell: ({ jobId }) => (jobId === null ? <Nothing /> : <JobLink id={jobId} />) },
  { name: names.ended, cell: ({ jobId, end }) => (jobId === null ? <Nothing /> : <EndBadge end={end} />) },
  column.duration(names.took, ({ end }) => end?.tookMs ?? null),
  {
    name: names.error,
    class: "cut dim broad",
    title: ({ end }) => end?.error?.message ?? undefined,
    cell: ({ end }) => (end?.error == null ? null : <ErrorText {...end.error} />),
  },
];

/** Every nominal time has one row, with its decision and its end. Those planned and still to come are among the next times. */
export function OccurrenceTable({ occurrences }: { readonly occurrences: readonly OccurrenceReply[] }) {
  const past = occurrences.filter(
    ({ outcome, nominalAt }) => outcome !== "PLANNED" || Date.parse(nominalAt) <= currentTime(),
  );
  if (past.length === 0) return <p class="card-empty">{words.occurrences.noneCame}</p>;
  const idOf = ({ localTime, fold, timezone }: OccurrenceReply): string => `${localTime}${fold}${timezone}`;
  return <DataTable label={words.occurrences.past} columns={columns} rows={past} idOf={idOf} />;
}

/** The state of the run, if the job started one, else the job's. */
function EndBadge({ end }: Pick<OccurrenceReply, "end">) {
  if (end === null) return <span class="dim">{words.occurrences.ends.unknown}</span>;
  if (end.run !== null) {
    return (
      <a class="state-link" href={addresses.run(end.run.id)}>
        <RunStatus state={end.run.state} />
      </a>
    );
  }
  const { state, phase } = end;
  return state === null || phase === null ? <Nothing /> : <JobBadge job={{ state, phase }} />;
}
