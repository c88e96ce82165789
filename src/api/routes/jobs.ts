import { z } from "zod";
import { cancelJobs, retryJobs } from "../../core/admin/control.ts";
import type { Instant, JobId } from "../../core/job/job.ts";
import { contractLimits } from "../../core/job/contract-limits.ts";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import { type JobSearch, jobSorts } from "../../core/ports/job-search.ts";
import { afterCommit } from "../../core/delivery/after-commit.ts";
import type { RunId } from "../../core/ports/run.ts";
import { isFinal, states } from "../../core/job/state.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import type { ApiOptions } from "../options.ts";
import { Problem } from "../problem.ts";
import { id, limit, text } from "../query.ts";
import { jobDetail, type JobDetailReply, jobList, recordJson } from "../shape/job.ts";
import { attemptJson, eventJson } from "../view.ts";

const instant = z.iso
  .datetime({ offset: true, error: "must be a time with its offset: 2026-11-21T08:00:00Z" })
  .transform((value) => Date.parse(value));

/** What one may look for; `payload.user.id=42` compares that member of the payload as text. */
export const searchFields = {
  state: z
    .string()
    .transform((value) => value.toUpperCase().split(","))
    .pipe(z.array(z.enum(states)))
    .optional(),
  id: id.optional(),
  /** Words of which each is the id, or a part of the kind, the key or the error. */
  text: text(operationsLimits.searchedTextCharactersMax)
    .transform((value) => value.trim().split(/\s+/))
    .refine(
      (words) => words.length <= operationsLimits.searchedWordsMax,
      `must be at most ${operationsLimits.searchedWordsMax} words`,
    )
    .optional(),
  kind: text(contractLimits.idCharactersMax).optional(),
  lane: text(contractLimits.idCharactersMax).optional(),
  key: text(contractLimits.keyCharactersMax).optional(),
  error: text(contractLimits.errorCodeCharactersMax).optional(),
  fingerprint: text(contractLimits.idCharactersMax).optional(),
  run: id.optional(),
  schedule: text(200).optional(),
  worker: text(200).optional(),
  dueFrom: instant.optional(),
  dueTo: instant.optional(),
};

const jobsQuery = z
  .object({
    ...searchFields,
    sort: z.enum(jobSorts).default("newest"),
    cursor: z
      .string()
      .regex(/^(-?\d{1,18}_)?\d{1,18}$/, "must be the nextCursor of the page before")
      .optional(),
    limit: limit(contractLimits.listRowsMax, 50),
  })
  .catchall(text(1_000))
  .superRefine((query, ctx) => {
    onlyPayloadMembers(query, ctx, { ...searchFields, sort: null, cursor: null, limit: null });
    sortsWhatWaits(query, ctx);
  });

type Query = Readonly<Record<string, unknown>>;
const waitingStates = new Set<unknown>(["PENDING", "QUEUED", "RETRY_WAIT"]);

/** An unknown parameter is refused, so that a misspelt filter does not list everything. */
export function onlyPayloadMembers(query: Query, ctx: z.RefinementCtx, known: object): void {
  const others = Object.keys(query).filter((name) => !Object.hasOwn(known, name));
  const unknown = others.filter((name) => !/^payload(\.[^.]{1,100}){1,8}$/.test(name));
  if (unknown.length > 0) ctx.addIssue({ code: "unrecognized_keys", keys: unknown, input: query });
  if (others.length - unknown.length > operationsLimits.searchedPayloadsMax) {
    ctx.addIssue({
      code: "custom",
      message: `at most ${operationsLimits.searchedPayloadsMax} payload members`,
      input: query,
    });
  }
}

function sortsWhatWaits(query: Query, ctx: z.RefinementCtx): void {
  const { cursor, state } = query;
  if (query["sort"] === "due" && Array.isArray(state) && !state.every((each) => waitingStates.has(each))) {
    const message = "due is for jobs that wait: ask for states among PENDING, QUEUED and RETRY_WAIT";
    ctx.addIssue({ code: "custom", path: ["sort"], message, input: query });
  }
  if (typeof cursor === "string" && cursor.includes("_") !== (query["sort"] === "due")) {
    ctx.addIssue({ code: "custom", path: ["cursor"], message: "is of another sort", input: query });
  }
}

interface AskedSearch extends z.infer<z.ZodObject<typeof searchFields>> {
  readonly [name: string]: unknown;
}

