import { type AttemptView, type Instant, type Job, type JobView, KeyConflict, type RouteContext } from "belfry";
import { type Context, Hono } from "hono";
import { z } from "zod";
import { payload, type TaskPayload } from "./task.ts";

const noPriority = "is not taken: jobs start in the order of their times; what must not wait gets a lane of its own";
const storable = /^[^\p{Cc}\p{Cs}]+$/u;
const creation = z.strictObject({
  job_key: z.string().max(200).regex(storable, "must be 1 to 200 characters, none of them a control character"),
  type: payload.shape.type,
  payload: payload.omit({ type: true }),
  scheduled_at: z.iso.datetime({ offset: true }).optional(),
  priority: z.undefined(noPriority).optional(),
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
  const { job_key: key, type, payload: given, scheduled_at: at } = asked.data;
  const due = at === undefined ? {} : { dueAt: new Date(at) };
  try {
    const { created } = await task.enqueue({ ...given, type }, { key, ...due });
    return c.json({ created, ...(await show(task, c.env, key)) }, created ? 201 : 200);
  } catch (error) {
    if (error instanceof RangeError) return c.json(invalid([{ path: ["scheduled_at"], message: error.message }]), 422);
    if (error instanceof KeyConflict) return c.json({ error: "JOB_KEY_TAKEN", message: error.message }, 409);
    throw error;
  }
}

async function show(task: Task, inside: RouteContext, key: string): Promise<Record<string, unknown> | null> {
  const found = await inside.find(task, key);
  const detail = found === null ? null : await inside.get(found.id);
  return detail === null ? null : { ...jobJson(detail.job), attempts: detail.attempts.map(attemptJson) };
}

const waiting: ReadonlySet<JobView["state"]> = new Set(["PENDING", "QUEUED", "RETRY_WAIT"]);

/** Times in ISO 8601 and UTC. QUEUED is Belfry's word for a job whose message is out. */
const jobJson = (job: JobView): Record<string, unknown> => {
  const { type, ...payloadOf } = job.payload as TaskPayload;
  return {
    id: job.id,
    job_key: job.key,
    type,
    payload: payloadOf,
    status: job.state,
    progress: job.progress,
    scheduled_at: at(job.dueAt),
    next_run_at: waiting.has(job.state) ? at(job.dueAt) : null,
    attempt_count: job.attempt,
    max_attempts: job.maxAttempts,
    retries_left: job.maxAttempts - job.failures,
    worker_id: job.worker,
    version: job.generation,
    error_code: job.errorCode,
    result: job.result,
    created_at: at(job.createdAt),
  };
};

const attemptJson = (attempt: AttemptView): Record<string, unknown> => ({
  attempt_no: attempt.attempt,
  status: attempt.outcome,
  worker_id: attempt.worker,
  error_code: attempt.errorCode,
  error_message: attempt.errorMessage,
  started_at: at(attempt.startedAt),
  ended_at: at(attempt.endedAt),
});

const at = (instant: Instant): string => new Date(instant).toISOString();

const unknown = (key: string) => ({ error: "JOB_UNKNOWN", message: `no job has the key "${key}"` });

const invalid = (issues: readonly Pick<z.core.$ZodIssue, "path" | "message">[]) => ({
  error: "INVALID",
  fields: issues.map(({ path, message }) => ({ field: path.join(".") || "request", message })),
});
