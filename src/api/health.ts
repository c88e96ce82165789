import { Hono } from "hono";
import type { ApiOptions } from "./options.ts";

/** GET / answers only when the database does. */
export function health({ ports, registry, version, schemaVersion }: ApiOptions): Hono {
  return new Hono().get("/", async (c) => {
    const [counts, schema, now] = await Promise.all([
      ports.store.counts(),
      schemaVersion?.() ?? null,
      ports.store.now(),
    ]);
    return c.json({
      status: "ok",
      version,
      schemaVersion: schema,
      databaseTime: new Date(now).toISOString(),
      kinds: registry.jobs.size,
      schedules: registry.schedules.size,
      counts,
    });
  });
}
