import { type DataGraphJob, PermanentError } from "belfry";
import { Hono } from "hono";
import { z } from "zod";
import { databasePool } from "belfry/connect";
import { workflowInput } from "./workflow.ts";

const connected = databasePool({ poolSize: 1 });
const batch = "select * from dag_batch.batch_instance where biz_key = $1";
const tasks = `
  select task_key, pre_cnt, status, attempts, visible_at, worker_id, error_code from dag_batch.outbox_evt
  where batch_id = $1 order by id limit 200`;

/** Start a graph with its parameters, and look at a batch with the first 200 of its tasks. */
export function routes(workflow: DataGraphJob<z.input<typeof workflowInput>>): Hono {
  const app = new Hono();
  app.post("/batches", async (c) => {
    const { data, error: wrong } = workflowInput.safeParse((await c.req.json().catch(() => null)) ?? {});
    if (wrong !== undefined) return c.json({ error: "INVALID", fields: z.flattenError(wrong).fieldErrors }, 422);
    try {
      await workflow.checkTasks(data);
      const { id, created } = await workflow.enqueue(data);
      return c.json({ job: id, created }, created ? 201 : 200);
    } catch (error) {
      if (error instanceof PermanentError) return c.json({ error: error.code, message: error.message }, 422);
      throw error;
    }
  });
  app.get("/batches/:key", async (c) => {
    const [found] = (await connected().query<{ id: string }>(batch, [c.req.param("key")])).rows;
    if (found === undefined) return c.json({ error: "UNKNOWN", message: "no batch has this key, or not yet" }, 404);
    return c.json({ ...found, tasks: (await connected().query(tasks, [found.id])).rows });
  });
  return app;
}
