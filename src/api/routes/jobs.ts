import { z } from "zod";
import { cancelJobs, retryJobs } from "../../core/admin/control.ts";
import { attemptsOf, movesOf } from "../../core/job/history.ts";
import type { AttemptView, Instant, JobId, JobView, MoveView, RunId } from "../../core/job/job.ts";
import { type BeginBulk, bulkBeginner } from "../bulk-runner.ts";
import { endsSoon } from "../in-background.ts";
import type { Answer } from "../json-answer.ts";
import { bulk } from "../shape/bulk.ts";
import { runLimits } from "../../core/ports/run-limits.ts";
import { contractLimits } from "../../core/job/contract-limits.ts";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import { type JobSearch, jobSorts } from "../../core/ports/job-search.ts";
import { afterCommit } from "../../core/delivery/after-commit.ts";
import { isFinal, type State, states } from "../../core/job/state.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { explained } from "../explained.ts";
import type { ApiOptions } from "../options.ts";
import { HttpProblem, unknownJob } from "../problem.ts";
import { pageBefore } from "../query.ts";
import { commaTextsOf, id, instant, isTrue, limit, someOf, text } from "../query-fields.ts";
import { type Bounds, ofJob, searchWithin } from "../scope.ts";
import { attemptJson, jobDetail, type JobDetailReply, jobJson, jobList, moveJson } from "../shape/job.ts";

/** Of `fingerprint`. */
export const ofGroups = "Of these groups of failures, as `listDeadLetters` names them.";

/** What a search may name; `payload.user.id=42` compares that member of the payload as text. */
export const searchFields = {
  state: someOf(states, "Only in these states.").optional(),
  id: id.optional().describe("The job with this id."),
  text: text(
    operationsLimits.searchedTextCharactersMax,
    "Words, of which each is the id, or a part of the kind, the key or the error.",
  )
    .transform((value) => value.trim().split(/\s+/))
    .refine(
      (words) => words.length <= operationsLimits.searchedWordsMax,
      `must be at most ${operationsLimits.searchedWordsMax} words`,
    )
    .optional(),
  kind: text(contractLimits.idCharactersMax, "Of this kind.").optional(),
  lane: text(contractLimits.idCharactersMax, "Of this lane.").optional(),
  key: text(contractLimits.keyCharactersMax, "With this key.").optional(),
  error: text(contractLimits.errorCodeCharactersMax, "Whose last error has this code.").optional(),
  fingerprint: commaTextsOf(operationsLimits.redrivenGroupsMax, ofGroups).optional(),
  run: id.optional().describe("Of this run."),
  schedule: text(200, "Of this schedule.").optional(),
  worker: text(200, "That this worker runs.").optional(),
  dueFrom: instant.optional().describe("Due at this time or later."),
  dueTo: instant.optional().describe("Due before this time."),
  held: isTrue("Whether it waits for a slot, a paused lane or tasks before it.").optional(),
};

