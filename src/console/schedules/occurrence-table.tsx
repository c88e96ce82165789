import { addresses } from "../address.ts";
import { currentTime } from "../clock.ts";
import { ScrollTable } from "../parts/scroll-table.tsx";
import { JobBadge } from "../parts/state-badge.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { Time } from "../parts/time.tsx";
import { RunStatus } from "../runs/status.tsx";
import type { OccurrenceReply } from "../client.ts";
import { durationText } from "../time.ts";
import { squareClass } from "./squares.tsx";
import { words } from "../language/words.ts";
import { reasonText } from "../language/spoken.ts";

const names = { ...words.labels, ...words.occurrences.columns };

const columns = [
  names.for,
  names.decision,
  names.why,
  { name: names.lateness, isNumber: true },
  names.job,
  names.ended,
  { name: names.took, isNumber: true },
  names.error,
];

/** Every nominal time has one row, with its decision and its end. Those planned and still to come are among the next times. */
export function OccurrenceTable({ occurrences }: { readonly occurrences: readonly OccurrenceReply[] }) {
  const past = occurrences.filter(
    ({ outcome, nominalAt }) => outcome !== "PLANNED" || Date.parse(nominalAt) <= currentTime(),
  );
  return past.length === 0 ? (
    <p class="card-empty">{words.occurrences.noneCame}</p>
  ) : (
    <ScrollTable label={words.occurrences.past}>
      <table class="table">
        <TableHead columns={columns} />
        <tbody>
          {past.map((each) => (
            <PastTime key={`${each.localTime}${each.fold}${each.timezone}`} occurrence={each} />
          ))}
        </tbody>
      </table>
    </ScrollTable>
  );
}

const Nothing = () => <span class="nothing">–</span>;

function PastTime({ occurrence }: { readonly occurrence: OccurrenceReply }) {
  const { nominalAt, timezone, outcome, reason, latenessMs, jobId, end } = occurrence;
  return (
    <tr>
      <td>
        <Time at={nominalAt} zone={timezone} />
      </td>
      <td>
        <span class="state">
          <i class={squareClass({ outcome, job: jobId, result: end?.result ?? null })} />
          {words.occurrences.decisions[outcome]}
        </span>
      </td>
      <td class="dim">{reasonText(reason ?? end?.reason ?? null)}</td>
      <td class="number">{latenessMs === null ? <Nothing /> : durationText(latenessMs)}</td>
      <td>
        {jobId === null ? (
          <Nothing />
        ) : (
          <a class="link" href={addresses.job(jobId)}>
            {`#${jobId}`}
          </a>
        )}
      </td>
      <td>{jobId === null ? <Nothing /> : <EndBadge end={end} />}</td>
      <td class="number">{end?.tookMs == null ? <Nothing /> : durationText(end.tookMs)}</td>
      <td class="cut error-cell" title={end?.error?.message ?? undefined}>
        {end?.error == null ? null : (
          <>
            <span class="mono error-code">{end.error.code}</span> <span class="dim">{end.error.message}</span>
          </>
        )}
      </td>
    </tr>
  );
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
