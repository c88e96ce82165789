import { operationsLimits } from "../../core/ports/operations-limits.ts";
import { explainJob } from "../../core/admin/explain-job.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { ofJob } from "../scope.ts";
import type { ApiOptions } from "../options.ts";
import { HttpProblem } from "../problem.ts";
import { jobExplanation } from "../shape/explanation.ts";
import { maybeIso } from "../shape/shape.ts";
import { jobPath } from "./jobs.ts";

/** GET /jobs/:id/explain: why it is not running, and when it will. */
export function explainEndpoint(options: ApiOptions): Endpoint {
  const { operations, ports } = options;
  return endpoint("GET /jobs/:id/explain", {
    name: "explainJob",
    refuses: ["unknown-job"],
    summary: "Why a job is not running, and when it will",
    scope: ofJob(options),
    params: jobPath,
    replies: { 200: jobExplanation },
    async handle({ params: { id } }) {
      const [found, facts] = await Promise.all([
        ports.store.job(id),
        operations.waiting(id, operationsLimits.countRowsMax),
      ]);
      if (found === null || facts === null) throw new HttpProblem("unknown-job", `there is no job ${id}`);
      const { job, now } = found;
      const key = job.heldOn ?? job.slotKeys.find((each) => each.startsWith("lock:")) ?? null;
      const slot = key === null ? null : ((await operations.slots(key)).find((each) => each.key === key) ?? null);
      const { until, ...answer } = explainJob(job, facts, { now, slot });
      return { status: 200, body: { job: id, ...answer, until: maybeIso(until) } };
    },
  });
}
