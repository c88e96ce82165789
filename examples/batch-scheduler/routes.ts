import { Hono } from "hono";
import { databasePool } from "belfry/connect";
import { arrive } from "./arrivals.ts";

const connected = databasePool({ poolSize: 1 });
const shown = `
  select key, topic, state, attempts, last_error, next_attempt_at, finished_at from batch_scheduler.outbox where key = $1`;

/** What other parts of the shop do in their own code: they write an outbox message, and look at one. */
export const routes = new Hono();

routes.post("/outbox", async (c) => {
  const client = await connected().connect();
  try {
    await client.query("begin");
    const { keys } = await arrive(client, { messages: 1, files: 0 });
    await client.query("commit");
    return c.json({ key: keys[0] }, 201);
  } finally {
    // A transaction that did not get to its commit ends with its connection.
    client.release(true);
  }
});

routes.get("/outbox/:key", async (c) => {
  const { rows } = await connected().query(shown, [c.req.param("key")]);
  return rows[0] === undefined
    ? c.json({ error: "UNKNOWN", message: "no message has this key" }, 404)
    : c.json(rows[0]);
});
