import { addresses } from "../address.ts";
import { currentTime } from "../clock.ts";
import { taskPhaseText } from "../jobs/phase.ts";
import { Icon } from "../parts/icon.tsx";
import { MiddleCut } from "../parts/middle-cut.tsx";
import { StateBadge } from "../parts/state-badge.tsx";
import { type RowColumn, VirtualRows } from "../parts/virtual-rows.tsx";
import { isNarrow } from "../narrow.ts";
import { durationText } from "../time.ts";
import type { LoadedMap, MapTask, TaskOrder } from "./run-map.ts";
import { words } from "../language/words.ts";

/** In a narrow window each row is a block of two lines. */
const narrowPixels = 56;

const template = "112px minmax(180px, 1.6fr) minmax(200px, 2fr) 88px 84px minmax(160px, 1.3fr)";

interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

interface TaskGridProps {
  readonly map: LoadedMap;
  /** Those of the map that are shown, in their order. */
  readonly shown: readonly MapTask[];
  readonly order: TaskOrder;
  readonly onOrder: (order: TaskOrder) => void;
}

/** The tasks with a Gantt chart in the same rows. */
export function TaskGrid({ map, shown, order, onOrder }: TaskGridProps) {
  const whole = wholeOf(map.tasks);
  return (
    <VirtualRows
      label={words.tasks.tasks}
      columns={columnsOf(whole, order, onOrder)}
      template={template}
      height={isNarrow.value ? narrowPixels : undefined}
      rows={shown.length}
      current={-1}
      onView={() => {}}
      idOf={(index) => shown[index]?.job ?? ""}
      row={(index) => {
        const task = shown[index];
        return task === undefined ? null : <TaskRow task={task} index={index} whole={whole} why={whyOf(task, map)} />;
      }}
    />
  );
}

function columnsOf(whole: TimeSpan, order: TaskOrder, onOrder: (order: TaskOrder) => void): readonly RowColumn[] {
  const by = (name: string, key: TaskOrder, isNumber = false): RowColumn => ({
    name: (
      <button type="button" class="sort" onClick={() => onOrder(key)}>
        {name}
        {order === key ? <Icon name="down" size={12} /> : null}
      </button>
    ),
    isNumber,
    isSorted: order === key,
  });
  return [
    by(words.labels.state, "state"),
    by(words.tasks.columns.task, "name"),
    { name: <Scale whole={whole} /> },
    by(words.labels.took, "took", true),
    { name: words.labels.attempts, isNumber: true },
    { name: words.labels.why },
  ];
}

interface TaskRowProps {
  readonly task: MapTask;
  readonly index: number;
  readonly whole: TimeSpan;
  readonly why: Why;
}

function TaskRow({ task, index, whole, why }: TaskRowProps) {
  const span = spanOf(task);
  return (
    <div class="row task-row" role="row" data-id={task.job} aria-rowindex={index + 2}>
      <span role="cell" class="state-cell">
        <StateBadge state={task.state} text={taskPhaseText(task)} />
      </span>
      <span role="cell" class="name-cell">
        <a class="row-link" href={addresses.job(task.job)}>
          <MiddleCut text={task.name} />
        </a>
      </span>
      <span role="cell" class="gantt wide-only">
        {span === null ? null : <GanttBar span={span} whole={whole} state={task.state} />}
      </span>
      <span role="cell" class="number took-cell">
        {span === null ? <span class="nothing">–</span> : durationText(span.to - span.from)}
      </span>
      <span role="cell" class="number wide-only">
        {task.attempt === 0 ? <span class="nothing">–</span> : task.attempt}
      </span>
      <span role="cell" class={`dim why-cell${why.task === "" ? "" : " of-task"}`} title={`${why.text} ${why.task}`}>
        {why.text} <MiddleCut text={why.task} />
      </span>
    </div>
  );
}

/** How long after the first start: the lines of the rows stand at the same places, and the last is the end. */
const Scale = ({ whole: { from, to } }: { readonly whole: TimeSpan }) => (
  <span class="gantt-scale">
    {[0, 1, 2, 3].map((quarter) => (
      <span key={quarter}>{quarter === 0 ? words.tasks.start : `+${durationText(((to - from) * quarter) / 4)}`}</span>
    ))}
  </span>
);

interface GanttBarProps {
  readonly span: TimeSpan;
  readonly whole: TimeSpan;
  readonly state: MapTask["state"];
}

const GanttBar = ({ span, whole, state }: GanttBarProps) => (
  <i
    class={`gantt-bar fill-${state.toLowerCase()}`}
    style={{
      left: `${((span.from - whole.from) / (whole.to - whole.from)) * 100}%`,
      width: `${((span.to - span.from) / (whole.to - whole.from)) * 100}%`,
    }}
  />
);

function wholeOf(tasks: readonly MapTask[]): TimeSpan {
  let [from, to] = [Infinity, -Infinity];
  for (const task of tasks) {
    const span = spanOf(task);
    if (span === null) continue;
    from = Math.min(from, span.from);
    to = Math.max(to, span.to);
  }
  return from === Infinity ? { from: 0, to: 1 } : { from, to: Math.max(to, from + 1) };
}

function spanOf({ startedAt, finishedAt, state }: MapTask): TimeSpan | null {
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
function whyOf({ state, notTaken, place, open, error }: MapTask, { tasks, before }: LoadedMap): Why {
  const say = (text: string, task = ""): Why => ({ text, task });
  if (state === "SKIPPED" && notTaken) return say(words.tasks.branchNotTaken);
  if (state === "SKIPPED") {
    const bad = (before.get(place) ?? []).map((each) => tasks[each]).find(isBad);
    return bad === undefined ? say(words.tasks.oneBefore) : say(words.tasks.before[bad.state], bad.name);
  }
  if (state === "FAILED") return say(error ?? words.tasks.noMessage);
  return say(state === "PENDING" && open > 0 ? words.tasks.waitsFor(open) : "");
}

type BadTask = MapTask & { readonly state: "FAILED" | "CANCELED" | "SKIPPED" };

const isBad = (task: MapTask | undefined): task is BadTask =>
  task !== undefined &&
  (task.state === "FAILED" || task.state === "CANCELED" || (task.state === "SKIPPED" && !task.notTaken));
