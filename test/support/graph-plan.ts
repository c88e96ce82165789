import { type AppDefinition, registry } from "../../src/define/definition.ts";
import type { Json } from "../../src/machine/job.ts";
import type { NewRun } from "../../src/machine/run.ts";
import { isGraph, planRun } from "../../src/run/run-graph.ts";

/** The run of a graph of these apps, as its job would start it. */
export async function graphPlan(
  apps: readonly AppDefinition[],
  kind: string,
  { key = "k", input = null }: { key?: string; input?: Json } = {},
): Promise<NewRun> {
  const graph = registry(apps).jobs.get(kind);
  if (graph === undefined || !isGraph(graph)) throw new Error(`"${kind}" is no graph`);
  return await planRun(graph, input, { key, trace: "t", starterId: null, parentId: null });
}
