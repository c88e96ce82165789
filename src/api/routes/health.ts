import { z } from "zod";
import { insightLimits } from "../../insight/insight-limits.ts";
import { schedulerLock } from "../../schedule/pass.ts";
import { endpoint } from "../endpoint.ts";
import type { Bounds } from "../scope.ts";
import type { ApiOptions } from "../options.ts";
import { health } from "../shape/schedule.ts";
import { iso } from "../../machine/units.ts";
import { readArchive } from "../../insight/archived.ts";
import { probeDisk, readAppSchemas, readTrouble, type Trouble } from "../../insight/health.ts";
import { oneRow } from "../../insight/sql-query.ts";
import { readPassed } from "../../insight/locks.ts";
import { countAll } from "./jobs.ts";

const alive = z.object({ status: z.literal("ok") }).meta({ id: "Alive" });

function statusOf({ isLate, clockBehindMs, resent }: Trouble & { readonly isLate: boolean }) {
  if (clockBehindMs > insightLimits.clockBehindMs) return "clock-behind" as const;
  if (isLate) return "scheduler-silent" as const;
  const isResent = resent.some(({ messages }) => messages > insightLimits.resentMessagesMax);
  return isResent ? ("messages-resent" as const) : ("ok" as const);
}

/** GET /health answers only when the database does; GET /livez asks nothing of it, and GET /readyz only whether it can write. */
export function healthEndpoints(options: ApiOptions) {
  const { insight } = options;
  return [
    endpoint("GET /livez", {
      name: "getLive",
      summary: "Whether the process answers",
      description: "Answers as long as the process does. Asks nothing of the database.",
      scope: "nothing",
      replies: { 200: alive },
      reply: () => ({ status: "ok" }),
    }),
    endpoint("GET /readyz", {
      name: "getReady",
      summary: "Whether the database answers too, and can write",
      description: "Answers 200 when the database answers, else 503.",
      answerMsMax: insightLimits.probeMsMax,
      scope: "nothing",
      replies: { 200: alive },
      async reply() {
        await probeDisk(insight);
        return { status: "ok" };
      },
    }),
    endpoint("GET /health", {
      name: "getHealth",
      summary: "Versions, the age of the scheduler's last pass, and how many jobs there are of each state",
      description:
        "Versions and counts by state. A count stops at a bound; `isMore` then says that there are more. Probes use `/livez` and `/readyz`.",
      scope: "list",
      replies: { 200: health },
      reply: ({ within }) => readHealth(options, within),
    }),
  ];
}

async function readHealth(options: ApiOptions, within: Bounds) {
  const { ports, insight, registry, version, schemaVersion, saves } = options;
  const [counts, schema, appSchemas, now, [lastPass = null], archive, removedJobs, { clockBehindMs, ...trouble }] =
    await Promise.all([
      countAll(insight, within.search),
      schemaVersion?.() ?? null,
      within.isWhole ? insight.run(readAppSchemas, {}) : [],
      ports.store.now(),
      insight.run(readPassed, schedulerLock),
      within.isWhole ? insight.run(readArchive, {}) : [],
      within.isWhole ? ports.store.removedJobs(insightLimits.countedRowsMax) : 0,
      oneRow(insight, readTrouble, {}),
    ]);
  const resent = trouble.resent.filter(({ lane }) => within.hasLane(lane));
  return {
    status: statusOf({ isLate: lastPass?.isLate === true, clockBehindMs, resent }),
    lastPass,
    clockBehindMs,
    resent,
    version,
    schemaVersion: schema,
    appSchemas,
    databaseTime: iso(now),
    kinds: within.search.kinds?.length ?? registry.jobs.size,
    schedules: [...registry.schedules.values()].filter(({ job }) => within.hasKind(job.id)).length,
    removedJobs,
    counts,
    archive,
    code: within.isWhole ? (saves?.running() ?? null) : null,
  };
}
