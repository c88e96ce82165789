import { addresses } from "../address.ts";
import { currentTime } from "../clock.ts";
import { taskLook } from "../jobs/phase.ts";
import {
  boxOn,
  type Column,
  DataTable,
  LookBadge,
  MiddleCut,
  Nothing,
  orNothing,
  type TimeScale,
} from "../parts/index.ts";
import { isNarrow } from "../narrow.ts";
import { durationText } from "../time.ts";
import { type LoadedMap, type MapTask, tookMs, urgencyOf } from "./run-map.ts";
import { words } from "../language/words.ts";

/** In a narrow window each row is a block of two lines. */
const rowPixels = { wide: 34, narrow: 56 };

interface TaskGridProps {
  readonly map: LoadedMap;
  /** Those of the map that are shown, in their order. */
  readonly shown: readonly MapTask[];
}

/** The tasks with a Gantt chart in the same rows. */
export function TaskGrid({ map, shown }: TaskGridProps) {
  const whole = wholeOf(map.tasks);
  return (
    <DataTable
      label={words.tasks.tasks}
      columns={columnsOf(map, whole)}
      look="task-rows"
      rowClass={() => "task-row"}
      height={isNarrow.value ? rowPixels.narrow : rowPixels.wide}
      rows={shown}
      idOf={({ job }) => job}
    />
  );
}

const columnsOf = (map: LoadedMap, whole: TimeScale): readonly Column<MapTask>[] => [
  {
    name: words.labels.state,
    by: urgencyOf,
    width: "112px",
    class: "state-cell",
    cell: (task) => <LookBadge of={taskLook(task)} />,
  },
  {
    name: words.tasks.columns.task,
    by: ({ name }) => name,
    width: "minmax(180px, 1.6fr)",
    class: "name-cell",
    cell: ({ job, name }) => (
      <a class="row-link" href={addresses.job(job)}>
        <MiddleCut text={name} />
      </a>
    ),
  },
  {
    name: <Scale whole={whole} />,
    width: "minmax(200px, 2fr)",
    class: "gantt wide-only",
    cell(task) {
      const span = spanOf(task);
      const look = `gantt-bar fill-${task.state.toLowerCase()}`;
      return span === null ? null : <i class={look} style={boxOn(span.from, span.to, whole)} />;
    },
  },
  {
    name: words.labels.took,
    by: tookMs,
    width: "88px",
    isNumber: true,
    class: "took-cell",
    cell: (task) => {
      const span = spanOf(task);
      return span === null ? <Nothing /> : durationText(span.to - span.from);
    },
  },
  {
    name: words.labels.attempts,
    width: "84px",
    isNumber: true,
    class: "wide-only",
    cell: ({ attempt }) => orNothing(attempt),
  },
  {
    name: words.labels.why,
    width: "minmax(160px, 1.3fr)",
    class: (task) => `dim why-cell${whyOf(task, map).task === "" ? "" : " of-task"}`,
    title: (task) => `${whyOf(task, map).text} ${whyOf(task, map).task}`,
    cell: (task) => (
      <>
        {task.rows === null ? null : <RowsOf {...task.rows} />}
        {whyOf(task, map).text} <MiddleCut text={whyOf(task, map).task} />
      </>
    ),
  },
];

/** How far the jobs of its rows are, with the way to them. */
const RowsOf = ({ run, total, done, failed }: NonNullable<MapTask["rows"]>) => (
  <a class="link" href={addresses.run(run)}>
    <progress max={Math.max(1, total)} value={done} aria-hidden="true" /> {words.tasks.rows(done, total, failed)}
  </a>
);

/** How long after the first start: the lines of the rows stand at the same places, and the last is the end. */
const Scale = ({ whole: { from, to } }: { readonly whole: TimeScale }) => (
  <span class="gantt-scale">
    {[0, 1, 2, 3].map((quarter) => (
      <span key={quarter}>{quarter === 0 ? words.tasks.start : `+${durationText(((to - from) * quarter) / 4)}`}</span>
    ))}
  </span>
);

function wholeOf(tasks: readonly MapTask[]): TimeScale {
  const spans = tasks.flatMap((task) => spanOf(task) ?? []);
  const from = spans.reduce((least, span) => Math.min(least, span.from), Infinity);
  return from === Infinity
    ? { from: 0, to: 1 }
    : { from, to: spans.reduce((most, { to }) => Math.max(most, to), from + 1_000) };
}

function spanOf({ startedAt, finishedAt, state }: MapTask): TimeScale | null {
  if (startedAt === null || state === "SKIPPED") return null;
  if (state !== "RUNNING" && finishedAt === null) return null;
  return { from: startedAt, to: Math.max(startedAt, finishedAt ?? currentTime()) };
}

interface Why {
  readonly text: string;
  /** The task before it that decided. */
  readonly task: string;
}

/** Why a task did not run, waits or failed. */
function whyOf({ state, notTaken, wantsSignal, place, open, error }: MapTask, { tasks, before }: LoadedMap): Why {
  const say = (text: string, task = ""): Why => ({ text, task });
  if (state === "SKIPPED" && notTaken) return say(words.tasks.branchNotTaken);
  if (state === "SKIPPED") {
    const bad = (before.get(place) ?? []).map((each) => tasks[each]).find(isBad);
    return bad === undefined ? say(words.tasks.oneBefore) : say(words.tasks.before[bad.state], bad.name);
  }
  if (state === "FAILED") return say(error ?? words.occurrences.ends.failed);
  if (wantsSignal) return say(words.tasks.waitsForSignal);
  return say(state === "PENDING" && open > 0 ? words.tasks.waitsFor(open) : "");
}

type BadTask = MapTask & { readonly state: "FAILED" | "CANCELED" | "SKIPPED" };

const isBad = (task: MapTask | undefined): task is BadTask =>
  task !== undefined &&
  (task.state === "FAILED" || task.state === "CANCELED" || (task.state === "SKIPPED" && !task.notTaken));