const jobsQuery = z
  .object({
    ...searchFields,
    sort: z.enum(jobSorts).default("newest").describe("`due` is for jobs that wait."),
    cursor: z
      .string()
      .regex(/^(-?\d{1,18}_)?\d{1,18}$/, "must be the nextCursor of the page before")
      .describe(pageBefore)
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
  const { fingerprint, run, schedule, worker, dueFrom, dueTo, held } = query;
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
    fingerprints: fingerprint,
    runId: run as RunId | undefined,
    scheduleId: schedule,
    worker,
    dueFrom,
    dueTo,
    held,
    payload: payload.length === 0 ? undefined : payload,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

export const jobPath = z.object({ id });

/** GET /jobs, GET /jobs/:id, POST /jobs/:id/{cancel,retry,run-now}. */
export function jobEndpoints(options: ApiOptions): readonly Endpoint[] {
  const change = { scope: ofJob(options), params: jobPath } as const;
  const begin = bulkBeginner(options);
  return [
    endpoint("GET /jobs", {
      name: "listJobs",
      summary: "Jobs by filter, a page at a time",
      scope: "list",
      query: jobsQuery,
      replies: { 200: jobList },
      handle: async ({ query, within }) => ({ status: 200, body: await list(options, query, within) }),
    }),
    endpoint("GET /jobs/:id", {
      name: "getJob",
      refuses: ["unknown-job"],
      summary: "One job with its attempts and events",
      scope: ofJob(options),
      params: jobPath,
      query: z.strictObject({ include: z.literal("explanation").optional().describe("Also why it does not run.") }),
      replies: { 200: jobDetail },
      async handle({ params: { id: jobId }, query, within }) {
        const found = await readJob(options, jobId);
        const isWanted = query.include !== undefined && !isFinal(found.job.state) && found.job.state !== "RUNNING";
        const explanation = isWanted ? await explained(options, found, within) : null;
        return { status: 200, body: { ...writtenJson(found), ...(explanation === null ? {} : { explanation }) } };
      },
    }),
    endpoint("POST /jobs/:id/cancel", {
      ...change,
      name: "cancelJob",
      refuses: ["unknown-job", "already-finished"],
      summary: "Cancel a job that has not finished",
      replies: { 200: jobDetail, 202: jobDetail },
      handle: ({ params, caller }) => cancel(options, params.id, caller.name),
    }),
    endpoint("POST /jobs/:id/retry", {
      ...change,
      name: "retryJob",
      refuses: ["unknown-job", "not-retryable"],
      summary: "Run a FAILED, CANCELED or SKIPPED job again",
      replies: { 200: jobDetail, 202: bulk },
      handle: ({ params, caller }) => retry(options, begin, params.id, caller.name),
    }),
    endpoint("POST /jobs/:id/run-now", {
      ...change,
      name: "runJobNow",
      refuses: ["unknown-job", "not-waiting"],
      summary: "Do not wait for the due time",
      replies: { 200: jobDetail },
      handle: async ({ params, caller }) => ({ status: 200, body: await runNow(options, params.id, caller.name) }),
    }),
  ];
}

async function list({ operations, ports }: ApiOptions, query: z.infer<typeof jobsQuery>, within: Bounds | null) {
  const { sort, cursor, limit: rows } = query;
  const [page, now] = await Promise.all([
    operations.jobs({
      search: { ...searchOf(query), ...searchWithin(within) },
      sort,
      cursor: cursor ?? null,
      limit: rows,
    }),
    ports.store.now(),
  ]);
  return {
    jobs: page.jobs.map((job) => jobJson(job, now)),
    nextCursor: page.cursor,
    complete: page.complete,
  };
}

/** @throws HttpProblem 404 */
async function readJob({ ports }: ApiOptions, jobId: JobId): Promise<FoundJob> {
  const found = await ports.store.job(jobId);
  if (found === null) throw unknownJob(jobId);
  return found;
}

type FoundJob = NonNullable<Awaited<ReturnType<ApiOptions["ports"]["store"]["job"]>>>;

const writtenJson = ({ job, history, now }: FoundJob): JobDetailReply =>
  detailJson({ job, attempts: attemptsOf(job, history), events: movesOf(job, history) }, now);

export const readJobDetail = async (options: ApiOptions, jobId: JobId): Promise<JobDetailReply> =>
  writtenJson(await readJob(options, jobId));

export const detailJson = (
  {
    job,
    attempts,
    events,
  }: { readonly job: JobView; readonly attempts: readonly AttemptView[]; readonly events: readonly MoveView[] },
  now: Instant,
): JobDetailReply => ({
  ...jobJson(job, now),
  attempts: attempts.map(attemptJson),
  events: events.map(moveJson),
});

/** Canceling a canceled job changes nothing and is no error. What thousands of its run do about it is not waited for. */
async function cancel(options: ApiOptions, jobId: JobId, caller: string): Promise<Answer> {
  const before = await readJobDetail(options, jobId);
  if (before.state === "CANCELED") return { status: 200, body: before };
  const { ports, registry } = options;
  const work = cancelJobs(ports, registry, [jobId], { caller });
  if (!(await endsSoon(ports.log, "what follows a cancel", work))) {
    const soon = await readJobDetail(options, jobId);
    if (soon.state === "CANCELED" && soon.run !== null)
      return { status: 202, body: soon, location: `/runs/${soon.run}` };
    await work;
  }
  const after = await readJobDetail(options, jobId);
  if (after.state === "CANCELED" || !isFinal(after.state)) return { status: 200, body: after };
  const detail = `job ${jobId} is ${after.state}: only a job that has not finished can be canceled`;
  throw new HttpProblem("already-finished", detail);
}

const retryable: readonly State[] = ["FAILED", "CANCELED", "SKIPPED"];

/** When thousands of its run may have been skipped because of it, a bulk action puts them back. */
async function retry(options: ApiOptions, begin: BeginBulk, jobId: JobId, caller: string): Promise<Answer> {
  const before = await readJobDetail(options, jobId);
  const run = before.run === null ? null : await options.ports.store.run(before.run as RunId);
  if (retryable.includes(before.state) && (run?.skipped ?? 0) > runLimits.retriedRowsMax) {
    const search = { id: jobId, states: retryable };
    const matched = { count: 1, isMore: false };
    return await begin({ action: "retry", search, caller, matched, paceMs: 0, canary: false });
  }
  const retried = await retryJobs(options.ports, [jobId], { caller });
  if (retried.includes(jobId)) return { status: 200, body: await readJobDetail(options, jobId) };
  const detail = `job ${jobId} is ${before.state}: only a FAILED, CANCELED or SKIPPED job can be retried`;
  throw new HttpProblem("not-retryable", detail);
}

/** What is due already is on its way: that changes nothing and is no error. */
async function runNow(options: ApiOptions, jobId: JobId, caller: string): Promise<JobDetailReply> {
  const before = await readJobDetail(options, jobId);
  const { ports, operations } = options;
  const { ids, aftermath } = await operations.runNow([jobId], { caller });
  await afterCommit(ports, aftermath);
  if (ids.length === 0 && (isFinal(before.state) || before.state === "RUNNING")) {
    throw new HttpProblem("not-waiting", `job ${jobId} is ${before.state}: only a job that waits can be run now`);
  }
  return await readJobDetail(options, jobId);
}
