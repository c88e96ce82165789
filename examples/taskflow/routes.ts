import { type AttemptView, type RouteContext, InvalidPayload, type Job, type JobView, KeyConflict } from "belfry";
import { type Context, Hono } from "hono";
import { z } from "zod";
import type { payload } from "./task.ts";

const creation = z.object({
  job_key: z.string().min(1).max(200),
  job_type: z.string(),
  report: z.string(),
});

type Http = Context<{ Bindings: RouteContext }>;
type Task = Job<z.input<typeof payload>>;

/** create, get and cancel in the words of the system's clients. `job_key` is the client's own and makes a repeat harmless. */
export function routes(task: Task): Hono<{ Bindings: RouteContext }> {
  const app = new Hono<{ Bindings: RouteContext }>();
  app.post("/jobs", (c) => create(task, c));
  app.get("/jobs/:key", async (c) => {
    const shown = await show(task, c.env, c.req.param("key"));
    return shown === null ? c.json(unknown(c.req.param("key")), 404) : c.json(shown);
  });
  app.post("/jobs/:key/cancel", async (c) => {
    const key = c.req.param("key");
    const job = await c.env.find(task, key);
    if (job === null) return c.json(unknown(key), 404);
    const canceled = await c.env.cancel(job.id);
    return c.json({ canceled, ...(await show(task, c.env, key)) }, canceled || job.state === "CANCELED" ? 200 : 409);
  });
  app.onError((error, c) => {
    c.env.log.error("request failed", { method: c.req.method, path: c.req.path, error });
    return c.json({ error: "INTERNAL", message: "the request failed; send it again with the same job_key" }, 500);
  });
  return app;
}

/** 201 for a new job, 200 for the one that has the key, 409 when that one is another request, 422 with every wrong field. */
async function create(task: Task, c: Http): Promise<Response> {
  const asked = creation.safeParse(await c.req.json().catch(() => null));
  if (!asked.success) return c.json(invalid(asked.error.issues), 422);
  const { job_key: key, job_type: type, report } = asked.data;
  try {
    // What is still unknown about the type is for the payload's own schema to say.
    const { created } = await task.enqueue({ type, report } as z.input<typeof payload>, { key });
    return c.json({ created, ...(await show(task, c.env, key)) }, created ? 201 : 200);
  } catch (error) {
    if (error instanceof KeyConflict) return c.json({ error: "JOB_KEY_TAKEN", message: error.message }, 409);
    if (error instanceof InvalidPayload) return c.json(invalid(error.issues), 422);
    throw error;
  }
}

async function show(task: Task, inside: RouteContext, key: string): Promise<Record<string, unknown> | null> {
  const found = await inside.find(task, key);
  const detail = found === null ? null : await inside.get(found.id);
  return detail === null ? null : { ...jobJson(detail.job), attempts: detail.attempts.map(attemptJson) };
}

const jobJson = (job: JobView): Record<string, unknown> => ({
  job_id: job.id,
  job_key: job.key,
  status: job.state,
  ...(job.payload as { type: string; report: string }),
  progress: job.progress,
  attempt: job.attempt,
  retries_left: job.maxAttempts - job.failures,
  error_code: job.errorCode,
  result: job.result,
});

const attemptJson = (attempt: AttemptView): Record<string, unknown> => ({
  attempt: attempt.attempt,
  status: attempt.outcome,
  error_code: attempt.errorCode,
  error_message: attempt.errorMessage,
  worker: attempt.worker,
});

const unknown = (key: string): Record<string, unknown> => ({
  error: "JOB_UNKNOWN",
  message: `no job has the key "${key}"`,
});

const invalid = (issues: readonly { readonly path: string | PropertyKey[]; readonly message: string }[]) => ({
  error: "INVALID",
  fields: issues.map(({ path, message }) => ({ field: Array.isArray(path) ? path.join(".") : path, message })),
});
