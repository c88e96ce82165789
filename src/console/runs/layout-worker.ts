/** Lays a graph out beside the page, so that a thousand tasks do not hold it up. */
import dagre from "@dagrejs/dagre";
import type { LaidOut, ToLayOut } from "./layout.ts";

self.addEventListener("message", (event: MessageEvent<ToLayOut>) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no other origin to name
  self.postMessage(layOut(event.data));
});

const margin = 12;

function layOut({ nodes, edges, width, height }: ToLayOut): LaidOut {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 14, ranksep: 40, marginx: margin, marginy: margin });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of nodes) graph.setNode(id, { width, height });
  for (const [from, to] of edges) graph.setEdge(from, to);
  dagre.layout(graph);
  const { width: wide = 0, height: high = 0 } = graph.graph();
  const lines = edges.map(([from, to]) => graph.edge(from, to).points ?? []);
  // The layout's own height is that of the boxes; a long line may go round below them.
  const lowest = lines.flat().reduce((most, { y }) => Math.max(most, y), 0);
  return {
    places: nodes.map((id) => {
      const { x, y } = graph.node(id);
      return { id, x: x - width / 2, y: y - height / 2 };
    }),
    lines,
    width: wide,
    height: Math.max(high, lowest + margin),
  };
}
