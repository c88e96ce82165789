import { Hono } from "hono";
import { z } from "zod";
import { databasePool } from "belfry/connect";
import { zones } from "./quiz.ts";
import { subscribe } from "./subscribers.ts";

const connected = databasePool({ poolSize: 1 });
const asked = z.object({ zone: z.enum(zones) });
const unsubscribed = "update daily_quiz.app_user set notify = false where id = $1 returning id::text";
const log = "select * from daily_quiz.quiz_notification_log where user_id = $1 order by id desc limit 100";
const days = "select * from daily_quiz.quiz_day order by day desc, zone limit 60";

/** What the quiz's own pages do: subscribe, unsubscribe, look at a user's notifications, and at the funnel of each day. */
export const routes = new Hono();

routes.post("/users", async (c) => {
  const read = asked.safeParse(await c.req.json().catch(() => null));
  if (!read.success) return c.json({ error: "INVALID", fields: { zone: [`must be one of ${zones.join(", ")}`] } }, 422);
  const [user] = await subscribe(connected(), read.data.zone);
  return c.json(user, 201);
});

routes.post("/users/:id{[0-9]{1,18}}/unsubscribe", async (c) => {
  const { rows } = await connected().query(unsubscribed, [c.req.param("id")]);
  return rows[0] === undefined ? c.json({ error: "UNKNOWN", message: "there is no such user" }, 404) : c.json(rows[0]);
});

routes.get("/users/:id{[0-9]{1,18}}/notifications", async (c) =>
  c.json({ notifications: (await connected().query(log, [c.req.param("id")])).rows }),
);

routes.get("/days", async (c) => c.json({ days: (await connected().query(days)).rows }));
