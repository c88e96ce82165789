import { z } from "zod";
import { contractLimits } from "../../core/job/contract-limits.ts";
import type { JobId } from "../../core/job/job.ts";
import { type JobAction, jobActions } from "../../core/ports/bulk.ts";
import type { JobSearch } from "../../core/ports/job-search.ts";
import { bulkBeginner } from "../bulk-runner.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import type { Answer } from "../json-answer.ts";
import type { ApiOptions } from "../options.ts";
import { HttpProblem } from "../problem.ts";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import { pageOf } from "../query.ts";
import { durationUpTo, id, limit, text, textsOf } from "../query-fields.ts";
import { bulk, bulkJson, bulkList, bulkPreview } from "../shape/bulk.ts";
import { type Bounds, isWithin, ofJob, ofRun, searchWithin } from "../scope.ts";
import { ofGroups, searchFields, searchOf } from "./jobs.ts";

const paceMsMax = 3_600_000;
const pace = durationUpTo(paceMsMax, "Between the due times of two retried jobs.").optional();

/** As the parameters of GET /jobs; members of the payload by their path: `{"payload": {"user.id": "42"}}`. */
const filter = z.strictObject({
  ...searchFields,
  fingerprint: textsOf(operationsLimits.redrivenGroupsMax, ofGroups).optional(),
  payload: z.record(z.string().regex(/^[^.]{1,100}(\.[^.]{1,100}){0,7}$/), text(1_000)).optional(),
});
const asked = { pace, dryRun: z.boolean().default(false) };
const bulkBody = z.strictObject({ action: z.enum(jobActions), filter, ...asked });
const redriveBody = z.strictObject({
  filter: filter.omit({ state: true }).default({}),
  canary: z
    .boolean()
    .default(false)
    .describe("One job of each group goes first; the rest follows when all of them have succeeded."),
  ...asked,
});
const bulkPath = z.object({ id });

/** POST /bulk, GET /bulk, GET /bulk/:id, POST /bulk/:id/stop, POST /dead-letters/redrive. */
export function bulkEndpoints(options: ApiOptions): readonly Endpoint[] {
  const begin = beginner(options);
  return [
    endpoint("POST /bulk", {
      name: "createBulk",
      refuses: ["no-filter"],
      summary: "Retry or cancel every job that matches; a dry run only counts",
      scope: "list",
      body: bulkBody,
      replies: { 200: bulkPreview, 202: bulk },
      handle: ({ body, caller, within }) =>
        begin({ ...body, search: searchIn(body.filter), within, caller: caller.name }),
    }),
    endpoint("POST /dead-letters/redrive", {
      name: "redriveDeadLetters",
      refuses: ["no-filter"],
      summary: "Retry the FAILED jobs that match, at a pace if one is given; a dry run only counts",
      scope: "list",
      body: redriveBody,
      replies: { 200: bulkPreview, 202: bulk },
      handle: ({ body, caller, within }) => {
        const search: JobSearch = { ...searchIn(body.filter), states: ["FAILED"] };
        return begin({ ...body, action: "retry", search, within, caller: caller.name });
      },
    }),
    ...tracked(options),
  ];
}

function tracked(options: ApiOptions): readonly Endpoint[] {
  const { operations } = options;
  const find = async (wanted: string) => (await operations.bulks({ id: wanted, limit: 1 }))[0];
  const scope = async ({ params }: { readonly params: { readonly id: string } }) => {
    const found = await find(params.id);
    if (found === undefined) return null;
    const { kind, kinds, runId, id } = found.search;
    if (kind !== undefined || kinds !== undefined) return { kinds: kind === undefined ? (kinds ?? []) : [kind] };
    if (runId !== undefined) return await ofRun(options)({ params: { id: runId as string as JobId } });
    return id === undefined ? "everything" : await ofJob(options)({ params: { id } });
  };
  const read = async (wanted: string) => {
    const found = await find(wanted);
    if (found === undefined) throw new HttpProblem("unknown-bulk", `there is no bulk action ${wanted}`);
    return bulkJson(found);
  };
  return [
    endpoint("GET /bulk", {
      name: "listBulks",
      summary: "Bulk actions, the newest first",
      scope: "list",
      query: z.strictObject({ cursor: id.optional(), limit: limit(contractLimits.listRowsMax, 50) }),
      replies: { 200: bulkList },
      async handle({ query, within }) {
        const found = await operations.bulks({ before: query.cursor, limit: query.limit + 1 });
        const { rows, nextCursor } = pageOf(found, query.limit, ({ id: last }) => last);
        const bulks = rows.filter(({ search }) => isWithin(search, within)).map(bulkJson);
        return { status: 200, body: { bulks, nextCursor } };
      },
    }),
    endpoint("GET /bulk/:id", {
      name: "getBulk",
      refuses: ["unknown-bulk"],
      summary: "How far a bulk action is",
      scope,
      params: bulkPath,
      replies: { 200: bulk },
      handle: async ({ params }) => ({ status: 200, body: await read(params.id) }),
    }),
    endpoint("POST /bulk/:id/stop", {
      name: "stopBulk",
      refuses: ["unknown-bulk"],
      summary: "Stop a bulk action; what it has changed stays changed",
      scope,
      params: bulkPath,
      replies: { 200: bulk },
      async handle({ params }) {
        await operations.stopBulk(params.id);
        return { status: 200, body: await read(params.id) };
      },
    }),
  ];
}

function searchIn({ payload, ...fields }: z.infer<typeof filter>): JobSearch {
  const members = Object.entries(payload ?? {}).map(([path, value]) => [`payload.${path}`, value]);
  return searchOf({ ...fields, ...Object.fromEntries(members) });
}

interface Asking {
  readonly action: JobAction;
  readonly search: JobSearch;
  readonly within: Bounds | null;
  readonly caller: string;
  readonly pace?: number | undefined;
  readonly canary?: boolean;
  readonly dryRun: boolean;
}

const noFilter = (path: string, message: string): HttpProblem =>
  new HttpProblem("no-filter", `${path}: ${message}`, { issues: [{ path, message }] });

function beginner(options: ApiOptions): (asking: Asking) => Promise<Answer> {
  const { operations } = options;
  const begin = bulkBeginner(options);
  return async ({ action, search: named, within, caller, pace: paceMs = 0, canary = false, dryRun }) => {
    if (Object.keys(named).length === 0) {
      throw noFilter("filter", "must name something: at least a state or a kind");
    }
    const search = { ...named, ...searchWithin(within) };
    const matched = await operations.count(changeable(action, search), contractLimits.bulkCountMax);
    if (dryRun) return { status: 200, body: { dryRun, matched } };
    const wanted = changeable(action, search);
    if (wanted.states?.length === 0)
      throw noFilter("filter.state", `must be among ${statesOf[action].join(", ")} to ${action}`);
    return await begin({ action, search: wanted, caller, matched, paceMs, canary });
  };
}

const statesOf = {
  retry: ["FAILED", "CANCELED", "SKIPPED"],
  cancel: ["PENDING", "QUEUED", "RUNNING", "RETRY_WAIT"],
} as const;

/** What the action cannot change does not match. */
function changeable(action: JobAction, search: JobSearch): JobSearch {
  const possible = statesOf[action];
  const wanted = search.states;
  return { ...search, states: wanted === undefined ? possible : possible.filter((state) => wanted.includes(state)) };
}
