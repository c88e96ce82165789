import { addresses } from "../address.ts";
import { currentTime } from "../clock.ts";
import type { RunTasks } from "../client.ts";
import { StateBadge } from "../parts/state-badge.tsx";
import { VirtualRows } from "../parts/virtual-rows.tsx";
import type { ShownTask } from "../shape.ts";
import { duration } from "../time.ts";

const columnsOf = (whole: Span) => [
  { name: "State" },
  { name: "Task" },
  { name: <Scale whole={whole} /> },
  { name: "Took", isNumber: true },
  { name: "Tries", isNumber: true },
  { name: "Why" },
];
const template = "112px minmax(130px, 1fr) minmax(220px, 2.2fr) 88px 56px minmax(210px, 1.5fr)";

interface Span {
  readonly from: number;
  readonly to: number;
}

/** The tasks with a Gantt chart in the same rows. */
export function TaskGrid({ tasks: { tasks } }: { readonly tasks: RunTasks }) {
  const whole = wholeOf(tasks);
  const names = new Map(tasks.map((task) => [task.job, task]));
  return (
    <VirtualRows
      label="Tasks"
      columns={columnsOf(whole)}
      template={template}
      rows={tasks.length}
      current={-1}
      onSight={() => {}}
      idOf={(index) => tasks[index]?.job ?? ""}
      row={(index) => {
        const task = tasks[index];
        return task === undefined ? null : <Row task={task} index={index} whole={whole} why={whyOf(task, names)} />;
      }}
    />
  );
}

interface RowProps {
  readonly task: ShownTask;
  readonly index: number;
  readonly whole: Span;
  readonly why: string;
}

function Row({ task, index, whole, why }: RowProps) {
  const span = spanOf(task);
  return (
    <div class="row" role="row" data-id={task.job} aria-rowindex={index + 2}>
      <span role="cell">
        <StateBadge state={task.state} />
      </span>
      <span role="cell">
        <a class="row-link" href={addresses.job(task.job)}>
          {nameOf(task)}
        </a>
      </span>
      <span role="cell" class="gantt">
        {span === null ? null : <Bar span={span} whole={whole} state={task.state} />}
      </span>
      <span role="cell" class="number">
        {span === null ? <span class="nothing">–</span> : duration(span.to - span.from)}
      </span>
      <span role="cell" class="number">
        {task.attempt === 0 ? <span class="nothing">–</span> : task.attempt}
      </span>
      <span role="cell" class="dim" title={task.error?.message ?? why}>
        {why}
      </span>
    </div>
  );
}

/** How long after the first start: the lines of the rows stand at the same places. */
const Scale = ({ whole: { from, to } }: { readonly whole: Span }) => (
  <span class="gantt-scale">
    {[0, 1, 2, 3].map((quarter) => (
      <span key={quarter}>{quarter === 0 ? "When it ran" : `+${duration(((to - from) * quarter) / 4)}`}</span>
    ))}
  </span>
);

const Bar = ({
  span,
  whole,
  state,
}: {
  readonly span: Span;
  readonly whole: Span;
  readonly state: ShownTask["state"];
}) => (
  <i
    class={`gantt-bar fill-${state.toLowerCase()}`}
    style={{
      left: `${((span.from - whole.from) / (whole.to - whole.from)) * 100}%`,
      width: `${((span.to - span.from) / (whole.to - whole.from)) * 100}%`,
    }}
  />
);

function wholeOf(tasks: readonly ShownTask[]): Span {
  const spans = tasks.map(spanOf).filter((span) => span !== null);
  let [from, to] = [Infinity, -Infinity];
  for (const span of spans) {
    from = Math.min(from, span.from);
    to = Math.max(to, span.to);
  }
  return spans.length === 0 ? { from: 0, to: 1 } : { from, to: Math.max(to, from + 1) };
}

function spanOf({ startedAt, finishedAt, state }: ShownTask): Span | null {
  if (startedAt === null || state === "SKIPPED") return null;
  const from = Date.parse(startedAt);
  if (state !== "RUNNING" && finishedAt === null) return null;
  return { from, to: Math.max(from, finishedAt === null ? currentTime() : Date.parse(finishedAt)) };
}

type Tasks = ReadonlyMap<string, ShownTask>;

/** Why a task did not run, waits or failed; names the task before it that decided. */
function whyOf({ state, notTaken, predecessors, blocked, error, after }: ShownTask, tasks: Tasks): string {
  if (state === "SKIPPED" && notTaken) return "its branch was not taken";
  if (state === "SKIPPED" && predecessors.bad > 0) {
    const bad = after.map((id) => tasks.get(id)).find((each) => each !== undefined && isBad(each));
    return bad === undefined ? "a task before it did not succeed" : `${nameOf(bad)} before it ${badWord(bad)}`;
  }
  if (state === "FAILED") return error === null ? "failed" : `${error.code} ${error.message ?? ""}`;
  return blocked ? `waits for ${predecessors.open} before it` : "";
}

const isBad = ({ state, notTaken }: ShownTask): boolean =>
  state === "FAILED" || state === "CANCELED" || (state === "SKIPPED" && !notTaken);
const badWord = ({ state }: ShownTask): string => (state === "FAILED" ? "failed" : `was ${state.toLowerCase()}`);
const nameOf = ({ task, key, job }: ShownTask): string => task ?? key ?? `#${job}`;
