import { type Context, Hono } from "hono";
import { cancelJobs, retryJobs } from "../core/control.ts";
import type { JobDefinition } from "../core/definitions/definition.ts";
import type { EnqueueItem } from "../core/enqueue.ts";
import { InvalidPayload, KeyConflict } from "../core/definitions/errors.ts";
import type { JobId } from "../core/job.ts";
import { isFinal } from "../core/state.ts";
import type { ApiOptions } from "./options.ts";
import { readJson } from "./body.ts";
import { closest } from "./closest.ts";
import { Problem } from "./problem.ts";
import { jobsQuery, newJobBody, readBody, readId, readQuery } from "./query.ts";
import { attemptJson, eventJson, jobJson } from "./view.ts";

/** POST /, GET /, GET /:id, POST /:id/cancel, POST /:id/retry. */
export function jobs(options: ApiOptions): Hono {
  const routes = new Hono();
  routes.post("/", (c) => create(options, c));
  routes.get("/", (c) => list(options, c));
  routes.get("/:id", async (c) => c.json(await detail(options, readId(c.req.param("id")))));
  routes.post("/:id/cancel", async (c) => c.json(await cancel(options, readId(c.req.param("id")))));
  routes.post("/:id/retry", async (c) => c.json(await retry(options, readId(c.req.param("id")))));
  return routes;
}

/** 201 for a new job, 200 for the one that has the key already, 409 when that one has another payload. */
async function create(options: ApiOptions, c: Context): Promise<Response> {
  const body = readBody(await readJson(c.req.raw), newJobBody);
  const definition = knownKind(options, body.kind);
  const trace = options.ports.random.id();
  const { payload, key, delay: delayMs, dueAt } = body;
  const enqueued = await enqueue(options, definition, { payload, key, delayMs, dueAt }, trace);
  return c.json({ created: enqueued.created, ...(await detail(options, enqueued.id)) }, enqueued.created ? 201 : 200, {
    location: `/jobs/${enqueued.id}`,
  });
}

function knownKind({ registry }: ApiOptions, kind: string): JobDefinition {
  const definition = registry.jobs.get(kind);
  if (definition !== undefined) return definition;
  const near = closest(kind, registry.jobs.keys());
  const hint = near.length > 0 ? `did you mean ${near.join(" or ")}?` : "no definition has a similar name";
  const shown = JSON.stringify(kind.slice(0, 100));
  throw new Problem(422, "unknown-kind", `no job is defined as ${shown}: ${hint}`, {
    issues: [{ path: "kind", message: "is not defined in the running apps" }],
    extra: { near },
  });
}

async function enqueue({ client }: ApiOptions, definition: JobDefinition, item: EnqueueItem, trace: string) {
  try {
    const [enqueued] = await client.enqueue(definition, [item], { trace });
    if (enqueued === undefined) throw new Error(`enqueueing "${definition.id}" gave no answer`);
    return enqueued;
  } catch (error) {
    if (error instanceof InvalidPayload) {
      const issues = error.issues.map(({ path, message }) => ({ path: path ? `payload.${path}` : "payload", message }));
      throw new Problem(422, "invalid-payload", error.message, { issues });
    }
    if (error instanceof KeyConflict)
      throw new Problem(409, "key-conflict", error.message, { extra: { conflict: error.detail } });
    // A limit of the core that depends on the definition: the stored payload, or the key it computes.
    if (error instanceof RangeError) throw new Problem(422, "over-limit", error.message);
    throw error;
  }
}

async function list({ ports: { store } }: ApiOptions, c: Context): Promise<Response> {
  const { state, kind, lane, key, cursor, limit } = readQuery(c, jobsQuery);
  const filter = {
    ...(state === undefined ? {} : { states: state }),
    ...(kind === undefined ? {} : { kind }),
    ...(lane === undefined ? {} : { lane }),
    ...(key === undefined ? {} : { key }),
    ...(cursor === undefined ? {} : { before: cursor }),
  };
  // One row more than asked for tells whether there is another page.
  const [rows, now] = await Promise.all([store.jobs({ ...filter, limit: limit + 1 }), store.now()]);
  const page = rows.slice(0, limit);
  const nextCursor = rows.length > limit ? (page.at(-1)?.id ?? null) : null;
  return c.json({ jobs: page.map((job) => jobJson(job, now)), nextCursor });
}

async function detail({ ports: { store } }: ApiOptions, id: JobId) {
  const [found, now] = await Promise.all([store.job(id), store.now()]);
  if (found === null) throw new Problem(404, "unknown-job", `there is no job ${id}`);
  const { job, attempts, events } = found;
  return { ...jobJson(job, now), attempts: attempts.map(attemptJson), events: events.map(eventJson) };
}

/** Canceling a canceled job changes nothing and is no error. */
async function cancel(options: ApiOptions, id: JobId) {
  const before = await detail(options, id);
  if (before.state === "CANCELED") return before;
  await cancelJobs(options.ports, options.registry, [id]);
  const after = await detail(options, id);
  if (after.state !== "CANCELED" && isFinal(after.state)) {
    throw new Problem(
      409,
      "already-finished",
      `job ${id} is ${after.state}: only a job that has not finished can be canceled`,
    );
  }
  return after;
}

async function retry(options: ApiOptions, id: JobId) {
  const before = await detail(options, id);
  const retried = await retryJobs(options.ports, [id], { lookAheadMs: options.lookAheadMs });
  if (retried.includes(id)) return await detail(options, id);
  throw new Problem(
    409,
    "not-retryable",
    `job ${id} is ${before.state}: only a FAILED, CANCELED or SKIPPED job can be retried`,
  );
}
