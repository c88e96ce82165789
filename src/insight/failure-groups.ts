import { z } from "zod";
import { isFailed } from "../machine/job-columns.ts";
import { insightLimits } from "./insight-limits.ts";
import { count, idText, time } from "./atoms.ts";
import type { JobSearch } from "./search.ts";
import { isoText, sqlQuery } from "./sql-query.ts";

const failureGroup = z
  .object({
    fingerprint: z.string(),
    kind: z.string(),
    errorCode: z.string().nullable(),
    errorMessage: z.string().nullable(),
    jobs: count,
    firstAt: time.describe("When the first of them failed so, also before a retry, as long as its history is kept."),
    lastAt: time,
    newest: idText,
    samples: z.array(z.object({ job: idText, at: time, message: z.string().nullable() })).describe("The newest ones."),
  })
  .meta({ id: "FailureGroup" });

export type FailureGroup = z.infer<typeof failureGroup>;

export const failureGroupList = z
  .object({ groups: z.array(failureGroup), isMore: z.boolean() })
  .meta({ id: "FailureGroupList" });
export type FailureGroupListReply = z.infer<typeof failureGroupList>;

const { failureRowsMax, failureGroupsMax, failureSamplesShown, failureFirstsMax } = insightLimits;

/**
 * One row: failures that look alike, among the newest $1 of all kinds. $2 kind or null $3 groups and $4 samples of each at most;
 * the first time is that of the history of its $5 oldest jobs: a retry does not change it. $6 $7 ended between, or null.
 * Locks nothing.
 */
export const readFailureGroups = sqlQuery("failure-groups", {
  params: ({ kind, endedFrom, endedTo }: Pick<JobSearch, "kind" | "endedFrom" | "endedTo">) => {
    const most = [failureRowsMax, kind, failureGroupsMax, failureSamplesShown, failureFirstsMax];
    return [...most, endedFrom, endedTo];
  },
  row: failureGroupList,
})(`
with newest as materialized (
  select id, kind, error_code, error_message, finished_at from belfry.job where ${isFailed}
    and ($6::float8 is null or finished_at >= belfry.at($6::float8)) and ($7::float8 is null or finished_at < belfry.at($7::float8))
  order by id desc limit $1
), grouped as materialized (
  select belfry.fingerprint(kind, error_code, error_message) as fingerprint, kind, error_code, (array_agg(id order by id desc))[1:$4::int] as ids,
    (array_agg(id order by id))[1:$5::int] as all_ids,
    count(*)::int as jobs, min(finished_at) as ended_at, max(finished_at) as last_at
  from newest where $2::text is null or kind = $2::text group by 1, kind, error_code
)
select coalesce(jsonb_agg(jsonb_build_object('fingerprint', g.fingerprint, 'kind', g.kind, 'errorCode', g.error_code,
    'errorMessage', s.samples -> 0 -> 'message', 'jobs', g.jobs, 'firstAt', ${isoText("least(g.ended_at, s.first_at)")}, 'lastAt', ${isoText("g.last_at")},
    'newest', g.ids[1]::text, 'samples', s.samples) order by g.jobs desc, g.ids[1] desc), '[]') as groups,
  (select count(*) from newest) >= $1 or (select count(*) from grouped) > $3 as "isMore"
from (select * from grouped order by jobs desc, ids[1] desc limit $3) g
cross join lateral (
  select jsonb_agg(jsonb_build_object('job', id::text, 'at', ${isoText("finished_at")}, 'message', error_message) order by id desc) as samples,
    (select min(h.at) from belfry.history h where h.job_id = any(g.all_ids) and h.to_state = 'FAILED'
      and h.error_code is not distinct from g.error_code) as first_at
  from belfry.job where id = any(g.ids)
) s`);
