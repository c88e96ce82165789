import { z } from "zod";
import { PermanentError } from "../../define/errors.ts";
import type { JobId, RunId } from "../../machine/job.ts";
import { type BeginBulk, bulkBeginner } from "../bulk-runner.ts";
import { contractLimits } from "../../machine/contract-limits.ts";
import { isRerunnable, newerRun, rerunRun, resumeRun } from "../../insight/run-control.ts";
import { cancelRun } from "../../run/cancel-run.ts";
import type { JobSearch } from "../../insight/search.ts";
import { countMatching } from "../../insight/find-jobs.ts";
import { keepRequest, type KeyedRequest } from "../../insight/request-key.ts";
import type { Tx } from "../../machine/transaction.ts";
import { runLimits } from "../../machine/run-limits.ts";
import { states } from "../../machine/state.ts";
import { endpoint } from "../endpoint.ts";
import { inBackground } from "../in-time.ts";
import type { Answer, JsonAnswer } from "../json-answer.ts";
import { once } from "../once.ts";
import type { ApiOptions } from "../options.ts";
import { HttpProblem, unknownRun } from "../problem.ts";
import { pageOf } from "../query.ts";
import { id, nameText, pageFields, requestKey, someOf, text } from "../query-fields.ts";
import { type Bounds, ofRun } from "../scope.ts";
import { bulk } from "../shape/bulk.ts";
import { readRun, readRuns, readTasks, run, type RunRow } from "../../insight/runs.ts";
import { searchFields } from "./jobs.ts";
import { runList, runMap, taskList } from "../shape/run.ts";
import { idText, runStates } from "../../insight/atoms.ts";
import { insightLimits } from "../../insight/insight-limits.ts";
import { mapOf } from "../../insight/run-map.ts";
import { matrixOf, runMatrix } from "../../insight/run-matrix.ts";

const runsQuery = z.strictObject({
  kind: nameText().optional(),
  key: text(contractLimits.keyCharactersMax).optional(),
  state: someOf(runStates, "Only in these states.").optional(),
  /** Reruns of this run. */
  parent: id.optional(),
  createdFrom: searchFields.createdFrom,
  createdTo: searchFields.createdTo,
  ...pageFields(50),
});
const tasksQuery = z.strictObject({
  state: someOf(states, "Only in these states.").optional(),
  ...pageFields(200),
});
const runPath = z.object({ id });
const ofOne = (options: ApiOptions) =>
  ({ scope: ofRun(options), params: runPath, refuses: ["unknown-run"], example: { params: { id: "7" } } }) as const;

export function runEndpoints(options: ApiOptions) {
  return [...reads(options), ...changes(options), ...pictures(options)];
}

function reads(options: ApiOptions) {
  return [
    endpoint("GET /runs", {
      name: "listRuns",
      summary: "Runs, the newest first",
      example: { query: { state: "RUNNING,FAILED" } },
      scope: "list",
      query: runsQuery,
      replies: { 200: runList },
      reply: ({ query, within }) => list(options, query, within),
    }),
    endpoint("GET /runs/:id", {
      name: "getRun",
      summary: "One run with its progress",
      description: "Its progress counts jobs; `percent` is of those written so far.",
      ...ofOne(options),
      replies: { 200: run },
      reply: ({ params }) => knownRun(options.insight, params.id),
    }),
    endpoint("GET /runs/:id/tasks", {
      ...ofOne(options),
      name: "listTasks",
      summary: "The jobs of a run in the order they were written, with the edges that lead to them",
      example: { params: { id: "7" }, query: { state: "FAILED" } },
      query: tasksQuery,
      replies: { 200: taskList },
      reply: ({ params, query }) => tasks(options, params.id, query),
    }),
  ];
}

const retried = z.object({ run, again: z.array(idText) }).meta({ id: "RetriedRun" });
const canceled = z.object({ run, canceled: z.int().min(0) }).meta({ id: "CanceledRun" });

