import { z } from "zod";
import { countMatching, findJobs, jobSorts } from "../../insight/find-jobs.ts";
import { insightLimits } from "../../insight/insight-limits.ts";
import { type JobSearch, jobSearch, searchName, type SearchName } from "../../insight/search.ts";
import { states } from "../../machine/state.ts";
import { endpoint } from "../endpoint.ts";
import type { Bounds } from "../scope.ts";
import type { ApiOptions } from "../options.ts";
import { commaTextsOf, durationUpTo, id, instant, isTrue, limit, nameText, someOf, text } from "../query-fields.ts";
import { jobCounts, type JobCountsReply, jobList } from "../shape/job.ts";
import { contractLimits } from "../../machine/contract-limits.ts";
import { pageBefore } from "../query.ts";

/** Of `fingerprint`. */
export const ofGroups = "Of these groups of failures, as `listDeadLetters` names them.";

/** Those that a scope or a run's retry adds, and members of the payload: `payload.user.id=42` compares that one as text. */
type Unnamed = "kinds" | "taken" | "payload";

/** Attempts, in a query as a text, in a body also as JSON has it. */
const attempts = (description: string) =>
  z
    .union([z.number(), z.string()], "must be a whole number")
    .transform(Number)
    .refine(
      (value) => Number.isInteger(value) && value >= 0 && value < 1_000_000,
      "must be a whole number below 1000000",
    )
    .meta({ description, as: { type: "integer", minimum: 0, maximum: 999_999 } });
const took = (description: string) => durationUpTo(contractLimits.misfireAgeMsMax, description);

/** What a search may name, and how each is read from text. */
export const searchFields = {
  state: someOf(states, "Only in these states.").optional(),
  id: id.optional().describe("The job with this id."),
  text: text(
    insightLimits.searchedTextCharactersMax,
    "Words, of which each is the id, or a part of the kind, the key or the error.",
  )
    .transform((value) => value.trim().split(/\s+/))
    .refine(
      (words) => words.length <= insightLimits.searchedWordsMax,
      `must be at most ${insightLimits.searchedWordsMax} words`,
    )
    .optional(),
  kind: nameText("Of this kind.").optional(),
  lane: nameText("Of this lane.").optional(),
  key: text(contractLimits.keyCharactersMax, "With this key.").optional(),
  error: text(contractLimits.errorCodeCharactersMax, "Whose last error has this code.").optional(),
  fingerprint: commaTextsOf(insightLimits.redrivenGroupsMax, ofGroups).optional(),
  run: id.optional().describe("Of this run."),
  schedule: text(200, "Of this schedule.").optional(),
  worker: text(200, "That this worker runs.").optional(),
  dueFrom: instant.optional().describe("Due at this time or later."),
  dueTo: instant.optional().describe("Due before this time."),
  createdFrom: instant.optional().describe("Created at this time or later."),
  createdTo: instant.optional().describe("Created before this time."),
  endedFrom: instant.optional().describe("Ended at this time or later."),
  endedTo: instant.optional().describe("Ended before this time."),
  tookFrom: took("Whose last attempt took so long or longer.").optional(),
  tookTo: took("Whose last attempt took no longer.").optional(),
  attemptFrom: attempts("With so many attempts or more.").optional(),
  attemptTo: attempts("With no more attempts.").optional(),
  held: isTrue("Whether it waits for a slot, a paused lane or kind, or tasks before it.").optional(),
} satisfies { readonly [K in Exclude<keyof JobSearch, Unnamed> as SearchName<K>]: z.ZodType<JobSearch[K]> };

const jobsQuery = z
  .object({
    ...searchFields,
    sort: z.enum(jobSorts).default("newest").describe("`due` is for jobs that wait."),
    cursor: z
      .string()
      .regex(/^(-?\d{1,18}_)?\d{1,18}$/, "must be the nextCursor of the page before")
      .describe(pageBefore)
      .optional(),
    limit: limit(50),
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
  if (others.length - unknown.length > insightLimits.searchedPayloadsMax) {
    const message = `at most ${insightLimits.searchedPayloadsMax} payload members`;
    ctx.addIssue({ code: "custom", message, input: query });
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

const fieldNames = Object.keys(jobSearch.unwrap().shape).map((field) => [field, searchName(field)] as const);

export function searchOf(query: AskedSearch): JobSearch {
  const payload = Object.entries(query)
    .filter(([name]) => name.startsWith("payload."))
    .map(([name, value]) => ({ path: name.split(".").slice(1), value: String(value) }));
  const named = fieldNames.map(([field, name]) => [field, query[name]] as const);
  const search = [...named, ["payload", payload.length === 0 ? undefined : payload] as const];
  return Object.fromEntries(search.filter(([, value]) => value !== undefined));
}

const { state: _, ...otherFields } = searchFields;
const countsQuery = z
  .object(otherFields)
  .catchall(text(1_000))
  .superRefine((query, ctx) => onlyPayloadMembers(query, ctx, otherFields));

export const searchEndpoints = (options: ApiOptions) => [
  endpoint("GET /jobs/counts", {
    name: "countJobs",
    summary: "How many jobs of each state match a filter; a count stops at a bound",
    description:
      "By state, for the filters of `listJobs`. A count stops at a bound; `isMore` then says that there are more.",
    example: { query: { kind: "hello" } },
    scope: "list",
    query: countsQuery,
    replies: { 200: jobCounts },
    reply: ({ query, within }) => countAll(options.insight, { ...searchOf(query), ...within.search }),
  }),
  endpoint("GET /jobs", {
    name: "listJobs",
    summary: "Jobs by filter, a page at a time",
    description:
      "A page of jobs. `payload.NAME=value` compares a member of the payload as text, up to three of them. When `complete` is false the search ended before it filled the page: go on with the cursor. With `sort=due` it is also false when more is out, held or waits for tasks than is looked at: 1,000 messages a lane, 200 slot groups, 250 open runs.",
    example: { query: { state: "FAILED,RETRY_WAIT", limit: "20" } },
    scope: "list",
    query: jobsQuery,
    replies: { 200: jobList },
    reply: ({ query, within }) => list(options, query, within),
  }),
];

/** One after the other: a page that is open must not hold more than one connection. */
export async function countAll(insight: ApiOptions["insight"], search: JobSearch): Promise<JobCountsReply> {
  const counts: Partial<JobCountsReply> = {};
  const { countedRowsMax, countedLooksMax: looksMax, countedMs: lookMs } = insightLimits;
  for (const state of states) {
    counts[state] = await countMatching(insight, { ...search, states: [state] }, countedRowsMax, { looksMax, lookMs });
  }
  return counts as JobCountsReply;
}

async function list({ insight }: ApiOptions, query: z.infer<typeof jobsQuery>, within: Bounds) {
  const { sort, cursor = null, limit: rows } = query;
  const search = { ...searchOf(query), ...within.search };
  const page = await findJobs(insight, { search, sort, cursor, limit: rows });
  return { jobs: [...page.jobs], nextCursor: page.cursor, complete: page.complete };
}
