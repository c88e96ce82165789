/** Lays a graph out beside the page, so that a thousand tasks do not hold it up. */
import dagre from "@dagrejs/dagre";
import type { LaidOut, ToLayOut } from "./layout.ts";

self.addEventListener("message", (event: MessageEvent<ToLayOut>) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no other origin to name
  self.postMessage(layOut(event.data));
});

function layOut({ nodes, edges, width, height }: ToLayOut): LaidOut {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 14, ranksep: 40, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of nodes) graph.setNode(id, { width, height });
  for (const [from, to] of edges) graph.setEdge(from, to);
  dagre.layout(graph);
  const { width: wide = 0, height: high = 0 } = graph.graph();
  return {
    places: nodes.map((id) => {
      const { x, y } = graph.node(id);
      return { id, x: x - width / 2, y: y - height / 2 };
    }),
    lines: edges.map(([from, to]) => graph.edge(from, to).points ?? []),
    width: wide,
    height: high,
  };
}
