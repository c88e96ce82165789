import { z } from "zod";
import type { JobId, RunId } from "../../core/job/job.ts";
import { type BeginBulk, bulkBeginner } from "../bulk-runner.ts";
import { contractLimits } from "../../core/job/contract-limits.ts";
import { isRerunnable, rerunRun, resumeRun } from "../../core/admin/run-control.ts";
import { cancelRun } from "../../core/work/cancel-run.ts";
import type { JobSearch } from "../../core/ports/job-search.ts";
import type { RunView } from "../../core/ports/run.ts";
import { runLimits } from "../../core/ports/run-limits.ts";
import { states } from "../../core/job/state.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { inBackground } from "../in-background.ts";
import type { Answer } from "../json-answer.ts";
import type { ApiOptions } from "../options.ts";
import { HttpProblem, unknownRun } from "../problem.ts";
import { pageOf } from "../query.ts";
import { id, limit, text, someOf } from "../query-fields.ts";
import { type Bounds, ofRun, searchWithin } from "../scope.ts";
import { bulk } from "../shape/bulk.ts";
import { run, runJson, runList, runStates, taskJson, taskList } from "../shape/run.ts";
import { idText } from "../shape/shape.ts";

const runsQuery = z.strictObject({
  kind: text(contractLimits.idCharactersMax).optional(),
  key: text(contractLimits.keyCharactersMax).optional(),
  state: someOf(runStates, "Only in these states.").optional(),
  /** Reruns of this run. */
  parent: id.optional(),
  cursor: id.optional(),
  limit: limit(contractLimits.listRowsMax, 50),
});
const tasksQuery = z.strictObject({
  state: someOf(states, "Only in these states.").optional(),
  cursor: id.optional(),
  limit: limit(contractLimits.listRowsMax, 200),
});
const runPath = z.object({ id });

/** GET /runs, GET /runs/:id, GET /runs/:id/tasks, POST /runs/:id/{retry,cancel,rerun}. */
export function runEndpoints(options: ApiOptions): readonly Endpoint[] {
  return [...reads(options), ...changes(options)];
}

function reads(options: ApiOptions): readonly Endpoint[] {
  return [
    endpoint("GET /runs", {
      name: "listRuns",
      summary: "Runs, the newest first",
      scope: "list",
      query: runsQuery,
      replies: { 200: runList },
      handle: async ({ query, within }) => ({ status: 200, body: await list(options, query, within) }),
    }),
    endpoint("GET /runs/:id", {
      name: "getRun",
      refuses: ["unknown-run"],
      summary: "One run with its progress",
      scope: ofRun(options),
      params: runPath,
      replies: { 200: run },
      handle: async ({ params }) => ({ status: 200, body: runJson(await readRun(options, params.id)) }),
    }),
    endpoint("GET /runs/:id/tasks", {
      name: "listTasks",
      refuses: ["unknown-run"],
      summary: "The jobs of a run in the order they were written, with the edges that lead to them",
      scope: ofRun(options),
      params: runPath,
      query: tasksQuery,
      replies: { 200: taskList },
      handle: async ({ params, query }) => ({ status: 200, body: await tasks(options, params.id, query) }),
    }),
  ];
}

const retried = z.object({ run, again: z.array(idText) }).meta({ id: "RetriedRun" });
const canceled = z.object({ run, canceled: z.int().min(0) }).meta({ id: "CanceledRun" });

function changes(options: ApiOptions): readonly Endpoint[] {
  const begin = bulkBeginner(options);
  const change = { scope: ofRun(options), params: runPath } as const;
  return [
    endpoint("POST /runs/:id/retry", {
      ...change,
      name: "retryRun",
      refuses: ["unknown-run", "nothing-to-retry"],
      summary: "Go on from what failed; what succeeded is not repeated",
      replies: { 200: retried, 202: bulk },
      handle: ({ params, caller }) => retry(options, begin, params.id, caller.name),
    }),
    endpoint("POST /runs/:id/cancel", {
      ...change,
      name: "cancelRun",
      refuses: ["unknown-run", "already-finished"],
      summary: "Cancel a run and everything of it that is open",
      replies: { 200: canceled, 202: canceled },
      handle: ({ params, caller }) => cancel(options, params.id, caller.name),
    }),
    endpoint("POST /runs/:id/rerun", {
      ...change,
      name: "rerunRun",
      refuses: ["unknown-run", "not-rerunnable"],
      summary: "The whole run again, from its input and by the code of today",
      replies: { 201: run },
      handle: ({ params }) => rerun(options, params.id),
    }),
  ];
}

