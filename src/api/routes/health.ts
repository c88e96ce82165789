import { z } from "zod";
import type { Archived } from "../../core/ports/archive.ts";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import type { Trouble } from "../../core/ports/overview.ts";
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

function statusOf({ isLate, clockBehindMs, resent }: Trouble & { readonly isLate: boolean }) {
  if (clockBehindMs > operationsLimits.clockBehindMs) return "clock-behind" as const;
  if (isLate) return "scheduler-silent" as const;
  const isResent = resent.some(({ messages }) => messages > operationsLimits.resentMessagesMax);
  return isResent ? ("messages-resent" as const) : ("ok" as const);
}

/** GET /health answers only when the database does; GET /livez asks nothing of it, and GET /readyz only whether it can write. */
export function healthEndpoints(options: ApiOptions): readonly Endpoint[] {
  const { ports, operations, registry, version, schemaVersion, saves } = options;
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
      answerMsMax: operationsLimits.probeMsMax,
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
        const [counts, schema, now, pass, archived, removedJobs, { clockBehindMs, ...trouble }] = await Promise.all([
          countAll(operations, searchWithin(within)),
          schemaVersion?.() ?? null,
          ports.store.now(),
          operations.lastPass(schedulerLock),
          within === null ? operations.archived() : [],
          within === null ? ports.store.removedJobs(operationsLimits.countedRowsMax) : 0,
          operations.trouble(),
        ]);
        const lastPass = lastPassJson(pass);
        const resent = trouble.resent.filter(({ lane }) => within?.hasLane(lane) ?? true);
        const body = {
          status: statusOf({ isLate: lastPass?.isLate === true, clockBehindMs, resent }),
          lastPass,
          clockBehindMs: Math.round(clockBehindMs),
          resent,
          version,
          schemaVersion: schema,
          databaseTime: iso(now),
          kinds: within?.kinds.size ?? registry.jobs.size,
          schedules: [...registry.schedules.values()].filter(({ job }) => within?.kinds.has(job.id) ?? true).length,
          removedJobs,
          counts,
          archive: archived.map(archivedJson),
          code: within === null ? (saves?.running() ?? null) : null,
        };
        return { status: 200, body };
      },
    }),
  ];
}
