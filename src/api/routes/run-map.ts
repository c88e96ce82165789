import type { RunId } from "../../core/job/job.ts";
import { z } from "zod";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { ofRun } from "../scope.ts";
import type { ApiOptions } from "../options.ts";
import { HttpProblem } from "../problem.ts";
import { id } from "../query-fields.ts";
import { runMap, runMapJson } from "../shape/run-map.ts";

/** GET /runs/:id/map: every task of a run with its edges, small enough for one answer. */
export const runMapEndpoint = (options: ApiOptions): Endpoint =>
  endpoint("GET /runs/:id/map", {
    name: "getRunMap",
    refuses: ["unknown-run"],
    summary: "All tasks of a run in columns, with their edges, to draw it",
    scope: ofRun(options),
    params: z.object({ id }),
    replies: { 200: runMap },
    async handle({ params }) {
      const run = params.id as string as RunId;
      const map = await options.operations.runMap(run);
      if (map.tasks.length === 0 && (await options.ports.store.run(run)) === null)
        throw new HttpProblem("unknown-run", `there is no run ${run}`);
      return { status: 200, body: runMapJson(map) };
    },
  });
