import { z } from "zod";
import { insightLimits } from "./insight-limits.ts";
import type { RunId } from "../machine/job.ts";
import { count, idText, state, time } from "./atoms.ts";
import { type Database, oneRow, sqlQuery } from "./sql-query.ts";

/** The tasks of a run in columns: what stands at one place of each belongs to one task. Ten thousand weigh under a megabyte. */
export const mappedTasks = z.object({
  jobs: z.array(idText),
  names: z.array(z.string().nullable()),
  states: z.array(state),
  /** Milliseconds after `from`. */
  started: z.array(z.int().nullable()),
  finished: z.array(z.int().nullable()),
  attempts: z.array(count),
  errors: z.array(z.string().nullable()),
  /** Predecessors that have not ended. */
  open: z.array(count),
  /** Places of those SKIPPED because their branch was not taken. */
  notTaken: z.array(count),
  /** Places of those that wait for their signal. */
  signals: z.array(count),
  /** Places: the second waits for the first. */
  edges: z.array(z.tuple([count, count])),
  /** Of tasks with a job for each row: the run that these jobs are, and how far it is. */
  rows: z.array(z.object({ place: count, run: idText, total: count, done: count, failed: count })),
  from: time,
  isMore: z.boolean(),
});

const { mappedTasksMax, mappedEdgesMax, mappedEdgesOfTaskMax } = insightLimits;

const column = (value: string, where = ""): string => `coalesce(jsonb_agg(${value} order by place) ${where}, '[]')`;

/** One row: the jobs of run $1 in the order they were written, without what is large. $2 at most. Locks nothing. */
export const readRunMap = sqlQuery("run-map", {
  params: (run: RunId) => [run, mappedTasksMax],
  row: mappedTasks.omit({ edges: true, rows: true, from: true }).extend({ base: z.number() }),
})(`
with tasks as materialized (
  select id, coalesce(task, key) as name, state, not_taken, preds_open,
    awaits_signal and signaled_at is null and state = 'PENDING' and not blocked as wants_signal, attempt, error_code, belfry.ms(started_at) as started,
    belfry.ms(finished_at) as finished, row_number() over (order by id) - 1 as place
  from belfry.job where run_id = $1::bigint order by id limit $2::int + 1
), shown as (
  select *, coalesce(min(started) over (), 0) as base from tasks where place < $2::int
)
select ${column("id::text")} as jobs, ${column("name")} as names, ${column("state")} as states,
  ${column("started - base")} as started, ${column("finished - base")} as finished, ${column("attempt")} as attempts,
  ${column("error_code")} as errors, ${column("preds_open")} as open, ${column("place", "filter (where not_taken)")} as "notTaken",
  ${column("place", "filter (where wants_signal)")} as signals,
  coalesce(min(base), 0) as base, (select count(*) from tasks) > $2::int as "isMore"
from shown`);

/** The edges to the first $2 jobs of run $1: the first $3 of each, $4 in all. Locks nothing. */
export const readRunEdges = sqlQuery("run-map-edges", {
  params: (run: RunId) => [run, mappedTasksMax, mappedEdgesOfTaskMax, mappedEdgesMax + 1],
  row: z.object({ source: idText, target: idText }),
})(`
select e.from_id as source, e.to_id as target
from (select id from belfry.job where run_id = $1::bigint order by id limit $2) j
cross join lateral (select from_id, to_id from belfry.edge where to_id = j.id order by from_id limit $3) e
order by j.id, e.from_id limit $4`);

/** The runs that tasks of run $1 are, of the first $2. Locks nothing. */
export const readRunRows = sqlQuery("run-map-rows", {
  params: (run: RunId) => [run, mappedTasksMax],
  row: z.object({ task: idText, run: idText, total: count, done: count, failed: count }),
})(`
select j.id as task, r.id as run, r.total, r.done, r.failed
from (select id, task from belfry.job where run_id = $1::bigint order by id limit $2) j
join belfry.run_progress r on r.starter_id = j.id
where j.task is not null
order by j.id`);

/** `isMore`: there are more tasks, or more edges of those that are read. */
export async function mapOf(insight: Database, run: RunId): Promise<z.infer<typeof mappedTasks>> {
  const [{ base, isMore, ...tasks }, edges, rows] = await Promise.all([
    oneRow(insight, readRunMap, run),
    insight.run(readRunEdges, run),
    insight.run(readRunRows, run),
  ]);
  const places = new Map(tasks.jobs.map((id, place) => [id, place]));
  return {
    ...tasks,
    rows: rows.map(({ task, ...of }) => ({ ...of, place: places.get(task) ?? 0 })),
    from: new Date(base).toISOString(),
    isMore: isMore || edges.length > mappedEdgesMax,
    edges: edges.slice(0, mappedEdgesMax).flatMap(({ source, target }): [number, number][] => {
      const [from, to] = [places.get(source), places.get(target)];
      return from === undefined || to === undefined ? [] : [[from, to]];
    }),
  };
}
