import { Hono } from "hono";
import type { ApiOptions } from "./options.ts";
import { closest } from "./closest.ts";
import { Problem } from "./problem.ts";
import { readQuery, occurrencesQuery } from "./query.ts";
import { occurrenceJson, scheduleJson } from "./view.ts";

/** GET / and GET /:id/occurrences (newest first). */
export function schedules({ ports: { store } }: ApiOptions): Hono {
  const routes = new Hono();
  routes.get("/", async (c) => c.json({ schedules: (await store.schedules()).map(scheduleJson) }));

  routes.get("/:id/occurrences", async (c) => {
    const { limit } = readQuery(c, occurrencesQuery);
    const id = c.req.param("id");
    const known = (await store.schedules()).map((row) => row.id);
    if (!known.includes(id)) {
      const near = closest(id, known);
      const hint = near.length > 0 ? `did you mean ${near.join(" or ")}?` : "GET /schedules lists them";
      throw new Problem(404, "unknown-schedule", `there is no schedule ${JSON.stringify(id)}: ${hint}`, {
        extra: { near },
      });
    }
    return c.json({ occurrences: (await store.occurrences(id, limit)).map(occurrenceJson) });
  });
  return routes;
}
