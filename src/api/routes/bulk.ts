import { z } from "zod";
import { contractLimits } from "../../machine/contract-limits.ts";
import type { JobId } from "../../machine/job.ts";
import { type Bulk, type JobAction, jobActions, readBulks, stopBulk } from "../../insight/bulk.ts";
import { graphOf } from "../../run/run-graph.ts";
import { countMatching } from "../../insight/find-jobs.ts";
import type { JobSearch } from "../../insight/search.ts";
import type { KeyedRequest } from "../../insight/request-key.ts";
import { bulkBeginner, knownBulk } from "../bulk-runner.ts";
import type { Caller } from "../caller.ts";
import { endpoint } from "../endpoint.ts";
import type { Answer } from "../json-answer.ts";
import { once } from "../once.ts";
import type { ApiOptions } from "../options.ts";
import { fieldProblem, HttpProblem } from "../problem.ts";
import { insightLimits } from "../../insight/insight-limits.ts";
import { pageOf } from "../query.ts";
import { id, nameText, paceUpTo, pageFields, requestKey, text, textsOf } from "../query-fields.ts";
import { bulk, bulkJson, bulkList, bulkPreview } from "../shape/bulk.ts";
import { type Bounds, isWithin, ofJob, ofRun, type PathOf } from "../scope.ts";
import { ofGroups, searchFields, searchOf } from "./jobs.ts";
import { failureGroupList, readFailureGroups } from "../../insight/failure-groups.ts";
import { oneRow } from "../../insight/sql-query.ts";

const paceMsMax = 3_600_000;
const pace = paceUpTo(paceMsMax, "Between the due times of two retried jobs, or how many a second: `50/s`.").optional();

/** As the parameters of GET /jobs; members of the payload by their path: `{"payload": {"user.id": "42"}}`. */
const filter = z.strictObject({
  ...searchFields,
  fingerprint: textsOf(insightLimits.redrivenGroupsMax, ofGroups).optional(),
  payload: z.record(z.string().regex(/^[^.]{1,100}(\.[^.]{1,100}){0,7}$/), text(1_000)).optional(),
});
const asked = { pace, dryRun: z.boolean().default(false), key: requestKey };
const bulkBody = z.strictObject({ action: z.enum(jobActions), filter, ...asked });
const redriveBody = z.strictObject({
  filter: filter.omit({ state: true }).default({}),
  steps: z
    .string("must be a text")
    .regex(/^([1-9]\d{0,2},){0,4}all$/, 'must be up to four sizes below 1000 and then "all", like 1,10,all')
    .transform((value) => value.split(",").slice(0, -1).map(Number))
    .optional()
    .describe(
      "How many jobs of each group go first, and then, and so on; each step goes when at most 10 % of the one before have failed again. Default: `1,10,all` for more than 10 jobs, otherwise `all`.",
    ),
  ...asked,
});

export function bulkEndpoints(options: ApiOptions) {
  const begin = beginner(options);
  return [
    endpoint("POST /bulk", {
      name: "createBulk",
      refuses: ["no-filter", "unknown-kind", "unknown-group", "key-conflict"],
      summary: "Retry or cancel every job that matches, with a key at most once; a dry run only counts",
      description:
        "Answers 202 with the bulk action: follow it at its `Location`. A dry run answers 200 with a count. The same request with the same key answers the same bulk action.",
      example: { body: { action: "cancel", filter: { kind: "hello", state: ["PENDING"] }, dryRun: true } },
      scope: "list",
      body: bulkBody,
      takesKey: true,
      replies: { 200: bulkPreview, 202: bulk },
      handle: (each) =>
        begin({ ...each, name: "createBulk" }, { steps: [], ...each.body, search: searchIn(each.body.filter) }),
    }),
    endpoint("POST /dead-letters/redrive", {
      name: "redriveDeadLetters",
      refuses: ["no-filter", "unknown-kind", "unknown-group", "key-conflict"],
      summary:
        "Retry the FAILED jobs that match, at a pace if one is given, with a key at most once; a dry run only counts",
      description:
        "Retries FAILED jobs, several groups at once, at a pace that is written at most two minutes ahead. In `steps` a few jobs of each group go first; the next ones follow when at most 10 % of these have failed again, otherwise the rest stays as it is. Answers 202 with the bulk action that does it, or 200 with a count for a dry run. The same request with the same key answers the same bulk action.",
      example: { body: { filter: { kind: "hello" }, pace: "5/s", steps: "1,10,all" } },
      scope: "list",
      body: redriveBody,
      takesKey: true,
      replies: { 200: bulkPreview, 202: bulk },
      handle: (each) => {
        const search: JobSearch = { ...searchIn(each.body.filter), states: ["FAILED"] };
        return begin({ ...each, name: "redriveDeadLetters" }, { ...each.body, action: "retry", search });
      },
    }),
    ...tracked(options),
  ];
}

