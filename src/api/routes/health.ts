import { type Endpoint, endpoint } from "../endpoint.ts";
import type { ApiOptions } from "../options.ts";
import { health } from "../shape/schedule.ts";

/** GET /health answers only when the database does. */
export function healthEndpoint({ ports, registry, version, schemaVersion }: ApiOptions): Endpoint {
  return endpoint({
    method: "GET",
    path: "/health",
    summary: "Whether it works, and which versions run",
    role: "read",
    replies: { 200: health },
    async handle() {
      const [counts, schema, now] = await Promise.all([
        ports.store.counts(),
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
  });
}
