import { z } from "zod";
import { isOut } from "../machine/job-columns.ts";
import { inOrder, isWaiting, orderOf } from "../admission/order.ts";
import { insightLimits } from "./insight-limits.ts";
import { count } from "./atoms.ts";
import { type JobRow, job, listedJson } from "./job.ts";
import { type JobSearch, matches, within } from "./search.ts";
import { type Database, sqlQuery } from "./sql-query.ts";

/** Due times travel in microseconds since 1970: of two jobs in one millisecond the next page must bring the second. */
const dueUs = `(extract(epoch from due_at) * 1000000)::bigint::text as due_us`;
const afterDue = `(${orderOf()}) > (timestamptz 'epoch' + $1::bigint * interval '1 microsecond', $2::bigint)`;

/** Whether the states that are asked for have one of these. */
const asksFor = (states: string): string =>
  `($6::jsonb -> 'states' is null or $6::jsonb -> 'states' ?| array[${states}])`;

/** What jobs wait on, each once, $4 at most, found by hopping through its index; `first` may also say whether to look at all. */
export const heldUnder = (first = isWaiting): string => `holds as (
  (select held_on from belfry.job where ${first} order by held_on limit 1)
  union all
  select (select j.held_on from belfry.job j where j.held_on > h.held_on and ${isWaiting} order by j.held_on limit 1)
  from holds h where h.held_on is not null
), held as materialized (
  select held_on from holds where held_on is not null limit $4
)`;

/** Lanes that messages are out of, each once, found by hopping through their index. */
export const lanesOut = (first = isOut): string => `lanes as (
  (select lane from belfry.job where ${first} order by lane limit 1)
  union all
  select n.lane from lanes l cross join lateral (select lane from belfry.job where ${isOut} and lane > l.lane order by lane limit 1) n
)`;

/**
 * The next $3 rows that are to start, by due time after due $1 id $2: of what waits, in its index's order for each of $4 holds;
 * of what is out, $5 rows of each lane that were sent first; and what is blocked in the $8 oldest open runs.
 */
const toStart = `
with recursive ${heldUnder(`${isWaiting} and ${asksFor("'PENDING', 'RETRY_WAIT'")}`)}, ${lanesOut(`${isOut} and ${asksFor("'QUEUED'")}`)}, out as materialized (
  select o.* from lanes l cross join lateral (
    select id, due_at, state, lane from belfry.job
    where (lane, dispatched_at) >= (l.lane, '-infinity') and lane <= l.lane and ${isOut} order by lane, dispatched_at limit $5
  ) o
), runs as materialized (
  select id from belfry.run where state in ('RUNNING', 'CANCELING') and ${asksFor("'PENDING'")} order by id limit $8
), look as materialized (
  select id, due_at from (
    select w.id, w.due_at from held h cross join lateral (
      select id, due_at from belfry.job where held_on = h.held_on and ${isWaiting} and ${afterDue} ${inOrder} limit $3
    ) w
    union all
    select id, due_at from out where state = 'QUEUED' and ${afterDue}
    union all
    select b.id, b.due_at from runs r cross join lateral (
      select id, due_at from belfry.job where run_id = r.id and (finished_at is not null)::int = 0 and blocked and ${afterDue} limit $3
    ) b
  ) next
  ${inOrder} limit $3
)`;

/**
 * $1 due $2 id to begin after $3 rows of one look $4 holds $5 rows out $6 the search $7 limit $8 runs. `looked`: rows of the look;
 * `is_cut`: more holds, rows out or runs than were looked at. Locks nothing.
 */
export const searchDue = sqlQuery("search-due", {
  params: (of: { due: string; id: string; search: string; limit: number }) => {
    const { searchRowsMax, slotGroupsShownMax, outRowsMax, openRunsMax } = insightLimits;
    return [of.due, of.id, searchRowsMax, slotGroupsShownMax, outRowsMax, of.search, of.limit, openRunsMax];
  },
  row: z.object({
    looked: count,
    last_us: z.string().nullable(),
    last_id: z.string().nullable(),
    is_cut: z.boolean(),
    due_us: z.string().nullable(),
    job: job.nullable(),
  }),
})(`${toStart}, last as (
  select count(*)::int as looked, (array_agg(${dueUs.replace(" as due_us", "")} order by due_at desc, id desc))[1] as last_us,
    (array_agg(id order by due_at desc, id desc))[1] as last_id,
    (select count(*) from held) >= $4 or (select count(*) from runs) >= $8
      or exists (select from out group by lane having count(*) >= $5) as is_cut
  from look
)
select l.*, m.due_us, m.job from last l left join (
  select ${dueUs.replace("due_at", "j.due_at")}, j.due_at as due, j.id, ${listedJson} as job
  from belfry.job j
  where j.id = any(array(select id from look)) and ${(within + " and " + matches).replaceAll("$1", "$6")}
  order by ${orderOf("j")} limit $7
) m on true
order by m.due, m.id`);

/** Before every due time there can be, in microseconds since 1970: the year 4713 before Christ. */
const dueFirst = "-210866803200000000";
const us = (instant: number): string => `${Math.floor(instant)}000`;

export interface JobPage {
  /** Payloads above `insightLimits.listPayloadBytesMax` are null here. */
  readonly jobs: readonly JobRow[];
  /** Where the next page begins; null when nothing is left. */
  readonly cursor: string | null;
  /**
   * False when the search ended before it filled the page: ask again with the cursor. By due time also when more is out, held or
   * blocked than such a list looks at; it leaves those out.
   */
  readonly complete: boolean;
}

interface DueSearch {
  readonly search: JobSearch;
  /** It, as JSON. */
  readonly text: string;
  readonly cursor: string | null;
  readonly limit: number;
  /** Asked after each look. */
  isOver(): boolean;
}

export async function findDue(insight: Database, { search, text, cursor, limit, isOver }: DueSearch): Promise<JobPage> {
  const isPast = (due: string): boolean => search.dueTo !== undefined && BigInt(due) > BigInt(us(search.dueTo));
  const jobs: JobRow[] = [];
  let [due, id] = cursor?.split("_") ?? [search.dueFrom === undefined ? dueFirst : us(search.dueFrom), "0"];
  for (;;) {
    const of = { due: due ?? dueFirst, id: id ?? "0", search: text, limit: limit + 1 - jobs.length };
    const rows = await insight.run(searchDue, of);
    const hits = rows.flatMap((row) => (row.job === null ? [] : [{ job: row.job, due: row.due_us }]));
    jobs.push(...hits.map((hit) => hit.job));
    const [look] = rows;
    const complete = look?.is_cut !== true;
    if (jobs.length > limit) {
      const last = hits.at(-2);
      const next = last === undefined ? `${due}_${id}` : `${last.due}_${last.job.id}`;
      return { jobs: jobs.slice(0, limit), cursor: next, complete };
    }
    if (look === undefined || look.looked < insightLimits.searchRowsMax || isPast(look.last_us ?? dueFirst)) {
      return { jobs, cursor: null, complete };
    }
    [due, id] = [look.last_us ?? dueFirst, look.last_id ?? "0"];
    if (isOver()) return { jobs, cursor: `${due}_${id}`, complete: false };
  }
}
