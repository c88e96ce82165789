import { expect, test } from "vitest";
import { insightLimits } from "../../src/insight/insight-limits.ts";
import { aRun, aTask } from "../contract/store/run-fixture.ts";
import { testDatabase } from "../support/database.ts";
import { mapOf } from "../../src/insight/run-map.ts";

const { mappedEdgesMax, mappedEdgesOfTaskMax, mappedTasksMax } = insightLimits;

test("the map of a run with more edges than it shows has the first of them, and says that there are more", async () => {
  const db = await testDatabase();
  const first = Array.from({ length: mappedEdgesOfTaskMax }, (_, place) => place);
  const waiting = mappedEdgesMax / mappedEdgesOfTaskMax;
  const tasks = (count: number) => [
    ...first.map((place) => aTask(`first-${place}`)),
    ...Array.from({ length: count }, (_, n) => aTask(`then-${n}`, first)),
  ];
  const whole = await db.store.startRun(aRun({ key: "whole", tasks: tasks(waiting) }));
  const more = await db.store.startRun(aRun({ key: "more", tasks: tasks(waiting + 1) }));
  // As autovacuum does soon after a large run is written; without figures the read takes seconds.
  await db.pool.query("analyze belfry.job, belfry.edge");
  expect(await mapOf(db.insight, whole.runId)).toMatchObject({ isMore: false, edges: { length: mappedEdgesMax } });
  const { jobs, edges, isMore } = await mapOf(db.insight, more.runId);
  expect({ isMore, shown: jobs.length, edges: edges.length }).toEqual({
    isMore: true,
    shown: first.length + waiting + 1,
    edges: mappedEdgesMax,
  });
  expect(edges.map(([, to]) => to)).not.toContain(jobs.length - 1);
});

test("the map of a run with more tasks than it shows has the first of them, and says that there are more", async () => {
  const { store, pool, insight } = await testDatabase();
  const { runId } = await store.startRun(aRun({ tasks: [aTask("first")] }));
  const add = (tasks: number) =>
    pool.query(
      `insert into belfry.job (kind, payload, lane, state, event_id, due_at, max_attempts, lease_ms, retention_ms, trace, created_at,
         run_id, task)
       select kind, payload, lane, 'PENDING', 0, due_at, max_attempts, lease_ms, retention_ms, trace, created_at, run_id, 'task-' || n
       from belfry.job cross join generate_series(1, $1::int) n where task = 'first'`,
      [tasks],
    );
  await add(mappedTasksMax - 1);
  await pool.query(`with ends as (select min(id) as first, max(id) as last from belfry.job), edge as (
      insert into belfry.edge (run_id, from_id, to_id) select ${runId}, first, last from ends
    ) insert into belfry.run (kind, key, version, state, sealed, starter_id, created_at)
    select 'rows', 'k', 1, 'RUNNING', true, last, belfry.now() from ends`);
  const place = mappedTasksMax - 1;
  const whole = await mapOf(insight, runId);
  expect(whole).toMatchObject({ isMore: false, edges: [[0, place]], rows: [{ place }] });
  await add(1);
  expect(await mapOf(insight, runId)).toEqual({ ...whole, isMore: true });
});
