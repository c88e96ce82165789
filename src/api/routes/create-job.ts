import { z } from "zod";
import { isDataError, isLockTimeout } from "../../postgres/failure.ts";
import type { JobDefinition } from "../../define/definition.ts";
import { InvalidPayload, KeyConflict } from "../../define/errors.ts";
import { prepare } from "../../run/enqueue.ts";
import type { JobId, NewJob } from "../../machine/job.ts";
import { insightLimits } from "../../insight/insight-limits.ts";
import { type InsertResult } from "../../machine/store.ts";
import { UnknownOutcome } from "../../machine/transaction.ts";
import { endpoint } from "../endpoint.ts";
import type { Answer } from "../json-answer.ts";
import { coalesceCalls } from "../gathered.ts";
import { startableKind } from "../startable-kind.ts";
import type { ApiOptions } from "../options.ts";
import { HttpProblem } from "../problem.ts";
import { preparedProblem } from "../prepared-problem.ts";
import { contractLimits } from "../../machine/contract-limits.ts";
import { durationUpTo, instant, nameText, text } from "../query-fields.ts";
import { createdJob, type JobDetailReply } from "../shape/job.ts";
import { jobsById } from "../../insight/job.ts";
import { readJobDetail } from "./job.ts";
import { isTraceparent } from "../../outside/tracing.ts";

const newJobBody = z.strictObject({
  kind: nameText("The id of its definition."),
  payload: z.unknown().optional().describe("What its definition asks for; left out where it asks for nothing."),
  key: text(
    contractLimits.keyCharactersMax,
    "Unique by kind while the job is kept: the same one makes no second job.",
  ).optional(),
  delay: durationUpTo(
    contractLimits.delayMsMax,
    "Due this long after now, or after `dueAt`, like `30s`, `10m` or `2h`.",
  ).optional(),
  dueAt: instant.transform((at) => new Date(at)).optional(),
});

type NewJobBody = z.infer<typeof newJobBody>;

/**
 * POST /jobs. Requests that arrive while others are written are batched: one insert, one outbox batch, one read. The next
 * insert does not wait until a batch is sent.
 */
export function createJobEndpoint(options: ApiOptions) {
  const insert = async (items: readonly Item[], how: { lockWaitMs?: number } = {}): Promise<readonly Inserted[]> => {
    const { results, sent } = await options.client.insert(items, how);
    return results.map((result) => ({ ...result, sent }));
  };
  const together = coalesceCalls<Item, Inserted>(
    (items) => insert(items, items.some(hasKey) ? { lockWaitMs: insightLimits.gatheredLockWaitMs } : {}),
    { bytesOf: ({ job }) => JSON.stringify(job.payload).length, isOfOne },
  );
  const write = patient(together, async (item) => {
    const [result] = await insert([item]);
    if (result === undefined) throw new Error("inserting one job gave no answer");
    return result;
  });
  const readBack = coalesceCalls<JobId, JobDetailReply | null>(async (ids) => {
    const found = await jobsById(options.insight, ids);
    return ids.map((id) => found.get(id) ?? null);
  });
  return endpoint("POST /jobs", {
    name: "createJob",
    refuses: [
      "unknown-kind",
      "not-startable",
      "invalid-payload",
      "over-limit",
      "seal-unavailable",
      "key-conflict",
      "key-held",
    ],
    summary: "Write a job; with a key, at most once",
    description:
      "Answers 201 for a new job and 200 for the one that has the key already. The key may also come as the header `Idempotency-Key`. The same key with another payload is refused; another due time does not move a job that exists, and `notes` says so. A W3C `traceparent` header is kept with the job: its attempts are spans under it.",
    example: { body: { kind: "hello", key: "first-hello", delay: "10m" } },
    scope: ({ body }) => ({ kinds: [body.kind] }),
    body: newJobBody,
    takesKey: true,
    byKind: "NewJob",
    replies: { 200: createdJob, 201: createdJob },
    handle: ({ body, request }) => create(options, { body, request }, { write, readBack }),
  });
}

/** A payload that a debounce merged may be invalid: that is known in the transaction. */
const isOfOne = (error: unknown): boolean =>
  isDataError(error) || isLockTimeout(error) || error instanceof InvalidPayload;

const hasKey = ({ job }: Item): boolean => job.key !== null || job.debounce !== undefined;

