import { z } from "zod";
import { type Endpoint, endpoint } from "../endpoint.ts";
import type { ApiOptions } from "../options.ts";
import { health } from "../shape/schedule.ts";
import { countAll } from "./count-jobs.ts";

const alive = z.object({ status: z.literal("ok") }).meta({ id: "Alive" });

/** GET /health answers only when the database does; GET /livez asks nothing of it, and GET /readyz only its time. */
export function healthEndpoints(options: ApiOptions): readonly Endpoint[] {
  const { ports, operations, registry, version, schemaVersion } = options;
  return [
    endpoint({
      method: "GET",
      name: "getLive",
      path: "/livez",
      summary: "Whether the process answers",
      role: "read",
      replies: { 200: alive },
      handle: () => ({ status: 200, body: { status: "ok" } }),
    }),
    endpoint({
      method: "GET",
      name: "getReady",
      path: "/readyz",
      summary: "Whether the database answers too",
      role: "read",
      replies: { 200: alive },
      async handle() {
        await ports.store.now();
        return { status: 200, body: { status: "ok" } };
      },
    }),
    endpoint({
      method: "GET",
      name: "getHealth",
      path: "/health",
      summary: "Versions, and how many jobs there are of each state",
      role: "read",
      replies: { 200: health },
      async handle() {
        const [counts, schema, now] = await Promise.all([
          countAll(operations, {}),
          schemaVersion?.() ?? null,
          ports.store.now(),
        ]);
        const body = {
          status: "ok",
          version,
          schemaVersion: schema,
          databaseTime: new Date(now).toISOString(),
          kinds: registry.jobs.size,
          schedules: registry.schedules.size,
          counts,
        };
        return { status: 200, body };
      },
    }),
  ];
}
