import { type Endpoint, endpoint } from "../endpoint.ts";
import { explained } from "../explained.ts";
import { ofJob } from "../scope.ts";
import type { ApiOptions } from "../options.ts";
import { unknownJob } from "../problem.ts";
import { jobExplanation } from "../shape/explanation.ts";
import { jobPath } from "./jobs.ts";

/** GET /jobs/:id/explain: why it is not running, and when it will. */
export function explainEndpoint(options: ApiOptions): Endpoint {
  return endpoint("GET /jobs/:id/explain", {
    name: "explainJob",
    refuses: ["unknown-job"],
    summary: "Why a job is not running, and when it will",
    scope: ofJob(options),
    params: jobPath,
    replies: { 200: jobExplanation },
    async handle({ params: { id }, within }) {
      const found = await options.ports.store.job(id);
      const body = found === null ? null : await explained(options, found, within);
      if (body === null) throw unknownJob(id);
      return { status: 200, body };
    },
  });
}
