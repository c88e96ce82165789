import { z } from "zod";
import { isDataError, isLockTimeout } from "../../adapters/postgres/failure.ts";
import type { JobDefinition } from "../../core/define/definition.ts";
import { InvalidPayload, KeyConflict } from "../../core/define/errors.ts";
import { prepare } from "../../core/delivery/enqueue.ts";
import type { JobId, JobView, MoveView, NewJob } from "../../core/job/job.ts";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import { CellMapChanged, type InsertResult, UnknownOutcome } from "../../core/ports/ports.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import type { Answer } from "../json-answer.ts";
import { gathered } from "../gathered.ts";
import { startableKind } from "../startable-kind.ts";
import type { ApiOptions } from "../options.ts";
import { HttpProblem, invalidField } from "../problem.ts";
import { newJobBody } from "../query.ts";
import { createdJob, type JobDetailReply } from "../shape/job.ts";
import { detailJson, readJobDetail } from "./jobs.ts";

type NewJobBody = z.infer<typeof newJobBody>;

/**
 * POST /jobs. Requests that arrive while others are written are batched: one insert, one outbox batch, one read. The next
 * insert does not wait until a batch is sent.
 */
export function createJobEndpoint(options: ApiOptions): Endpoint {
  const insert = async (items: readonly Item[], how: { lockWaitMs?: number } = {}): Promise<readonly Inserted[]> => {
    const versions = items.flatMap(({ mapVersion }) => mapVersion ?? []);
    const mapVersion = versions.length === 0 ? undefined : Math.min(...versions);
    const { results, sent } = await options.client.insert(items, { ...how, mapVersion });
    return results.map((result) => ({ ...result, sent }));
  };
  const together = gathered<Item, Inserted>(
    (items) => insert(items, items.some(hasKey) ? { lockWaitMs: operationsLimits.gatheredLockWaitMs } : {}),
    { bytesOf: ({ job }) => job.canonicalInput.length, isOfOne },
  );
  const write = patient(together, async (item) => {
    const [result] = await insert([item]);
    if (result === undefined) throw new Error("inserting one job gave no answer");
    return result;
  });
  const readBack = gathered<JobId, Written | null>(async (ids) => {
    const found = await options.operations.jobsById(ids);
    return ids.map((id) => found.get(id) ?? null);
  });
  return endpoint("POST /jobs", {
    name: "createJob",
    refuses: [
      "unknown-kind",
      "not-startable",
      "invalid-payload",
      "over-limit",
      "key-conflict",
      "key-held",
      "cell-map-changed",
    ],
    summary: "Write a job; with a key, at most once",
    scope: ({ body }) => ({ kinds: [body.kind] }),
    body: newJobBody,
    takesKey: true,
    replies: { 200: createdJob, 201: createdJob },
    handle: ({ body, request }) => create(options, body, { write, readBack, mapVersion: mapVersionOf(request) }),
  });
}

const isOfOne = (error: unknown): boolean =>
  isDataError(error) || isLockTimeout(error) || error instanceof CellMapChanged;

const hasKey = ({ job }: Item): boolean => job.key !== null;

/** A request whose key another transaction holds leaves its batch and waits alone, on its own connection. */
function patient(together: Gathered["write"], alone: Gathered["write"]): Gathered["write"] {
  let waiting = 0;
  return async (item) => {
    try {
      return await together(item);
    } catch (error) {
      if (!isLockTimeout(error) || !hasKey(item)) throw error;
    }
    if (waiting >= operationsLimits.heldKeysMax) throw keyHeld(item.job);
    waiting += 1;
    try {
      return await alone(item);
    } catch (error) {
      throw isLockTimeout(error) ? keyHeld(item.job) : error;
    } finally {
      waiting -= 1;
    }
  };
}

function keyHeld({ kind, key }: NewJob): HttpProblem {
  const detail = `the key ${JSON.stringify(key)} of "${kind}" is being inserted by another transaction that is still open: send it again`;
  return new HttpProblem("key-held", detail, { extra: { kind, key }, headers: { "retry-after": "1" } });
}

