import { z } from "zod";
import { isDataError } from "../../adapters/postgres/failure.ts";
import type { JobDefinition } from "../../core/define/definition.ts";
import { InvalidPayload, KeyConflict } from "../../core/define/errors.ts";
import { prepare } from "../../core/delivery/enqueue.ts";
import type { EventView, JobId, NewJob } from "../../core/job/job.ts";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import type { JobRecord } from "../../core/ports/job-search.ts";
import type { InsertResult } from "../../core/ports/ports.ts";
import { closest } from "../closest.ts";
import { type Answer, type Endpoint, endpoint } from "../endpoint.ts";
import { gathered } from "../gathered.ts";
import type { ApiOptions } from "../options.ts";
import { Problem } from "../problem.ts";
import { newJobBody } from "../query.ts";
import { createdJob } from "../shape/job.ts";
import { detailJson, readJob } from "./jobs.ts";

type NewJobBody = z.infer<typeof newJobBody>;

/**
 * POST /jobs. Requests that arrive while others are written go together: one statement, one hand-off, one reading back.
 * While a hand-off is sent, the next statement is under way already.
 */
export function createJobEndpoint(options: ApiOptions): Endpoint {
  const insert = async (items: readonly Item[]): Promise<readonly Inserted[]> => {
    const { results, sent } = await options.client.insert(items);
    return results.map((result) => ({ ...result, sent }));
  };
  const write = gathered(insert, { bytesOf: ({ job }) => job.canonicalInput.length, isOfOne: isDataError });
  const readBack = gathered<JobId, Written | null>(async (ids) => {
    const found = await options.operations.jobsById(ids);
    return ids.map((id) => found.get(id) ?? null);
  });
  return endpoint({
    method: "POST",
    path: "/jobs",
    summary: "Write a job; with a key, at most once",
    role: "operate",
    body: newJobBody,
    replies: { 200: createdJob, 201: createdJob },
    handle: ({ body }) => create(options, body, { write, readBack }),
  });
}

interface Written {
  readonly job: JobRecord;
  readonly events: readonly EventView[];
}

interface Item {
  readonly definition: JobDefinition;
  readonly job: NewJob;
}

interface Inserted extends InsertResult {
  /** Resolves when its message was sent, or is left to whoever finds the hand-off open. */
  readonly sent: Promise<void>;
}

interface Gathered {
  write(item: Item): Promise<Inserted>;
  readBack(id: JobId): Promise<Written | null>;
}

/** 201 for a new job, 200 for the one that has the key already, 409 when that one has another payload. */
async function create(options: ApiOptions, body: NewJobBody, { write, readBack }: Gathered): Promise<Answer> {
  const definition = knownKind(options, body.kind);
  const job = await prepared(options, definition, body);
  const { id, created, conflict, sent } = await write({ definition, job });
  if (conflict !== null) {
    await sent;
    throw keyConflict(job, id, conflict);
  }
  const told = readWritten(options, id, created ? readBack : null);
  const answer = Promise.all([told, sent]).then(([written]) => ({ created, ...written }));
  return { status: created ? 201 : 200, location: `/jobs/${id}`, body: answer };
}

/** A new job is read back together with others. One with a large payload is read by itself: the others come without it. */
async function readWritten(options: ApiOptions, id: JobId, readBack: Gathered["readBack"] | null) {
  const written = (await readBack?.(id)) ?? null;
  if (written === null || written.job.payloadBytes > operationsLimits.listPayloadBytesMax)
    return await readJob(options, id);
  return detailJson({ ...written, attempts: [] }, written.job.createdAt);
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

async function prepared(options: ApiOptions, definition: JobDefinition, body: NewJobBody): Promise<NewJob> {
  const { payload, key, delay: delayMs, dueAt } = body;
  const item = { payload, key, delayMs, dueAt };
  try {
    const [job] = await prepare(definition, { stage: options.stage ?? "dev", trace: options.ports.random.id() }, [
      item,
    ]);
    if (job === undefined) throw new Error(`preparing "${definition.id}" gave no job`);
    return job;
  } catch (error) {
    if (error instanceof InvalidPayload) {
      const issues = error.issues.map(({ path, message }) => ({ path: path ? `payload.${path}` : "payload", message }));
      throw new Problem(422, "invalid-payload", error.message, { issues });
    }
    // A limit of the core that depends on the definition: the stored payload, or the key it computes.
    if (error instanceof RangeError) throw new Problem(422, "over-limit", error.message);
    throw error;
  }
}

function keyConflict(job: NewJob, jobId: JobId, conflict: NonNullable<InsertResult["conflict"]>): Problem {
  const { detail, message } = new KeyConflict(job.kind, job.key ?? "", jobId, conflict.existingHash, conflict.hash);
  return new Problem(409, "key-conflict", message, { extra: { conflict: detail } });
}
