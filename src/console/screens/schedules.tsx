import { addresses } from "../address.ts";
import { loadNext, loadOccurrences, loadSchedules } from "../client.ts";
import { currentTime } from "../clock.ts";
import { Empty } from "../parts/empty.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Time } from "../parts/time.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { useResource } from "../resource.ts";
import { startScheduleOnce, togglePause } from "../schedules/actions.tsx";
import { latenessText, scheduleStatus } from "../schedules/status.tsx";
import { plainWords } from "../schedules/plain-words.ts";
import { Squares } from "../schedules/squares.tsx";
import type { ShownOccurrence, ShownSchedule } from "../shape.ts";
import { useTitle } from "../title.ts";

export function SchedulesScreen() {
  useTitle("Schedules");
  const schedules = useResource("schedules", loadSchedules);
  return (
    <>
      <header class="screen-head">
        <h1>Schedules</h1>
      </header>
      <Loaded of={schedules}>
        {(all) => (all.length === 0 ? <NoSchedules /> : <ScheduleTable schedules={all} onDone={schedules.reload} />)}
      </Loaded>
    </>
  );
}

const NoSchedules = () => (
  <Empty title="No schedules yet">
    <p>
      Add <code>defineSchedule</code> to <code>jobs/hello.ts</code> and save: it appears here at once.
    </p>
  </Empty>
);

interface TableProps {
  readonly schedules: readonly ShownSchedule[];
  readonly onDone: () => void;
}

const ScheduleTable = ({ schedules, onDone }: TableProps) => (
  <div class="card">
    <table class="table tall stacks">
      <TableHead
        columns={[
          "Schedule",
          "When",
          "State",
          "Next",
          "Last 30",
          { name: "Lateness", isNumber: true },
          { name: "Actions", isHidden: true },
        ]}
      />
      <tbody>
        {schedules.map((schedule) => (
          <Row key={schedule.id} schedule={schedule} onDone={onDone} />
        ))}
      </tbody>
    </table>
  </div>
);

const Past = ({ occurrences }: { readonly occurrences: readonly ShownOccurrence[] }) =>
  occurrences.length === 0 ? <span class="dim small">none yet</span> : <Squares occurrences={occurrences} />;

/** The schedule's row says when the tick looks again; when it fires next is another question. */
async function loadTimes(id: string, signal: AbortSignal) {
  const [past, next] = await Promise.all([loadOccurrences(id, 30, signal), loadNext(id, 1, signal)]);
  return { past, next: next[0]?.at ?? null };
}

function Row({ schedule, onDone }: { readonly schedule: ShownSchedule; readonly onDone: () => void }) {
  const { id, kind, expression, timezone, paused } = schedule;
  const times = useResource(`times ${id}`, (signal) => loadTimes(id, signal), { again: "slow" });
  return (
    <tr>
      <td>
        <a class="row-link" href={addresses.schedule(id)}>
          {id}
        </a>
        {kind === id ? null : <p class="dim small">{kind}</p>}
      </td>
      <td>
        {plainWords(expression)}
        <p class="dim small">
          <span class="mono">{expression}</span> · {timezone}
        </p>
      </td>
      <td>{scheduleStatus(schedule, currentTime())}</td>
      <td data-label="Next">
        {paused || !schedule.enabled ? (
          <span class="nothing">–</span>
        ) : (
          <Time at={times.data?.next ?? null} zone={timezone} />
        )}
      </td>
      <td class="wide" data-label="Last 30">
        {times.data === null ? null : <Past occurrences={times.data.past} />}
      </td>
      <td class="number" data-label="Lateness">
        {times.data === null ? null : latenessText(times.data.past)}
      </td>
      <td>
        <span class="actions">
          <button
            type="button"
            class="button small"
            onClick={() => void startScheduleOnce(schedule)}
            aria-label={`Run now: ${id}`}
          >
            Run now
          </button>
          <button
            type="button"
            class="icon-button"
            title={paused ? "Resume" : "Pause"}
            onClick={() => void togglePause(schedule, onDone)}
          >
            <Icon name={paused ? "play" : "pause"} />
            <span class="hidden">{`${paused ? "Resume" : "Pause"} ${id}`}</span>
          </button>
        </span>
      </td>
    </tr>
  );
}
