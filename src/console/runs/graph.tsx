import { useMemo } from "preact/hooks";
import { addresses } from "../address.ts";
import { Icon, MiddleCut } from "../parts/index.ts";
import { type JobState, jobStates } from "../jobs/state.ts";
import { durationText } from "../time.ts";
import { GraphDrawing } from "./drawn.tsx";
import { groupedRun, layersByPlace, type TaskGroup } from "./groups.ts";
import { criticalPath, type LoadedMap, type MapTask } from "./run-map.ts";
import { words } from "../language/words.ts";
import { numberText } from "../language/number.ts";

const laidOutMax = 150;
/** Of one layer: with more, the layers before and after would not be visible. */
const besideMax = 24;
const box = { width: 172, height: 36 };
const groupBox = { width: 244, height: 58 };

interface TaskGraphProps {
  readonly map: LoadedMap;
  /** Lists the tasks of a group. */
  readonly onGroup: (group: TaskGroup) => void;
}

/** Every task as a box where that can be followed by eye; groups with counts where lines would cover each other. */
export function TaskGraph({ map, onGroup }: TaskGraphProps) {
  const isDrawn = useMemo(() => map.tasks.length <= laidOutMax && widestLayer(map) <= besideMax, [map]);
  return (
    <>
      <CriticalPath map={map} />
      {isDrawn ? <SingleTasks map={map} /> : <Groups map={map} onGroup={onGroup} />}
    </>
  );
}

function widestLayer(map: LoadedMap): number {
  const sizes = new Map<number, number>();
  for (const layer of layersByPlace(map)) sizes.set(layer, (sizes.get(layer) ?? 0) + 1);
  return Math.max(0, ...sizes.values());
}

const pathShown = 6;

/** The tasks that decided when the run ended. */
function CriticalPath({ map }: { readonly map: LoadedMap }) {
  const path = useMemo(() => criticalPath(map), [map]);
  const [first, last] = [path[0], path.at(-1)];
  if (first?.startedAt == null || last?.finishedAt == null || path.length < 2) return null;
  const shown = path.slice(-pathShown);
  return (
    <p class="one-line critical-path">
      <strong>{words.tasks.criticalPath}</strong>{" "}
      <span class="dim">
        {durationText(last.finishedAt - first.startedAt)}, {words.many.task(path.length)}
      </span>{" "}
      {shown.length < path.length ? <span class="dim">… </span> : null}
      {shown.map((task, index) => (
        <span key={task.job}>
          {index === 0 ? null : <span class="dim"> → </span>}
          <a class="link" href={addresses.job(task.job)}>
            <MiddleCut text={task.name} />
          </a>
        </span>
      ))}
    </p>
  );
}

function SingleTasks({ map: { tasks, edges } }: { readonly map: LoadedMap }) {
  const lines = edges.flatMap(([from, to]) => {
    const [a, b] = [tasks[from], tasks[to]];
    return a === undefined || b === undefined
      ? []
      : [{ from: a.job, to: b.job, isTaken: a.state !== "SKIPPED" && b.state !== "SKIPPED" }];
  });
  return (
    <GraphDrawing
      label={words.tasks.graph}
      nodes={new Map(tasks.map((task) => [task.job, <TaskBox task={task} />]))}
      lines={lines}
      size={box}
    />
  );
}

const TaskBox = ({ task }: { readonly task: MapTask }) => (
  <a
    href={addresses.job(task.job)}
    class={`state-${task.state.toLowerCase()}`}
    title={`${task.name}: ${words.states[task.state]}`}
  >
    <Icon name={task.state} size={14} />
    <span class="one-line node-name">
      <MiddleCut text={task.name} />
    </span>
    <span class="hidden">{words.states[task.state]}</span>
  </a>
);

function Groups({ map, onGroup }: TaskGraphProps) {
  const grouped = useMemo(() => groupedRun(map), [map]);
  return (
    <GraphDrawing
      label={words.tasks.groupGraph}
      nodes={new Map(grouped.groups.map((group) => [group.id, <GroupBox {...{ group, onGroup }} />]))}
      lines={grouped.edges.map(([from, to]) => ({ from, to, isTaken: true }))}
      size={groupBox}
    />
  );
}

const GroupBox = ({ group, onGroup }: Pick<TaskGraphProps, "onGroup"> & { readonly group: TaskGroup }) => (
  <button type="button" class={`group-node${group.counts.has("FAILED") ? " bad" : ""}`} onClick={() => onGroup(group)}>
    <span class="one-line node-name">
      <MiddleCut text={group.name} /> <span class="dim">{numberText(group.tasks.length)}</span>
    </span>
    <span class="group-bar" aria-hidden="true">
      {statesOf(group).map((state) => (
        <i
          key={state}
          class={`fill-${state.toLowerCase()}`}
          style={{ width: `${((group.counts.get(state) ?? 0) / group.tasks.length) * 100}%` }}
        />
      ))}
    </span>
    <span class="one-line group-words">
      {statesOf(group)
        .map((state) => words.tasks.group(group.counts.get(state) ?? 0, words.states[state]))
        .join(", ")}
    </span>
  </button>
);

const statesOf = ({ counts }: TaskGroup): readonly JobState[] =>
  jobStates.filter((state) => counts.has(state)).toSorted((a, b) => Number(b === "FAILED") - Number(a === "FAILED"));