function changes(options: ApiOptions) {
  const { begin } = bulkBeginner(options);
  const change = ofOne(options);
  return [
    endpoint("POST /runs/:id/retry", {
      ...change,
      name: "retryRun",
      refuses: ["unknown-run", "nothing-to-retry", "not-rerunnable", "changed-shape"],
      summary: "Go on from what failed; what succeeded is not repeated",
      description:
        "Goes on from what failed. What succeeded is not repeated. When more than 1,000 jobs did not succeed, it answers 202 with the bulk action that puts them back in pages. With `newest`, all that waits or did not succeed goes on by the newest definition of its graph, in one transaction.",
      example: { params: { id: "7" }, body: { newest: true } },
      body: z.strictObject({
        newest: z.boolean().optional().describe("By the newest version of its graph, where that fits what has run."),
      }),
      replies: { 200: retried, 202: bulk },
      handle: ({ params, body, caller }) =>
        body.newest === true ? renew(options, params.id, caller.name) : retry(options, begin, params.id, caller.name),
    }),
    endpoint("POST /runs/:id/cancel", {
      ...change,
      name: "cancelRun",
      refuses: ["unknown-run", "already-finished"],
      summary: "Cancel a run and everything of it that is open",
      description:
        "Cancels every open job of the run. A run that is canceled already stays so. Of more than 1,000 jobs the rest is canceled after the answer, which is a 202 then: follow the run until its state is `CANCELED`. The history of each job names you.",
      replies: { 200: canceled, 202: canceled },
      handle: ({ params, caller }) => cancel(options, params.id, caller.name),
    }),
    endpoint("POST /runs/:id/rerun", {
      ...change,
      name: "rerunRun",
      refuses: ["unknown-run", "not-rerunnable", "key-conflict"],
      summary: "The whole run again, from its input and by the code of today; with a key, at most once",
      description:
        "A new run from the same input by the definition of this release. It names the old one as its parent. It is written in one transaction, so no reader meets a part of a run: at most 50,000 tasks, which take about 3 seconds. Each request makes one, but with a key, which a repeat is answered by: 200 with the run that the first made.",
      body: z.strictObject({ key: requestKey }),
      takesKey: true,
      replies: { 200: run, 201: run },
      handle: (asked) =>
        once(options, {
          name: "rerunRun",
          asked,
          make: (request) => rerun(options, asked.params.id, request),
          again: (made) => rerunOf(options, made, 200),
        }),
    }),
  ];
}

async function list({ insight }: ApiOptions, query: z.infer<typeof runsQuery>, within: Bounds) {
  const { kind, state, cursor, limit: rows, ...others } = query;
  const kinds = kind === undefined ? within.search : { kinds: [kind] };
  const filter = { ...others, ...kinds, states: state, before: cursor, limit: rows + 1 };
  const page = pageOf(await insight.run(readRuns, filter), rows, ({ id: last }) => last);
  return { runs: [...page.rows], nextCursor: page.nextCursor };
}

async function tasks(options: ApiOptions, wanted: JobId, { state, cursor, limit: rows }: z.infer<typeof tasksQuery>) {
  await knownRun(options.insight, wanted);
  const filter = { run: runId(wanted), states: state, after: cursor, limit: rows + 1 };
  const page = pageOf(await options.insight.run(readTasks, filter), rows, ({ job }) => job);
  return { tasks: [...page.rows], nextCursor: page.nextCursor };
}

/** Runs and jobs have numbers of the same kind; the path says which is meant. */
const runId = (value: JobId): RunId => value as string as RunId;

/** @throws HttpProblem 404 */
export async function knownRun(insight: ApiOptions["insight"], wanted: JobId): Promise<RunRow> {
  const [found] = await insight.run(readRun, wanted);
  if (found === undefined) throw unknownRun(wanted);
  return found;
}

/** A large run is put back page by page, by a bulk action. */
async function retry(options: ApiOptions, begin: BeginBulk, wanted: JobId, caller: string): Promise<Answer> {
  const before = await knownRun(options.insight, wanted);
  if (before.progress.done - before.progress.ok > runLimits.retriedRowsMax && before.state !== "CANCELING") {
    const search = toRetry(before);
    const matched = await countMatching(options.insight, search, contractLimits.bulkCountMax);
    if (matched.count > 0 || matched.isMore)
      return await begin({ action: "retry", search, caller, matched, paceMs: 0, steps: [] });
  }
  return await resume(options, before, { caller });
}

async function resume(options: ApiOptions, before: RunRow, how: Parameters<typeof resumeRun>[2]): Promise<Answer> {
  const { ids: again, differences = [] } = await resumeRun(options.ports, runId(before.id as JobId), how);
  if (differences.length > 0) throw new HttpProblem("changed-shape", differences.join("; "));
  if (again.length === 0) {
    const detail = `run ${before.id} is ${before.state} and has nothing that failed, was canceled or was skipped for it`;
    throw new HttpProblem("nothing-to-retry", detail);
  }
  return { status: 200, body: { run: await knownRun(options.insight, before.id as JobId), again } };
}

