import type { JobDefinition, Registry } from "../define/definition.ts";
import { graphOf } from "../run/run-graph.ts";
import { closest } from "./closest.ts";
import { HttpProblem } from "./problem.ts";

/** The definition of a kind that may be enqueued by itself. @throws HttpProblem 422 */
export function startableKind(registry: Registry, kind: string): JobDefinition {
  const graph = graphOf(registry, kind);
  if (graph !== null) {
    const detail = `"${kind}" is a task of the graph "${graph}": enqueue "${graph}" instead`;
    throw new HttpProblem("not-startable", detail, {
      issues: [{ path: "kind", message: `is a task: start its graph "${graph}"` }],
      extra: { near: [graph] },
    });
  }
  const definition = registry.jobs.get(kind);
  if (definition !== undefined) return definition;
  const near = closest(kind, registry.jobs.keys());
  const hint = near.length > 0 ? `did you mean ${near.join(" or ")}?` : "no definition has a similar name";
  const shown = JSON.stringify(kind.slice(0, 100));
  throw new HttpProblem("unknown-kind", `no job is defined as ${shown}: ${hint}`, {
    issues: [{ path: "kind", message: "is not defined in the running apps" }],
    extra: { near },
  });
}