/** The search that a query or a body asks for. */
export function searchOf(query: AskedSearch): JobSearch {
  const { state, id: jobId, text: words, kind, lane, key, error } = query;
  const { fingerprint, run, schedule, worker, dueFrom, dueTo } = query;
  const payload = Object.entries(query)
    .filter(([name]) => name.startsWith("payload."))
    .map(([name, value]) => ({ path: name.split(".").slice(1), value: String(value) }));
  const given = {
    states: state,
    id: jobId,
    words,
    kind,
    lane,
    key,
    errorCode: error,
    fingerprint,
    runId: run as RunId | undefined,
    scheduleId: schedule,
    worker,
    dueFrom,
    dueTo,
    payload: payload.length === 0 ? undefined : payload,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

export const jobPath = z.object({ id });

/** GET /jobs, GET /jobs/:id, POST /jobs/:id/{cancel,retry,run-now}. */
export function jobEndpoints(options: ApiOptions): readonly Endpoint[] {
  const change = { role: "operate", params: jobPath, replies: { 200: jobDetail } } as const;
  return [
    endpoint({
      method: "GET",
      path: "/jobs",
      summary: "Jobs by filter, a page at a time",
      role: "read",
      query: jobsQuery,
      replies: { 200: jobList },
      handle: async ({ query }) => ({ status: 200, body: await list(options, query) }),
    }),
    endpoint({
      method: "GET",
      path: "/jobs/:id",
      summary: "One job with its attempts and events",
      role: "read",
      params: jobPath,
      replies: { 200: jobDetail },
      handle: async ({ params }) => ({ status: 200, body: await readJob(options, params.id) }),
    }),
    endpoint({
      ...change,
      method: "POST",
      path: "/jobs/:id/cancel",
      summary: "Cancel a job that has not finished",
      handle: async ({ params }) => ({ status: 200, body: await cancel(options, params.id) }),
    }),
    endpoint({
      ...change,
      method: "POST",
      path: "/jobs/:id/retry",
      summary: "Run a FAILED, CANCELED or SKIPPED job again",
      handle: async ({ params }) => ({ status: 200, body: await retry(options, params.id) }),
    }),
    endpoint({
      ...change,
      method: "POST",
      path: "/jobs/:id/run-now",
      summary: "Do not wait for the due time",
      handle: async ({ params }) => ({ status: 200, body: await runNow(options, params.id) }),
    }),
  ];
}

async function list({ operations, ports }: ApiOptions, query: z.infer<typeof jobsQuery>) {
  const { sort, cursor, limit: rows } = query;
  const [page, now] = await Promise.all([
    operations.jobs({ search: searchOf(query), sort, cursor: cursor ?? null, limit: rows }),
    ports.store.now(),
  ]);
  return {
    jobs: page.jobs.map((job) => recordJson(job, now)),
    nextCursor: page.cursor,
    complete: page.complete,
  };
}

/** @throws Problem 404 */
export async function readJob({ operations }: ApiOptions, jobId: JobId): Promise<JobDetailReply> {
  const found = await operations.job(jobId);
  if (found === null) throw new Problem(404, "unknown-job", `there is no job ${jobId}`);
  return detailJson(found, found.now);
}

export const detailJson = (
  { job, attempts, events }: Omit<NonNullable<Awaited<ReturnType<ApiOptions["operations"]["job"]>>>, "now">,
  now: Instant,
): JobDetailReply => ({
  ...recordJson(job, now),
  attempts: attempts.map(attemptJson),
  events: events.map(eventJson),
});

/** Canceling a canceled job changes nothing and is no error. */
async function cancel(options: ApiOptions, jobId: JobId): Promise<JobDetailReply> {
  const before = await readJob(options, jobId);
  if (before.state === "CANCELED") return before;
  await cancelJobs(options.ports, options.registry, [jobId], options);
  const after = await readJob(options, jobId);
  if (after.state === "CANCELED" || !isFinal(after.state)) return after;
  const detail = `job ${jobId} is ${after.state}: only a job that has not finished can be canceled`;
  throw new Problem(409, "already-finished", detail);
}

async function retry(options: ApiOptions, jobId: JobId): Promise<JobDetailReply> {
  const before = await readJob(options, jobId);
  const retried = await retryJobs(options.ports, [jobId], { dispatchWindowMs: options.dispatchWindowMs });
  if (retried.includes(jobId)) return await readJob(options, jobId);
  const detail = `job ${jobId} is ${before.state}: only a FAILED, CANCELED or SKIPPED job can be retried`;
  throw new Problem(409, "not-retryable", detail);
}

/** What is due already is on its way: that changes nothing and is no error. */
async function runNow(options: ApiOptions, jobId: JobId): Promise<JobDetailReply> {
  const before = await readJob(options, jobId);
  const { ports, operations, dispatchWindowMs } = options;
  const { ids, aftermath } = await operations.runNow([jobId]);
  await afterCommit(ports, aftermath, { dispatchWindowMs });
  if (ids.length === 0 && (isFinal(before.state) || before.state === "RUNNING")) {
    throw new Problem(409, "not-waiting", `job ${jobId} is ${before.state}: only a job that waits can be run now`);
  }
  return await readJob(options, jobId);
}