interface Written {
  readonly job: JobView;
  readonly events: readonly MoveView[];
}

interface Item {
  readonly definition: JobDefinition;
  readonly job: NewJob;
  readonly mapVersion?: number | undefined;
}

interface Inserted extends InsertResult {
  /** Resolves when its message was sent, or when the send failed and the outbox batch stays open. */
  readonly sent: Promise<void>;
}

interface Gathered {
  write(item: Item): Promise<Inserted>;
  readBack(id: JobId): Promise<Written | null>;
}

/** 201 for a new job, 200 for the one that has the key already, 409 when that one has another payload. */
async function create(
  options: ApiOptions,
  body: NewJobBody,
  { write, readBack, mapVersion }: Gathered & { readonly mapVersion: number | undefined },
): Promise<Answer> {
  const definition = startableKind(options.registry, body.kind);
  const job = await prepared(options, definition, body);
  const { id, created, isConflict, sent } = await write({ definition, job, mapVersion }).catch((error: unknown) => {
    throw error instanceof CellMapChanged ? new HttpProblem("cell-map-changed", error.message) : error;
  });
  if (isConflict) {
    await sent;
    throw preparedProblem(new KeyConflict(job.kind, job.key ?? "", id));
  }
  const reading = readWritten(options, id, created ? readBack : null);
  const answer = Promise.all([reading, sent]).then(([written]) => {
    return { created, notes: created ? [] : notesOn(body, written), ...written };
  });
  const unchanged = created ? {} : ({ unchanged: true } as const);
  return { status: created ? 201 : 200, location: `/jobs/${id}`, body: answer, ...unchanged };
}

/** Of the cell map by which the front chose this cell. */
export const cellMapHeader = "belfry-cell-map";

function mapVersionOf(request: Request): number | undefined {
  const given = request.headers.get(cellMapHeader);
  if (given === null) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(given)) throw invalidField(`header ${cellMapHeader}`, "must be the version of a cell map");
  return Number(given);
}

/** A repeated request does not move the job, so the answer notes a due time that differs. */
function notesOn({ dueAt, delay }: NewJobBody, { id, dueAt: stands, createdAt }: JobDetailReply): readonly string[] {
  const asked = dueAt === undefined ? (delay === undefined ? null : "delay") : "dueAt";
  const wanted = dueAt?.getTime() ?? Date.parse(createdAt) + (delay ?? 0);
  if (asked === null || wanted === Date.parse(stands)) return [];
  return [`job ${id} exists and is due at ${stands}: ${asked} was not applied`];
}

/** New jobs are read back in batches, which leave out large payloads; such a job is read singly. */
async function readWritten(options: ApiOptions, id: JobId, readBack: Gathered["readBack"] | null) {
  const written = (await readBack?.(id)) ?? null;
  if (written === null || written.job.payloadBytes > operationsLimits.listPayloadBytesMax)
    return await readJobDetail(options, id).catch((error: unknown) => {
      // A crash may have lost what was written: nothing that is not there is acknowledged.
      const isLost = error instanceof HttpProblem && error.code === "unknown-job";
      throw isLost ? new UnknownOutcome(`job ${id} was written and is not there`) : error;
    });
  return detailJson({ ...written, attempts: [] }, written.job.createdAt);
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
    throw preparedProblem(error);
  }
}

/** What is wrong with a job that was not written, as the API says it; another error as it is. */
export function preparedProblem(error: unknown): unknown {
  if (error instanceof InvalidPayload) {
    const issues = error.issues.map(({ path, message }) => ({ path: path ? `payload.${path}` : "payload", message }));
    return new HttpProblem("invalid-payload", error.message, { issues });
  }
  // A limit of the core that depends on the definition: the stored payload, or the key it computes.
  if (error instanceof RangeError) return new HttpProblem("over-limit", error.message);
  if (error instanceof KeyConflict)
    return new HttpProblem("key-conflict", error.message, { extra: { conflict: error.detail } });
  return error;
}
