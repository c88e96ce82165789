import type { ShownEdge } from "../shape.ts";

/** Tasks in columns: each one column behind the last of those it waits for. One pass over tasks and edges. */
export function layersOf(ids: readonly string[], edges: readonly ShownEdge[]): readonly (readonly string[])[] {
  const after = Map.groupBy(edges, ({ from }) => from);
  const open = new Map(ids.map((id) => [id, 0]));
  for (const { to } of edges) open.set(to, (open.get(to) ?? 0) + 1);
  const layers: string[][] = [];
  let ready = ids.filter((id) => open.get(id) === 0);
  while (ready.length > 0) {
    layers.push(ready);
    const next: string[] = [];
    for (const { to } of ready.flatMap((id) => after.get(id) ?? [])) {
      const left = (open.get(to) ?? 0) - 1;
      open.set(to, left);
      if (left === 0) next.push(to);
    }
    ready = next;
  }
  return layers;
}
