import { Hono } from "hono";
import type { OccurrencePlace } from "../core/schedules/schedule.ts";
import type { ApiOptions } from "./options.ts";
import { closest } from "./closest.ts";
import { Problem } from "./problem.ts";
import { readQuery, occurrencesQuery } from "./query.ts";
import { occurrenceJson, scheduleJson } from "./view.ts";

/** GET / and GET /:id/occurrences (newest first, a page at a time). */
export function schedules({ ports: { store } }: ApiOptions): Hono {
  const routes = new Hono();
  routes.get("/", async (c) => c.json({ schedules: (await store.schedules()).map(scheduleJson) }));

  routes.get("/:id/occurrences", async (c) => {
    const { limit, cursor } = readQuery(c, occurrencesQuery);
    const id = c.req.param("id");
    const known = (await store.schedules()).map((row) => row.id);
    if (!known.includes(id)) {
      const near = closest(id, known);
      const hint = near.length > 0 ? `did you mean ${near.join(" or ")}?` : "GET /schedules lists them";
      throw new Problem(404, "unknown-schedule", `there is no schedule ${JSON.stringify(id)}: ${hint}`, {
        extra: { near },
      });
    }
    const rows = await store.occurrences(id, limit, cursor);
    const last = rows.length < limit ? undefined : rows.at(-1);
    return c.json({ occurrences: rows.map(occurrenceJson), nextCursor: last === undefined ? null : cursorOf(last) });
  });
  return routes;
}

const cursorOf = ({ nominalAt, localTime, fold, timezone }: OccurrencePlace): string =>
  [nominalAt, localTime, fold, timezone].join("~");