/** In one transaction, however many tasks there are: a run has one version. */
async function renew(options: ApiOptions, wanted: JobId, caller: string): Promise<Answer> {
  const before = await knownRun(options.insight, wanted);
  const newer = await newerRun(options.ports, options.registry, before).catch((error: unknown) => {
    throw error instanceof PermanentError ? new HttpProblem("changed-shape", error.message) : error;
  });
  if (newer !== null) return await resume(options, before, { caller, newer });
  const detail = `run ${wanted} of "${before.kind}" cannot go on by a newer version: only graphs of this release can`;
  throw new HttpProblem("not-rerunnable", detail);
}

/** What was skipped because of these comes along; under `stop` that is not all that was skipped. */
function toRetry({ id: of, onFailure }: RunRow): JobSearch {
  const skipped = onFailure === "stop" ? (["SKIPPED"] as const) : [];
  return { runId: of, taken: true, states: ["FAILED", "CANCELED", ...skipped] };
}

/** One page at once; a large run goes on in this process, or in the next pass when it ends before that. */
async function cancel(options: ApiOptions, wanted: JobId, caller: string): Promise<Answer> {
  const before = await knownRun(options.insight, wanted);
  if (before.state === "CANCELED") return { status: 200, body: { run: before, canceled: 0 } };
  const { ports, registry } = options;
  const step = { caller, roundsMax: 1 };
  const canceled = await cancelRun(ports, registry, runId(wanted), step);
  if (canceled === null) throw new HttpProblem("already-finished", `run ${wanted} is ${before.state}: it has ended`);
  const after = await knownRun(options.insight, wanted);
  const body = { run: after, canceled };
  if (after.state !== "CANCELING" || canceled < runLimits.cancelRowsMax) return { status: 200, body };
  inBackground(ports.log, "the cancel of a run", () => cancelRun(ports, registry, runId(wanted), { caller }));
  return { status: 202, body, location: `/runs/${wanted}` };
}

async function rerun(options: ApiOptions, wanted: JobId, request?: KeyedRequest): Promise<JsonAnswer> {
  const before = await knownRun(options.insight, wanted);
  const { ports, registry, insight } = options;
  if (!isRerunnable(registry, before.kind)) {
    const detail = `run ${wanted} of "${before.kind}" cannot be run again here: only graphs and fan-outs of this release can; enqueue it again`;
    throw new HttpProblem("not-rerunnable", detail);
  }
  const keep = request && ((tx: Tx, made: RunId) => keepRequest(insight.within(tx), request, made));
  const made = await rerunRun({ ...ports, insight }, registry, runId(wanted), { alsoWrites: keep });
  return await rerunOf(options, made, 201);
}

async function rerunOf(options: ApiOptions, made: string, status: 200 | 201): Promise<JsonAnswer> {
  return { status, body: await knownRun(options.insight, made as JobId), location: `/runs/${made}` };
}

const pictures = (options: ApiOptions) => [
  endpoint("GET /runs/:id/map", {
    ...ofOne(options),
    name: "getRunMap",
    summary: "A run with all its tasks in columns, their edges and the first failures, to draw it",
    description: "Every task of the run, up to 10,000, in columns, with the edges between them.",
    replies: { 200: runMap },
    async reply({ params }) {
      const id = runId(params.id);
      const { insight } = options;
      const [[found], map] = await Promise.all([insight.run(readRun, id), mapOf(insight, id)]);
      if (found === undefined) throw unknownRun(id);
      const only = { run: id, states: ["FAILED"], limit: insightLimits.mappedFailuresMax } as const;
      const failed = found.progress.failed === 0 ? [] : await insight.run(readTasks, only);
      return { ...map, run: found, failed };
    },
  }),
  endpoint("GET /runs/:id/matrix", {
    ...ofOne(options),
    name: "getRunMatrix",
    summary: "The runs of the same graph around it, each with the state of every task",
    description:
      "The run, up to 10 after it and those before it, 30 in all, each with the states of its first 200 tasks.",
    replies: { 200: runMatrix },
    async reply({ params }) {
      const matrix = await matrixOf(options.insight, runId(params.id));
      if (matrix.runs.length === 0) throw unknownRun(params.id);
      return matrix;
    },
  }),
];
