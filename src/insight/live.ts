import { z } from "zod";
import { circuitKey } from "../admission/circuit.ts";
import { heldInOrder, isWaiting } from "../admission/order.ts";
import { isOut } from "../machine/job-columns.ts";
import { lanesOut } from "./due-jobs.ts";
import { insightLimits } from "./insight-limits.ts";
import { count, state } from "./atoms.ts";
import { type Database, sqlQuery } from "./sql-query.ts";

/** Where live jobs are looked for: each part is counted up to a bound. */
const parts = ["out", "due", "paused", "slot", "blocked"] as const;
export type LivePart = (typeof parts)[number];

/** Open jobs of one lane in one state. */
const liveCount = z.object({
  part: z.enum(parts),
  lane: z.string(),
  state,
  hold: z.enum(["none", "paused", "slot"]),
  blocked: z.boolean(),
  jobs: count,
  due: count,
  /** For how long the first of them is due. */
  oldestMs: z.number().min(0),
  /** More runs are open than were looked at. */
  isMore: z.boolean(),
});
export type LiveCount = Omit<z.infer<typeof liveCount>, "part" | "isMore">;

/**
 * Live jobs by lane and state, $1 rows of each part at most: what is out and what a pause holds lane by lane, so that a long
 * lane hides no other; what waits for its time, for a slot or for predecessors in $2 open runs of all lanes. Of what is out
 * also the $1 that were sent last: what runs is among the first, and would hide what waits. The
 * lane is a range of one, so that only `job_out` gives the order. Locks nothing.
 */
export const countLive = sqlQuery("live", {
  params: (rowsMax: number) => [rowsMax, insightLimits.openRunsMax],
  row: liveCount,
})(`
with recursive ${lanesOut()}, runs as materialized (
  select id from belfry.run where state in ('RUNNING', 'CANCELING') order by id desc limit $2
)
select part, lane, state, hold, blocked, count(*)::int as jobs, count(*) filter (where due_at <= belfry.now())::int as due,
  belfry.ms_since(min(due_at)) as "oldestMs", (select count(*) from runs) >= $2 as "isMore"
from (
  select 'out' as part, j.lane, state, hold, blocked, due_at from lanes l cross join lateral (
    (select id, lane, state, hold, blocked, due_at from belfry.job
      where (lane, dispatched_at) >= (l.lane, '-infinity') and lane <= l.lane and ${isOut} order by lane, dispatched_at limit $1)
    union
    (select id, lane, state, hold, blocked, due_at from belfry.job
      where (lane, dispatched_at) <= (l.lane, 'infinity') and lane >= l.lane and ${isOut} order by lane desc, dispatched_at desc limit $1)
  ) j
  union all
  (select 'due', lane, state, hold, blocked, due_at from belfry.job where ${heldInOrder("''")} limit $1)
  union all
  select 'paused', j.* from (
    select 'lane:' || name as key from belfry.lane union all select ${circuitKey("name")} from belfry.circuit
  ) l cross join lateral (
    select lane, state, hold, blocked, due_at from belfry.job where ${heldInOrder("l.key")} limit $1
  ) j
  union all
  (select 'slot', lane, state, hold, blocked, due_at from belfry.job where held_on > '' and ${isWaiting} order by held_on limit $1)
  union all
  (
    select 'blocked', j.* from runs r cross join lateral (
      select lane, state, hold, blocked, due_at from belfry.job where run_id = r.id and (finished_at is not null)::int = 0 and blocked limit $1
    ) j limit $1
  )
) live
group by part, lane, state, hold, blocked
order by part, lane, state, hold, blocked`);

export interface Live {
  readonly counts: readonly LiveCount[];
  /** Parts that were not counted to their end: `out` and `paused` of one lane, the others of all (null). */
  readonly cut: readonly { readonly part: LivePart; readonly lane: string | null }[];
}

export async function readLive(insight: Database, rowsMax: number = insightLimits.liveRowsMax): Promise<Live> {
  const rows = await insight.run(countLive, rowsMax);
  const laneOf = ({ part, lane }: (typeof rows)[number]) => (part === "out" || part === "paused" ? lane : null);
  const cut = [...Map.groupBy(rows, (row) => JSON.stringify([row.part, laneOf(row)])).values()].flatMap((same) => {
    const [row] = same;
    if (row === undefined || sum(same, ({ jobs }) => jobs) < rowsMax) return [];
    return [{ part: row.part, lane: laneOf(row) }];
  });
  return {
    cut: rows[0]?.isMore === true ? [...cut, { part: "blocked", lane: null }] : cut,
    // What a pause holds is counted lane by lane.
    counts: rows.filter(({ part, hold }) => part !== "slot" || hold === "slot"),
  };
}

/** How the live jobs of a lane, or of all, stand. */
export function depthOf(counts: readonly LiveCount[]) {
  const free = counts.filter(({ hold, blocked }) => hold === "none" && !blocked);
  const startable = free.filter(({ state }) => state !== "RUNNING");
  const due = startable.filter((each) => each.due > 0);
  return {
    waiting: sum(startable, (each) => each.due),
    running: sum(counts, ({ state, jobs }) => (state === "RUNNING" ? jobs : 0)),
    retrying: sum(counts, ({ state, jobs }) => (state === "RETRY_WAIT" ? jobs : 0)),
    scheduled: sum(startable, (each) => each.jobs - each.due),
    held: {
      slot: sum(counts, ({ hold, jobs }) => (hold === "slot" ? jobs : 0)),
      paused: sum(counts, ({ hold, jobs }) => (hold === "paused" ? jobs : 0)),
      predecessors: sum(counts, ({ blocked, jobs }) => (blocked ? jobs : 0)),
    },
    oldestWaitingMs: due.length === 0 ? null : Math.max(...due.map(({ oldestMs }) => oldestMs)),
  };
}

const sum = (counts: readonly LiveCount[], of: (each: LiveCount) => number): number =>
  counts.reduce((total, each) => total + of(each), 0);