async function list({ ports: { store } }: ApiOptions, query: z.infer<typeof runsQuery>, within: Bounds | null) {
  const { kind, key, state, parent, cursor, limit: rows } = query;
  const found = await store.runs({
    ...(kind === undefined ? searchWithin(within) : { kinds: [kind] }),
    ...(key === undefined ? {} : { key }),
    ...(state === undefined ? {} : { states: state }),
    ...(parent === undefined ? {} : { parentId: runId(parent) }),
    ...(cursor === undefined ? {} : { before: runId(cursor) }),
    limit: rows + 1,
  });
  const page = pageOf(found, rows, ({ id: last }) => last);
  return { runs: page.rows.map(runJson), nextCursor: page.nextCursor };
}

async function tasks(options: ApiOptions, wanted: JobId, { state, cursor, limit: rows }: z.infer<typeof tasksQuery>) {
  const { ports } = options;
  const { id: of } = await readRun(options, wanted);
  const found = await ports.store.tasks(of, {
    ...(state === undefined ? {} : { states: state }),
    ...(cursor === undefined ? {} : { after: cursor }),
    limit: rows + 1,
  });
  const page = pageOf(found, rows, ({ jobId }) => jobId);
  return { tasks: page.rows.map(taskJson), nextCursor: page.nextCursor };
}

/** Runs and jobs have numbers of the same kind; the path says which is meant. */
const runId = (value: JobId): RunId => value as string as RunId;

async function readRun({ ports: { store } }: ApiOptions, wanted: JobId): Promise<RunView> {
  const found = await store.run(runId(wanted));
  if (found === null) throw unknownRun(wanted);
  return found;
}

/** A large run is put back page by page, by a bulk action. */
async function retry(options: ApiOptions, begin: BeginBulk, wanted: JobId, caller: string): Promise<Answer> {
  const before = await readRun(options, wanted);
  if (before.done - before.ok > runLimits.retriedRowsMax && before.state !== "CANCELING") {
    const search = toRetry(before);
    const matched = await options.operations.count(search, contractLimits.bulkCountMax);
    if (matched.count > 0 || matched.isMore)
      return await begin({ action: "retry", search, caller, matched, paceMs: 0, canary: false });
  }
  const again = await resumeRun(options.ports, before.id, { caller });
  if (again.length === 0) {
    const detail = `run ${wanted} is ${before.state} and has nothing that failed, was canceled or was skipped for it`;
    throw new HttpProblem("nothing-to-retry", detail);
  }
  return { status: 200, body: { run: runJson(await readRun(options, wanted)), again } };
}

/** What was skipped because of these comes along; under `stop` that is not all that was skipped. */
function toRetry({ id: of, onFailure }: RunView): JobSearch {
  const skipped = onFailure === "stop" ? (["SKIPPED"] as const) : [];
  return { runId: of, taken: true, states: ["FAILED", "CANCELED", ...skipped] };
}

/** One page at once; a large run goes on in this process, or in the next pass when it ends before that. */
async function cancel(options: ApiOptions, wanted: JobId, caller: string): Promise<Answer> {
  const before = await readRun(options, wanted);
  if (before.state === "CANCELED") return { status: 200, body: { run: runJson(before), canceled: 0 } };
  const { ports, registry } = options;
  const step = { caller, roundsMax: 1 };
  const canceled = await cancelRun(ports, registry, before.id, step);
  if (canceled === null) throw new HttpProblem("already-finished", `run ${wanted} is ${before.state}: it has ended`);
  const after = await readRun(options, wanted);
  const body = { run: runJson(after), canceled };
  if (after.state !== "CANCELING" || canceled < runLimits.cancelRowsMax) return { status: 200, body };
  inBackground(ports.log, "the cancel of a run", () => cancelRun(ports, registry, before.id, { caller }));
  return { status: 202, body, location: `/runs/${wanted}` };
}

async function rerun(options: ApiOptions, wanted: JobId) {
  const before = await readRun(options, wanted);
  const { ports, registry } = options;
  if (!isRerunnable(registry, before.kind)) {
    const detail = `run ${wanted} of "${before.kind}" cannot be run again here: only graphs and fan-outs of this release can; enqueue it again`;
    throw new HttpProblem("not-rerunnable", detail);
  }
  const made = await rerunRun(ports, registry, before.id, { stage: options.stage ?? "dev" });
  return {
    status: 201,
    body: runJson(await readRun(options, made as string as JobId)),
    location: `/runs/${made}`,
  } as const;
}
