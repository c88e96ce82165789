import type { RunId } from "../../core/job/job.ts";
import { z } from "zod";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { ofRun } from "../scope.ts";
import type { ApiOptions } from "../options.ts";
import { unknownRun } from "../problem.ts";
import { id } from "../query-fields.ts";
import { runMap, runMapJson } from "../shape/run-map.ts";

/** GET /runs/:id/map: every task of a run with its edges, small enough for one answer. */
export const runMapEndpoint = (options: ApiOptions): Endpoint =>
  endpoint("GET /runs/:id/map", {
    name: "getRunMap",
    refuses: ["unknown-run"],
    summary: "A run with all its tasks in columns, their edges and the first failures, to draw it",
    scope: ofRun(options),
    params: z.object({ id }),
    replies: { 200: runMap },
    async handle({ params }) {
      const run = params.id as string as RunId;
      const { store } = options.ports;
      const [view, map] = await Promise.all([store.run(run), options.operations.runMap(run)]);
      if (view === null) throw unknownRun(run);
      const only = { states: ["FAILED"], limit: operationsLimits.mappedFailuresMax } as const;
      const failed = view.failed === 0 ? [] : await store.tasks(run, only);
      return { status: 200, body: runMapJson({ ...map, run: view, failed }) };
    },
  });
