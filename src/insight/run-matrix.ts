import { z } from "zod";
import type { RunId } from "../machine/job.ts";
import { idText, runState, state, time } from "./atoms.ts";
import { insightLimits } from "./insight-limits.ts";
import { type Database, isoText, sqlQuery } from "./sql-query.ts";

/** The runs of a graph side by side: each has a job and a state for each task, null where it has no such task. */
export const runMatrix = z
  .object({
    tasks: z.array(z.string()).describe("Names, in the order in which the newest run wrote them."),
    runs: z
      .array(
        z.object({
          id: idText,
          key: z.string(),
          state: runState,
          createdAt: time,
          jobs: z.array(idText.nullable()),
          states: z.array(state.nullable()),
        }),
      )
      .describe("The oldest first."),
    isMore: z.boolean().describe("A run has more tasks than are read."),
  })
  .meta({ id: "RunMatrix" });
export type RunMatrixReply = z.infer<typeof runMatrix>;

const { matrixRunsMax, matrixRunsAfter, matrixTasksMax } = insightLimits;

const cells = (hasEnded: "0" | "1"): string => `
    (select id, task, state from belfry.job
    where (run_id, (finished_at is not null)::int, id) > (r.id, ${hasEnded}, 0) and run_id <= r.id and (finished_at is not null)::int = ${hasEnded}
    order by run_id, (finished_at is not null)::int, id limit $4)`;

/** Of the runs of a kind: $2 at most, run $1 among them, $3 at most after it, with their first $4 tasks and one more. Locks nothing. */
const readMatrix = sqlQuery("run-matrix", {
  params: (run: RunId) => [run, matrixRunsMax, matrixRunsAfter, matrixTasksMax + 1],
  row: runMatrix.shape.runs.element.omit({ jobs: true, states: true }).extend({
    tasks: z.array(z.object({ job: idText, task: z.string().nullable(), state })),
  }),
})(`
with own as (
  select id, kind from belfry.run where id = $1::bigint
), chosen as (
  select id from (
    select r.id from own o cross join lateral (
      select id from belfry.run where (kind, id) > (o.kind, o.id) and kind <= o.kind order by kind, id limit $3
    ) r
    union all
    select r.id from own o cross join lateral (
      select id from belfry.run where (kind, id) <= (o.kind, o.id) and kind >= o.kind order by kind desc, id desc limit $2
    ) r
  ) both_sides order by id desc limit $2
)
select r.id, r.key, r.state, ${isoText("r.created_at")} as "createdAt", t.tasks
from chosen c join belfry.run r on r.id = c.id cross join lateral (
  select coalesce(jsonb_agg(jsonb_build_object('job', id::text, 'task', task, 'state', state) order by id), '[]') as tasks from (
    select * from (${cells("0")}
    union all${cells("1")}) both_ranges order by id limit $4
  ) first_ones
) t
order by r.id`);

/** Empty for a run that is not there. */
export async function matrixOf(insight: Database, run: RunId): Promise<RunMatrixReply> {
  const rows = await insight.run(readMatrix, run);
  const named = rows.map(
    (row) => new Map(row.tasks.flatMap((each) => (each.task === null ? [] : [[each.task, each]]))),
  );
  const tasks = [...new Set(named.toReversed().flatMap((each) => [...each.keys()]))];
  const shown = tasks.slice(0, matrixTasksMax);
  return {
    tasks: shown,
    runs: rows.map(({ tasks: _tasks, ...row }, place) => ({
      ...row,
      jobs: shown.map((task) => named[place]?.get(task)?.job ?? null),
      states: shown.map((task) => named[place]?.get(task)?.state ?? null),
    })),
    isMore: tasks.length > shown.length,
  };
}
