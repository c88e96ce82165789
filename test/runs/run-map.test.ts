import { expect, test } from "vitest";
import { insightLimits } from "../../src/insight/insight-limits.ts";
import { aRun, aTask } from "../contract/store/run-fixture.ts";
import { testDatabase } from "../support/database.ts";
import { mapOf } from "../../src/insight/run-map.ts";

const { mappedEdgesMax, mappedEdgesOfTaskMax } = insightLimits;

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
