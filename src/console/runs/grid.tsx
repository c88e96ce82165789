import { addresses } from "../address.ts";
import { currentTime } from "../clock.ts";
import type { RunTasks } from "../client.ts";
import { StateBadge } from "../parts/state-badge.tsx";
import { VirtualRows } from "../parts/virtual-rows.tsx";
import type { Task } from "../shape.ts";
import { duration } from "../time.ts";

const columns = [
  { name: "State" },
  { name: "Task" },
  { name: "When it ran" },
  { name: "Took", isNumber: true },
  { name: "Tries", isNumber: true },
  { name: "Why" },
];
const template = "116px minmax(140px, 1fr) minmax(220px, 2.4fr) 104px 60px minmax(150px, 1.2fr)";

interface Span {
  readonly from: number;
  readonly to: number;
}

/** The tasks with a Gantt chart in the same rows. */
export function TaskGrid({ tasks: { tasks } }: { readonly tasks: RunTasks }) {
  const whole = wholeOf(tasks);
  return (
    <VirtualRows
      label="Tasks"
      columns={columns}
      template={template}
      rows={tasks.length}
      current={-1}
      onEnd={() => {}}
      idOf={(index) => tasks[index]?.job ?? ""}
      row={(index) => {
        const task = tasks[index];
        return task === undefined ? null : <Row task={task} index={index} whole={whole} />;
      }}
    />
  );
}

interface RowProps {
  readonly task: Task;
  readonly index: number;
  readonly whole: Span;
}

function Row({ task, index, whole }: RowProps) {
  const span = spanOf(task);
  return (
    <div class="row" role="row" data-id={task.job} aria-rowindex={index + 2}>
      <span role="cell">
        <StateBadge state={task.state} />
      </span>
      <span role="cell">
        <a class="row-link" href={addresses.job(task.job)}>
          {task.task ?? task.key ?? `#${task.job}`}
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
      <span role="cell" class="dim" title={task.error?.message ?? undefined}>
        {whyOf(task)}
      </span>
    </div>
  );
}

const Bar = ({ span, whole, state }: { readonly span: Span; readonly whole: Span; readonly state: Task["state"] }) => (
  <i
    class={`gantt-bar fill-${state.toLowerCase()}`}
    style={{
      left: `${((span.from - whole.from) / (whole.to - whole.from)) * 100}%`,
      width: `${((span.to - span.from) / (whole.to - whole.from)) * 100}%`,
    }}
  />
);

function wholeOf(tasks: readonly Task[]): Span {
  const spans = tasks.map(spanOf).filter((span) => span !== null);
  let [from, to] = [Infinity, -Infinity];
  for (const span of spans) {
    from = Math.min(from, span.from);
    to = Math.max(to, span.to);
  }
  return spans.length === 0 ? { from: 0, to: 1 } : { from, to: Math.max(to, from + 1) };
}

function spanOf({ startedAt, finishedAt, state }: Task): Span | null {
  if (startedAt === null || state === "SKIPPED") return null;
  const from = Date.parse(startedAt);
  if (state !== "RUNNING" && finishedAt === null) return null;
  return { from, to: Math.max(from, finishedAt === null ? currentTime() : Date.parse(finishedAt)) };
}

/** Why a task did not run, waits or failed. */
export function whyOf({ state, notTaken, predecessors, blocked, error }: Task): string {
  if (state === "SKIPPED" && notTaken) return "its branch was not taken";
  if (state === "SKIPPED" && predecessors.bad > 0) return "a task before it failed or was skipped";
  if (state === "FAILED") return error?.code ?? "failed";
  if (blocked) return `waits for ${predecessors.open} before it`;
  return "";
}
