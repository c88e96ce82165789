import { z } from "zod";
import { contractLimits } from "../../core/job/contract-limits.ts";
import { type BulkAction, bulkActions } from "../../core/ports/bulk.ts";
import type { JobSearch } from "../../core/ports/job-search.ts";
import { runBulkPage } from "../../core/admin/run-bulk.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import type { Answer } from "../json-answer.ts";
import type { ApiOptions } from "../options.ts";
import { HttpProblem } from "../problem.ts";
import { durationUpTo, id, limit, text } from "../query-fields.ts";
import { bulk, bulkJson, bulkList, bulkPreview } from "../shape/bulk.ts";
import { searchFields, searchOf } from "./jobs.ts";

const paceMsMax = 3_600_000;
const pace = durationUpTo(paceMsMax, "Between the due times of two retried jobs.").optional();

/** As the parameters of GET /jobs; members of the payload by their path: `{"payload": {"user.id": "42"}}`. */
const filter = z.strictObject({
  ...searchFields,
  payload: z.record(z.string().regex(/^[^.]{1,100}(\.[^.]{1,100}){0,7}$/), text(1_000)).optional(),
});
const asked = { pace, dryRun: z.boolean().default(false) };
const bulkBody = z.strictObject({ action: z.enum(bulkActions), filter, ...asked });
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
    endpoint({
      method: "POST",
      name: "createBulk",
      path: "/bulk",
      refuses: ["no-filter"],
      summary: "Retry or cancel every job that matches; a dry run only counts",
      role: "operate",
      body: bulkBody,
      replies: { 200: bulkPreview, 202: bulk },
      handle: ({ body, caller }) => begin({ ...body, search: searchIn(body.filter), caller: caller.name }),
    }),
    endpoint({
      method: "POST",
      name: "redriveDeadLetters",
      path: "/dead-letters/redrive",
      refuses: ["no-filter"],
      summary: "Retry the FAILED jobs that match, at a pace if one is given; a dry run only counts",
      role: "operate",
      body: redriveBody,
      replies: { 200: bulkPreview, 202: bulk },
      handle: ({ body, caller }) => {
        const search: JobSearch = { ...searchIn(body.filter), states: ["FAILED"] };
        return begin({ ...body, action: "retry", search, caller: caller.name });
      },
    }),
    ...tracked(options),
  ];
}

function tracked({ operations }: ApiOptions): readonly Endpoint[] {
  const read = async (wanted: string) => {
    const [found] = await operations.bulks({ id: wanted, limit: 1 });
    if (found === undefined) throw new HttpProblem("unknown-bulk", `there is no change of many jobs ${wanted}`);
    return bulkJson(found);
  };
  return [
    endpoint({
      method: "GET",
      name: "listBulks",
      path: "/bulk",
      summary: "Changes of many jobs, the newest first",
      role: "read",
      query: z.strictObject({ limit: limit(contractLimits.listRowsMax, 50) }),
      replies: { 200: bulkList },
      async handle({ query }) {
        const found = await operations.bulks({ id: null, limit: query.limit });
        return { status: 200, body: { bulks: found.map(bulkJson) } };
      },
    }),
    endpoint({
      method: "GET",
      name: "getBulk",
      path: "/bulk/:id",
      refuses: ["unknown-bulk"],
      summary: "How far a change of many jobs is",
      role: "read",
      params: bulkPath,
      replies: { 200: bulk },
      handle: async ({ params }) => ({ status: 200, body: await read(params.id) }),
    }),
    endpoint({
      method: "POST",
      name: "stopBulk",
      path: "/bulk/:id/stop",
      refuses: ["unknown-bulk"],
      summary: "Stop a change of many jobs; what it has changed stays changed",
      role: "operate",
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
  readonly action: BulkAction;
  readonly search: JobSearch;
  readonly caller: string;
  readonly pace?: number | undefined;
  readonly canary?: boolean;
  readonly dryRun: boolean;
}

/** Answers at once; the pages follow in this process, or in the next pass when it ends before they do. */
function beginner(options: ApiOptions): (asking: Asking) => Promise<Answer> {
  const { operations, ports, registry, dispatchWindowMs } = options;
  const owner = `api:${ports.random.id().slice(0, 8)}`;
  let isRunning = false;
  const goOn = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    try {
      while (await runBulkPage(ports, registry, operations, { owner, dispatchWindowMs }));
    } catch (error) {
      ports.log.warn("a change of many jobs stopped here; the next pass goes on with it", { error });
    }
    isRunning = false;
  };
  return async ({ action, search, caller, pace: paceMs = 0, canary = false, dryRun }) => {
    if (Object.keys(search).length === 0) {
      throw new HttpProblem("no-filter", "a change of many jobs needs a filter: name at least a state or a kind", {
        issues: [{ path: "filter", message: "must name something" }],
      });
    }
    const matched = await operations.count(changeable(action, search), contractLimits.bulkCountMax);
    if (dryRun) return { status: 200, body: { dryRun, matched } };
    const written = await operations.createBulk({
      action,
      search: changeable(action, search),
      caller,
      matched,
      paceMs,
      canary,
    });
    void goOn();
    return { status: 202, body: bulkJson(written), location: `/bulk/${written.id}` };
  };
}

const statesOf = {
  retry: ["FAILED", "CANCELED", "SKIPPED"],
  cancel: ["PENDING", "QUEUED", "RUNNING", "RETRY_WAIT"],
} as const;

/** What the action cannot change does not match. */
function changeable(action: BulkAction, search: JobSearch): JobSearch {
  const possible = statesOf[action];
  const wanted = search.states;
  return { ...search, states: wanted === undefined ? possible : possible.filter((state) => wanted.includes(state)) };
}
