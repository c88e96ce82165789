/** Tasks of a large run in groups that can be followed by eye: alike by name, in the same layer. */
import type { JobState } from "../jobs/state.ts";
import type { LoadedMap, MapTask } from "./run-map.ts";
import { words } from "../language/words.ts";

export interface TaskGroup {
  readonly id: string;
  readonly name: string;
  readonly tasks: readonly MapTask[];
  readonly counts: ReadonlyMap<JobState, number>;
}

export interface GroupedRun {
  readonly groups: readonly TaskGroup[];
  readonly edges: readonly (readonly [from: string, to: string])[];
}

const groupsMax = 120;

/** By layer and the beginning of the name; by layer alone where that would still be too many. */
export function groupedRun(map: LoadedMap): GroupedRun {
  const layers = layersByPlace(map);
  const byPrefix = grouped(map, (task) => `${layers[task.place] ?? 0} ${prefixOf(task.name)}`);
  if (byPrefix.groups.length <= groupsMax) return byPrefix;
  return grouped(map, (task) => `${layers[task.place] ?? 0} ${words.tasks.layer((layers[task.place] ?? 0) + 1)}`);
}

/** `load-partition-0017` and `load-partition-0018` begin alike. */
export const prefixOf = (name: string): string => name.replace(/[-_.:#/ ]?\d.*$/, "") || "#";

function grouped({ tasks, edges }: LoadedMap, keyOf: (task: MapTask) => string): GroupedRun {
  const keys = tasks.map(keyOf);
  const byKey = Map.groupBy(tasks, (task) => keys[task.place] ?? "");
  const lines = new Map<string, readonly [string, string]>();
  for (const [from, to] of edges) {
    const [a, b] = [keys[from] ?? "", keys[to] ?? ""];
    if (a !== b) lines.set(`${a}\n${b}`, [a, b]);
  }
  const groups = [...byKey].map(([id, members]) => ({
    id,
    name: members.length === 1 ? (members[0]?.name ?? "") : id.slice(id.indexOf(" ") + 1),
    tasks: members,
    counts: new Map([...Map.groupBy(members, ({ state }) => state)].map(([state, all]) => [state, all.length])),
  }));
  return { groups, edges: [...lines.values()] };
}

/** The layer of each task: one behind the last of those it waits for. One pass over tasks and edges. */
export function layersByPlace({ tasks, edges }: Pick<LoadedMap, "tasks" | "edges">): readonly number[] {
  const after = Map.groupBy(edges, ([from]) => from);
  const open = tasks.map(() => 0);
  for (const [, to] of edges) open[to] = (open[to] ?? 0) + 1;
  const layers = tasks.map(() => 0);
  const ready = tasks.map(({ place }) => place).filter((place) => open[place] === 0);
  for (let next = 0; next < ready.length; next += 1) {
    const place = ready[next] ?? 0;
    for (const [, to] of after.get(place) ?? []) {
      layers[to] = Math.max(layers[to] ?? 0, (layers[place] ?? 0) + 1);
      open[to] = (open[to] ?? 0) - 1;
      if (open[to] === 0) ready.push(to);
    }
  }
  return layers;
}
