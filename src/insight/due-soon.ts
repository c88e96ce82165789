import { z } from "zod";
import { inOrder, isWaiting } from "../admission/order.ts";
import { isOut } from "../machine/job-columns.ts";
import { count, time } from "./atoms.ts";
import { heldUnder, lanesOut } from "./due-jobs.ts";
import { insightLimits } from "./insight-limits.ts";
import { isoText, sqlQuery } from "./sql-query.ts";

export const dueGroup = z.object({
  schedule: z.string().nullable().describe("That made them; null for what no schedule made."),
  kind: z.string(),
  lane: z.string(),
  part: z.int(),
  jobs: count,
  firstAt: time,
  lastAt: time,
});
export type DueGroup = z.infer<typeof dueGroup>;

const members =
  "schedule_id, coalesce(effective_at, scheduled_for) as comes_at, run_id, kind, lane, due_at, dispatched_at";

interface DueSpan {
  readonly to: number;
  readonly parts: number;
  /** No message leaves longer before its job is due. */
  readonly windowMs: number;
  readonly lane?: string | undefined;
  /** Only of these. */
  readonly kinds?: readonly string[] | undefined;
}

/**
 * Jobs that exist and wait for a time up to $1: delayed ones, retries, targets that were written ahead. By schedule, kind, lane and
 * which of $2 equal parts of the span; at most $3 of each of $4 holds and twice as many of all, and those among the $5 of each lane
 * that were sent last, within $8 ms. What a schedule wrote for its own next time is left out: the schedule's times have it. Of lane $6
 * and kinds $7, or null; one row of nothing where there is none. Locks nothing.
 */
export const readDueSoon = sqlQuery("due-soon", {
  params: ({ to, parts, windowMs, lane, kinds }: DueSpan) => {
    const { dueSoonRowsMax, slotGroupsShownMax, outRowsMax } = insightLimits;
    return [to, parts, dueSoonRowsMax, slotGroupsShownMax, outRowsMax, lane ?? null, kinds ?? null, windowMs];
  },
  row: z.object({ of: dueGroup.nullable(), isCut: z.boolean() }),
})(`
with recursive span as materialized (
  select belfry.now() as since, belfry.at($1::float8) as till
), ${heldUnder()}, ${lanesOut()}, out as materialized (
  select o.* from span s cross join lanes l cross join lateral (
    select ${members} from belfry.job where (lane, dispatched_at) <= (l.lane, 'infinity') and lane >= l.lane and ${isOut}
    order by lane desc, dispatched_at desc limit $5
  ) o where ($6::text is null or l.lane = $6::text) and o.dispatched_at >= s.since - belfry.span($8::float8)
), found as materialized (
  (select w.* from held h cross join span s cross join lateral (
    select ${members} from belfry.job where held_on = h.held_on and ${isWaiting} and due_at > s.since and due_at <= s.till ${inOrder} limit $3
  ) w limit 2 * $3)
  union all
  select o.* from span s cross join out o where o.due_at > s.since and o.due_at <= s.till
)
select to_jsonb(g) as of, (select count(*) from found) >= $3 or exists (select from out group by lane having count(*) >= $5) as "isCut"
from (values (1)) one left join (
  select f.schedule_id as schedule, f.kind, f.lane,
    least($2::int - 1, floor(extract(epoch from f.due_at - s.since) * $2::int / extract(epoch from s.till - s.since))::int) as part,
    count(*)::int as jobs, ${isoText("min(f.due_at)")} as "firstAt", ${isoText("max(f.due_at)")} as "lastAt"
  from found f cross join span s
  where not (f.run_id is null and f.schedule_id is not null and f.comes_at > s.since)
    and ($6::text is null or f.lane = $6::text) and ($7::text[] is null or f.kind = any($7::text[]))
  group by 1, 2, 3, 4
) g on true
order by g."firstAt", g.schedule, g.kind, g.lane`);
