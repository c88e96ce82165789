import type { JobDefinition } from "../define/definition.ts";
import type { CostFacts } from "../insight/costs.ts";
import { jobTaskSize } from "./topology.ts";

/** What the costs of jobs are computed from, as this release defines lanes and kinds. */
export const costFacts = ({
  jobs,
  ...of
}: Omit<CostFacts, "tasks"> & { readonly jobs: Iterable<JobDefinition> }): CostFacts => ({
  ...of,
  tasks: [...jobs].flatMap(({ id: kind, runOn, size }) =>
    runOn === "fargate" ? { kind, ...(size ?? jobTaskSize) } : [],
  ),
});