function tracked(options: ApiOptions) {
  const { insight } = options;
  const scope = async ({ params }: PathOf) => {
    const [found] = await insight.run(readBulks, { id: params.id, limit: 1 });
    if (found === undefined) return null;
    const { kind, kinds, runId, id } = found.search;
    if (kind !== undefined || kinds !== undefined) return { kinds: kind === undefined ? (kinds ?? []) : [kind] };
    if (runId !== undefined) return await ofRun(options)({ params: { id: runId as JobId } });
    return id === undefined ? "everything" : await ofJob(options)({ params: { id: id as JobId } });
  };
  const ofOne = {
    scope,
    params: z.object({ id }),
    refuses: ["unknown-bulk"],
    example: { params: { id: "3" } },
    replies: { 200: bulk },
  } as const;
  const read = async (wanted: string) => bulkJson(await knownBulk(insight, wanted));
  return [
    endpoint("GET /bulk", {
      name: "listBulks",
      summary: "Bulk actions, the newest first",
      scope: "list",
      query: z.strictObject(pageFields(50)),
      replies: { 200: bulkList },
      async reply({ query, within }) {
        const found = await insight.run(readBulks, { before: query.cursor, limit: query.limit + 1 });
        const { rows, nextCursor } = pageOf(found, query.limit, ({ id: last }) => last);
        const bulks = rows.filter(({ search }) => isWithin(search, within)).map(bulkJson);
        return { bulks, nextCursor };
      },
    }),
    endpoint("GET /bulk/:id", {
      ...ofOne,
      name: "getBulk",
      summary: "How far a bulk action is",
      description: "How many jobs it changed, and how many had moved before their turn.",
      reply: ({ params }) => read(params.id),
    }),
    endpoint("POST /bulk/:id/stop", {
      ...ofOne,
      name: "stopBulk",
      summary: "Stop a bulk action; what it has changed stays changed",
      async reply({ params }) {
        await insight.run(stopBulk, params.id);
        return await read(params.id);
      },
    }),
  ];
}

function searchIn({ payload, ...fields }: z.infer<typeof filter>): JobSearch {
  const members = Object.entries(payload ?? {}).map(([path, value]) => [`payload.${path}`, value]);
  return searchOf({ ...fields, ...Object.fromEntries(members) });
}

interface Wanted {
  readonly action: JobAction;
  readonly search: JobSearch;
  readonly pace?: number | undefined;
  /** Left out: those of `stepsFor`. */
  readonly steps?: readonly number[] | undefined;
  readonly dryRun: boolean;
}

interface Asking {
  readonly name: string;
  readonly body: { readonly key?: string | undefined };
  readonly within: Bounds;
  readonly caller: Caller;
}

function beginner(options: ApiOptions): (asking: Asking, wanted: Wanted) => Promise<Answer> {
  const bulks = bulkBeginner(options);
  return async (asking, { action, search: named, pace: paceMs = 0, steps, dryRun }) => {
    if (Object.keys(named).length === 0)
      throw fieldProblem("no-filter", "filter", "must name something: at least a state or a kind");
    const search = changeable(action, { ...named, ...asking.within.search });
    const matching = async () => {
      const matched = await countMatching(options.insight, search, contractLimits.bulkCountMax);
      await refuseUnknown(options, search, matched);
      return { matched, steps: steps ?? stepsFor(matched) };
    };
    if (dryRun) return { status: 200, body: { dryRun, ...(await matching()) } };
    if (search.states?.length === 0)
      throw fieldProblem("no-filter", "filter.state", `must be among ${statesOf[action].join(", ")} to ${action}`);
    const make = async (request?: KeyedRequest): Promise<Answer> => {
      const wanted = { action, search, caller: asking.caller.name, paceMs, ...(await matching()) };
      return await bulks.begin(wanted, request);
    };
    return await once(options, { name: asking.name, asked: asking, make, again: bulks.again });
  };
}

/** @throws HttpProblem for a kind that no definition and no matching job has, and for a group without such jobs. */
async function refuseUnknown(
  { insight, registry }: ApiOptions,
  search: JobSearch,
  matched: Bulk["matched"],
): Promise<void> {
  const { kind, fingerprints = [] } = search;
  const isKnown = kind === undefined || registry.jobs.has(kind) || graphOf(registry, kind) !== null;
  if (matched.count === 0 && !isKnown)
    throw new HttpProblem("unknown-kind", `filter.kind: no job is defined as ${JSON.stringify(kind)}`);
  for (const group of fingerprints) {
    const found = await countMatching(insight, { ...search, fingerprints: [group] }, 1);
    const message = `no job that matches is in group ${JSON.stringify(group)}`;
    if (found.count === 0) throw fieldProblem("unknown-group", "filter.fingerprint", message);
  }
}

/** One, then ten: of ten jobs the first two steps would be nearly all. */
const stepsFor = ({ count }: Bulk["matched"]): readonly number[] => (count > 10 ? [1, 10] : []);

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

/** GET /dead-letters: FAILED jobs that wait for a person. The jobs of a group: GET /jobs?state=FAILED&fingerprint=... */
export const deadLetterEndpoint = ({ insight }: ApiOptions) =>
  endpoint("GET /dead-letters", {
    name: "listDeadLetters",
    summary: "FAILED jobs in groups that failed alike, the largest first",
    description: "FAILED jobs by fingerprint, the largest group first, each with its newest jobs as samples.",
    example: { query: { kind: "hello" } },
    scope: "list",
    query: z.strictObject({
      kind: nameText().optional(),
      endedFrom: searchFields.endedFrom,
      endedTo: searchFields.endedTo,
    }),
    replies: { 200: failureGroupList },
    async reply({ query, within }) {
      const { groups, isMore } = await oneRow(insight, readFailureGroups, query);
      return { groups: groups.filter(({ kind }) => within.hasKind(kind)), isMore };
    },
  });