/** A request whose key another transaction holds leaves its batch and waits alone, on its own connection. */
function patient(together: Gathered["write"], alone: Gathered["write"]): Gathered["write"] {
  let waiting = 0;
  return async (item) => {
    try {
      return await together(item);
    } catch (error) {
      if (!isLockTimeout(error) || !hasKey(item)) throw error;
    }
    if (waiting >= insightLimits.heldKeysMax) throw keyHeld(item.job);
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

function keyHeld({ kind, debounce, ...job }: NewJob): HttpProblem {
  const key = job.key ?? debounce?.key ?? null;
  const detail = `the key ${JSON.stringify(key)} of "${kind}" is being inserted by another transaction that is still open: send it again`;
  return new HttpProblem("key-held", detail, { extra: { kind, key }, headers: { "retry-after": "1" } });
}

interface Item {
  readonly definition: JobDefinition;
  readonly job: NewJob;
}

interface Inserted extends InsertResult {
  /** Resolves when its message was sent, or when the send failed and the outbox batch stays open. */
  readonly sent: Promise<void>;
}

interface Gathered {
  write(item: Item): Promise<Inserted>;
  readBack(id: JobId): Promise<JobDetailReply | null>;
}

/** 201 for a new job, 200 for the one that has the key already, 409 when that one has another payload. */
async function create(
  options: ApiOptions,
  { body, request }: { readonly body: NewJobBody; readonly request: Request },
  { write, readBack }: Gathered,
): Promise<Answer> {
  const definition = startableKind(options.registry, body.kind);
  const job = await prepared(options, definition, { body, request });
  const { id, created, isConflict, sent } = await write({ definition, job }).catch((error: unknown) => {
    throw preparedProblem(error);
  });
  if (isConflict) {
    await sent;
    throw preparedProblem(new KeyConflict(job.kind, job.key ?? "", id));
  }
  const reading = readWritten(options, id, created ? readBack : null);
  const answer = Promise.all([reading, sent]).then(([written]) => {
    return { created, notes: created ? [] : notesOn(body, written), ...written };
  });
  const unchanged = created || job.debounce !== undefined ? {} : ({ unchanged: true } as const);
  return { status: created ? 201 : 200, location: `/jobs/${id}`, body: answer, ...unchanged };
}

/** A repeated request does not move the job, so the answer notes a due time that differs. Once it has started, that is of its retry. */
function notesOn({ dueAt, delay = 0 }: NewJobBody, job: JobDetailReply): readonly string[] {
  const wanted = (dueAt?.getTime() ?? Date.parse(job.createdAt)) + delay;
  const isAsked = dueAt !== undefined || delay > 0;
  if (!isAsked || job.attempt > 0 || wanted === Date.parse(job.dueAt)) return [];
  return [
    `job ${job.id} exists and is due at ${job.dueAt}: ${dueAt === undefined ? "delay" : "dueAt"} was not applied`,
  ];
}

/** New jobs are read back in batches, which leave out large payloads; such a job is read singly. */
async function readWritten(options: ApiOptions, id: JobId, readBack: Gathered["readBack"] | null) {
  const written = (await readBack?.(id)) ?? null;
  if (written === null || written.payloadBytes > insightLimits.listPayloadBytesMax)
    return await readJobDetail(options, id).catch((error: unknown) => {
      // A crash may have lost what was written: nothing that is not there is acknowledged.
      const isLost = error instanceof HttpProblem && error.code === "unknown-job";
      throw isLost ? new UnknownOutcome(`job ${id} was written and is not there`) : error;
    });
  return written;
}

async function prepared(
  { ports }: ApiOptions,
  definition: JobDefinition,
  { body, request }: { readonly body: NewJobBody; readonly request: Request },
): Promise<NewJob> {
  const { payload, key, delay: delayMs, dueAt } = body;
  const item = { payload, key, delayMs, dueAt };
  try {
    const parent = request.headers.get("traceparent") ?? "";
    const trace = isTraceparent(parent) ? parent : (ports.tracing?.parent() ?? ports.random.id());
    const [job] = await prepare(definition, { trace, seals: ports.seals }, [item]);
    if (job === undefined) throw new Error(`preparing "${definition.id}" gave no job`);
    return job;
  } catch (error) {
    throw preparedProblem(error);
  }
}
