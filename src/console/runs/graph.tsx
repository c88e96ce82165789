import { useEffect, useState } from "preact/hooks";
import { addresses } from "../address.ts";
import type { RunTasks } from "../client.ts";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import type { ShownTask } from "../shape.ts";
import { stateWords } from "../words.ts";
import { layersOf } from "./layers.ts";
import { type LaidOut, layOut } from "./layout.ts";

const laidOutMax = 150;
/** Of one layer: with more beside each other, what comes before and after is out of sight. */
const besideMax = 24;
const nodeWidth = 148;
const nodeHeight = 36;

/** Lines and boxes for what can be followed by eye; columns by layer where lines would cover each other. */
export function TaskGraph({ tasks }: { readonly tasks: RunTasks }) {
  const layers = layersOf(
    tasks.tasks.map(({ job }) => job),
    tasks.edges,
  );
  const isDrawn = tasks.tasks.length <= laidOutMax && layers.every((layer) => layer.length <= besideMax);
  return isDrawn ? <Drawn tasks={tasks} /> : <Columns tasks={tasks.tasks} layers={layers} />;
}

function Drawn({ tasks: { tasks, edges } }: { readonly tasks: RunTasks }) {
  const [laidOut, setLaidOut] = useState<LaidOut | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [again, setAgain] = useState(0);
  const shape = `${tasks.map(({ job }) => job).join()}|${edges.map(({ from, to }) => `${from}>${to}`).join()}`;
  useEffect(() => {
    const asked = new AbortController();
    const nodes = tasks.map(({ job }) => job);
    const lines = edges.map(({ from, to }) => [from, to] as const);
    setError(null);
    layOut({ nodes, edges: lines, width: nodeWidth, height: nodeHeight }, asked.signal).then(
      setLaidOut,
      (failed: unknown) => asked.signal.aborted || setError(failed as Error),
    );
    return () => asked.abort();
  }, [shape, again]);
  if (error !== null) return <Failure error={error} onRetry={() => setAgain(again + 1)} />;
  if (laidOut === null) return <p class="loading">Drawing…</p>;
  return <Canvas tasks={tasks} edges={edges} laidOut={laidOut} />;
}

interface CanvasProps extends Pick<RunTasks, "tasks" | "edges"> {
  readonly laidOut: LaidOut;
}

function Canvas({ tasks, edges, laidOut }: CanvasProps) {
  const places = new Map(laidOut.places.map((place) => [place.id, place]));
  const states = new Map(tasks.map(({ job, state }) => [job, state]));
  return (
    <div class="graph" tabIndex={0} role="region" aria-label="Graph of the tasks">
      <div class="graph-ground" style={{ width: `${laidOut.width}px`, height: `${laidOut.height}px` }}>
        <svg width={laidOut.width} height={laidOut.height} aria-hidden="true" focusable="false">
          {edges.map(({ from, to }, index) => {
            const [a, b] = [places.get(from), places.get(to)];
            if (a === undefined || b === undefined) return null;
            const isTaken = states.get(from) !== "SKIPPED" && states.get(to) !== "SKIPPED";
            const line = curve(a, b, laidOut.lines[index] ?? []);
            return <path key={`${from}>${to}`} class={isTaken ? "edge taken" : "edge"} d={line} />;
          })}
        </svg>
        <ul>
          {tasks.map((task) => {
            const place = places.get(task.job);
            return place === undefined ? null : <Node key={task.job} task={task} x={place.x} y={place.y} />;
          })}
        </ul>
      </div>
    </div>
  );
}

const Node = ({ task, x, y }: { readonly task: ShownTask; readonly x: number; readonly y: number }) => (
  <li class="node" style={{ left: `${x}px`, top: `${y}px`, width: `${nodeWidth}px`, height: `${nodeHeight}px` }}>
    <a href={addresses.job(task.job)} class={`state-${task.state.toLowerCase()}`} title={nameOf(task)}>
      <Icon name={task.state} size={14} />
      <span class="node-name">{task.task ?? task.key ?? task.job}</span>
      <span class="hidden">{stateWords[task.state]}</span>
    </a>
  </li>
);

interface Point {
  readonly x: number;
  readonly y: number;
}

/** From the right side of one box to the left side of the other; a long line goes through the gaps the layout left for it. */
function curve(from: Point, to: Point, through: readonly Point[]): string {
  const start = { x: from.x + nodeWidth, y: from.y + nodeHeight / 2 };
  const end = { x: to.x, y: to.y + nodeHeight / 2 };
  const inner = through.slice(1, -1).filter(({ x }) => x > start.x && x < end.x);
  let last = start;
  const bends = [...(inner.length > 1 ? inner : []), end].map((point) => {
    const middle = (last.x + point.x) / 2;
    const bend = `C${middle} ${last.y} ${middle} ${point.y} ${point.x} ${point.y}`;
    last = point;
    return bend;
  });
  return `M${start.x} ${start.y} ${bends.join(" ")}`;
}

const nameOf = (task: ShownTask): string => `${task.task ?? task.key ?? task.job}: ${stateWords[task.state]}`;

interface ColumnsProps {
  readonly tasks: readonly ShownTask[];
  readonly layers: readonly (readonly string[])[];
}

function Columns({ tasks, layers }: ColumnsProps) {
  const byId = new Map(tasks.map((task) => [task.job, task]));
  return (
    <div class="graph layers" tabIndex={0} role="region" aria-label="Tasks in columns by layer">
      {layers.map((layer, index) => (
        <section key={layer[0]} aria-label={`Layer ${index + 1}`}>
          <h3>
            {`Layer ${index + 1}`} <span class="dim">{layer.length}</span>
          </h3>
          <ul>
            {layer.map((id) => {
              const task = byId.get(id);
              return task === undefined ? null : <Cell key={id} task={task} />;
            })}
          </ul>
        </section>
      ))}
    </div>
  );
}

const Cell = ({ task }: { readonly task: ShownTask }) => (
  <li>
    <a href={addresses.job(task.job)} class={`cell state-${task.state.toLowerCase()}`} title={nameOf(task)}>
      <Icon name={task.state} size={12} />
      <span class="node-name">{task.task ?? task.key ?? task.job}</span>
      <span class="hidden">{stateWords[task.state]}</span>
    </a>
  </li>
);
