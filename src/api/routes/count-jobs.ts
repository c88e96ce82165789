import { z } from "zod";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import type { JobSearch } from "../../core/ports/job-search.ts";
import { states } from "../../core/job/state.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { searchWithin } from "../scope.ts";
import type { ApiOptions } from "../options.ts";
import { text } from "../query-fields.ts";
import { jobCounts, type JobCountsReply } from "../shape/job.ts";
import { onlyPayloadMembers, searchFields, searchOf } from "./jobs.ts";

const { state: _, ...otherFields } = searchFields;
const countsQuery = z
  .object(otherFields)
  .catchall(text(1_000))
  .superRefine((query, ctx) => onlyPayloadMembers(query, ctx, otherFields));

/** GET /jobs/counts: beside each state how many of it match what else is asked for. */
export const countJobsEndpoint = ({ operations }: ApiOptions): Endpoint =>
  endpoint("GET /jobs/counts", {
    name: "countJobs",
    summary: "How many jobs of each state match a filter; a count stops at a bound",
    scope: "list",
    query: countsQuery,
    replies: { 200: jobCounts },
    handle: async ({ query, within }) => ({
      status: 200,
      body: await countAll(operations, { ...searchOf(query), ...searchWithin(within) }),
    }),
  });

/** One after the other: a page that is open must not hold more than one connection. */
export async function countAll(operations: ApiOptions["operations"], search: JobSearch): Promise<JobCountsReply> {
  const counts: Partial<JobCountsReply> = {};
  const { countedRowsMax, countedLooksMax: looksMax, countedMs: lookMs } = operationsLimits;
  for (const state of states) {
    counts[state] = await operations.count({ ...search, states: [state] }, countedRowsMax, { looksMax, lookMs });
  }
  return counts as JobCountsReply;
}
