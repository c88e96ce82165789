import { z } from "zod";
import type { Archived } from "../../core/ports/archive.ts";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import { schedulerLock } from "../../core/scheduler/pass.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { searchWithin } from "../scope.ts";
import type { ApiOptions } from "../options.ts";
import { health } from "../shape/schedule.ts";
import { iso } from "../../core/job/units.ts";
import { lastPassJson } from "../shape/overview.ts";
import { maybeIso } from "../shape/shape.ts";
import { countAll } from "./count-jobs.ts";

const alive = z.object({ status: z.literal("ok") }).meta({ id: "Alive" });

const archivedJson = ({ until, failing, ...part }: Archived) => ({
  ...part,
  until: maybeIso(until),
  failing: failing === null ? null : { ...failing, since: iso(failing.since) },
});

/** GET /health answers only when the database does; GET /livez asks nothing of it, and GET /readyz only whether it can write. */
export function healthEndpoints(options: ApiOptions): readonly Endpoint[] {
  const { ports, operations, registry, version, schemaVersion } = options;
  return [
    endpoint("GET /livez", {
      name: "getLive",
      summary: "Whether the process answers",
      scope: "nothing",
      replies: { 200: alive },
      handle: () => ({ status: 200, body: { status: "ok" } }),
    }),
    endpoint("GET /readyz", {
      name: "getReady",
      summary: "Whether the database answers too, and can write",
      scope: "nothing",
      replies: { 200: alive },
      async handle() {
        await operations.probeDisk();
        return { status: 200, body: { status: "ok" } };
      },
    }),
    endpoint("GET /health", {
      name: "getHealth",
      summary: "Versions, the age of the scheduler's last pass, and how many jobs there are of each state",
      scope: "list",
      replies: { 200: health },
      async handle({ within }) {
        const [counts, schema, now, pass, archived, removedJobs] = await Promise.all([
          countAll(operations, searchWithin(within)),
          schemaVersion?.() ?? null,
          ports.store.now(),
          operations.lastPass(schedulerLock),
          within === null ? operations.archived() : [],
          within === null ? ports.store.removedJobs(operationsLimits.countedRowsMax) : 0,
        ]);
        const lastPass = lastPassJson(pass);
        const body = {
          status: lastPass?.isLate === true ? ("scheduler-silent" as const) : ("ok" as const),
          lastPass,
          version,
          schemaVersion: schema,
          databaseTime: iso(now),
          kinds: within?.kinds.size ?? registry.jobs.size,
          schedules: [...registry.schedules.values()].filter(({ job }) => within?.kinds.has(job.id) ?? true).length,
          removedJobs,
          counts,
          archive: archived.map(archivedJson),
        };
        return { status: 200, body };
      },
    }),
  ];
}
