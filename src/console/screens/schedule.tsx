import { useLocation, useRoute } from "preact-iso";
import { addresses } from "../address.ts";
import { loadNext, loadOccurrences, loadScheduleOutcome } from "../client.ts";
import { currentTime } from "../clock.ts";
import { useKeys } from "../keys.ts";
import { Loaded } from "../parts/loaded.tsx";
import { useResource } from "../resource.ts";
import { startScheduleOnce, togglePause } from "../schedules/actions.tsx";
import { BackfillForm } from "../schedules/backfill-form.tsx";
import { NextFires } from "../schedules/next-fires.tsx";
import { OccurrenceTable } from "../schedules/occurrence-table.tsx";
import { plainWords } from "../schedules/plain-words.ts";
import { EndsText, latenessText, onTimeText, scheduleStatus } from "../schedules/status.tsx";
import { SquareLegend, Squares } from "../schedules/squares.tsx";
import type { ShownOccurrence, ShownOutcome } from "../shape.ts";
import { useTitle } from "../title.ts";

export function ScheduleScreen() {
  const id = decodeURIComponent(useRoute().params["id"] ?? "");
  const schedule = useResource(`schedule ${id}`, (signal) => loadScheduleOutcome(id, signal), { again: "slow" });
  return <Loaded of={schedule}>{(found) => <Found schedule={found} onDone={schedule.reload} />}</Loaded>;
}

const overlapWords: Readonly<Record<string, string>> = {
  allow: "runs may overlap",
  skip: "skipped while the one before runs",
  "queue-one": "one waits while the one before runs",
};
const misfireWords: Readonly<Record<string, string>> = {
  skip: "missed times are skipped",
  latest: "of missed times the latest runs",
  all: "missed times all run",
};

const policyText = ({ overlap, misfire }: ShownOutcome): string =>
  `${overlapWords[overlap] ?? overlap} · ${misfireWords[misfire] ?? misfire}`;

const isPast = ({ nominalAt }: ShownOccurrence): boolean => Date.parse(nominalAt) <= currentTime();

const squareOf = ({ nominalAt, outcome, reason, jobId, end }: ShownOccurrence) => ({
  at: nominalAt,
  outcome,
  reason,
  job: jobId,
  result: end?.result ?? null,
  error: end?.error?.code ?? null,
});

function plannedText(occurrences: readonly ShownOccurrence[]): string {
  const planned = occurrences.filter(({ outcome }) => outcome === "PLANNED").length;
  return planned === 0 ? "" : `${planned} of them planned ahead`;
}

function Found({ schedule, onDone }: { readonly schedule: ShownOutcome; readonly onDone: () => void }) {
  const { id, kind, expression, timezone, paused } = schedule;
  const { route } = useLocation();
  useTitle(id);
  const past = useResource(`past ${id}`, (signal) => loadOccurrences(id, 30, signal));
  const next = useResource(`next ${id}`, (signal) => loadNext(id, 5, signal), { again: "slow" });
  useKeys([
    { keys: "p", does: "Pause or resume", run: () => void togglePause(schedule, onDone) },
    { keys: "n", does: "Run now", run: () => void startScheduleOnce(schedule) },
    { keys: "J", does: "Show its jobs", run: () => route(addresses.jobsWith(`schedule:${id}`)) },
  ]);
  return (
    <>
      <header class="screen-head">
        <div>
          <p class="crumbs">
            <a href={addresses.schedules}>Schedules</a>
          </p>
          <h1>{id}</h1>
        </div>
        {scheduleStatus(schedule, currentTime())}
        <span class="space" />
        <a class="button" href={addresses.jobsWith(`schedule:${id}`)}>
          View jobs
        </a>
        <button type="button" class="button" onClick={() => void togglePause(schedule, onDone)}>
          {paused ? "Resume" : "Pause"}
        </button>
        <button type="button" class="button primary" onClick={() => void startScheduleOnce(schedule)}>
          Run now
        </button>
      </header>
      <p class="lead">
        {plainWords(expression)} <span class="dim">in {timezone}</span>
      </p>
      <p class="dim">
        <span class="mono">{expression}</span> starts <strong>{kind}</strong> · {policyText(schedule)} · version{" "}
        {schedule.version}, from {schedule.source}
      </p>
      <p>
        <EndsText {...schedule} />
        <span class="dim">
          {" "}
          · {onTimeText(schedule)} on time · lateness {latenessText(schedule)}
        </span>
      </p>
      <div class="columns even">
        <NextFires next={next} schedule={schedule} />
        <BackfillForm schedule={schedule} onDone={past.reload} />
      </div>
      <Loaded of={past}>
        {(occurrences) => (
          <section class="card" aria-label="Occurrences">
            <header class="card-head">
              <h2>Last 30 occurrences</h2>
              <Squares last={occurrences.filter(isPast).map(squareOf)} zone={timezone} />
              <span class="dim">{plannedText(occurrences)}</span>
              <span class="space" />
              <SquareLegend />
            </header>
            <OccurrenceTable occurrences={occurrences} />
          </section>
        )}
      </Loaded>
    </>
  );
}
