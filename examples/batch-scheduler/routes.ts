import { Hono } from "hono";
import { databasePool } from "belfry/connect";
import { arrive } from "./arrivals.ts";

const connected = databasePool({ poolSize: 1 });
const shown = "select * from batch_scheduler.outbox where key = $1";

/** What other parts of the shop do in their own code: they write an outbox message, and look at one. */
export const routes = new Hono();

routes.post("/outbox", async (c) => c.json((await arrive(connected(), { messages: 1, files: 0 }))[0], 201));

routes.get("/outbox/:key", async (c) => {
  const [row] = (await connected().query<object>(shown, [c.req.param("key")])).rows;
  return row === undefined ? c.json({ error: "UNKNOWN", message: "no message has this key" }, 404) : c.json(row);
});
