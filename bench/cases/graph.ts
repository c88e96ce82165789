import type pg from "pg";
import { contractLimits } from "../../src/core/job/contract-limits.ts";
import type { NewRun, NewTask } from "../../src/core/ports/ports.ts";
import type { Ground } from "../ground.ts";
import { compared, type Figure, measured, perSecond, inTurns } from "../measure.ts";
import { aRun, emptyRuns, tasksOf } from "../run-rows.ts";

const tasks = 10_000;
const width = 100;

/** One transaction that starts a run of 10,000 tasks with two predecessors each, beside bare INSERTs of as many rows. */
export async function graph(ground: Ground): Promise<readonly Figure[]> {
  const database = await ground.database();
  await database.pool.query("create table raw.edge (like belfry.edge including all)");
  const store = database.store(1);
  const client = await database.pool.connect();
  const planned = layered();
  const seconds: number[] = [];
  let round = 0;
  const pairs = await inTurns({
    async product() {
      round += 1;
      const run = { ...planned, key: `run-${round}` };
      const rate = await perSecond(tasks, async () => {
        const { created } = await store.startRun(run);
        if (!created) throw new Error("the run was there already");
      });
      seconds.push(tasks / rate);
      await emptyRuns(database.pool);
      await database.pool.query("truncate raw.edge");
      return rate;
    },
    async roof() {
      const values = [rawJobs(planned.tasks), rawEdges(planned.tasks)] as const;
      const rate = await perSecond(tasks, () => insertRaw(client, ...values));
      await emptyRuns(database.pool);
      await database.pool.query("truncate raw.edge");
      return rate;
    },
  });
  client.release();
  return [
    compared("graph: 10,000 tasks, 19,800 edges", "tasks/s", pairs, { ratioMin: 0.5 }),
    measured("graph: time of that transaction", "s", seconds.slice(1), { valueMax: 0.4 }),
  ];
}

/** Levels of 100: each task waits for two of the level before. */
function layered(): NewRun {
  const after = Array.from({ length: tasks }, (_, n) =>
    n < width ? [] : [n - width, n - width - (n % width) + ((n + 1) % width)],
  );
  return aRun("", tasksOf(after));
}

async function insertRaw(client: pg.PoolClient, jobs: unknown[], edges: unknown[]): Promise<void> {
  await client.query("begin");
  await client.query(rawTasks, jobs);
  await client.query(rawEdge, edges);
  await client.query("commit");
}

const rawTasks = `
insert into raw.job (id, kind, payload, payload_hash, lane, state, due_at, generation, handed_at, lease_ms, max_attempts,
  retention_ms, trace, created_at, run_id, task, preds_open, blocked)
overriding system value
select id, 'noop', 'null', '', 'default', case preds when 0 then 'QUEUED' else 'PENDING' end::belfry.job_state, now(), 0, null, 20000, 4,
  ${contractLimits.retentionMsDefault}, 'trace', now(), 1, task, preds, preds > 0
from unnest($1::bigint[], $2::text[], $3::int[]) as v (id, task, preds)`;

const rawEdge = `
insert into raw.edge (from_id, to_id, run_id, wide)
select from_id, to_id, 1, false from unnest($1::bigint[], $2::bigint[]) as v (from_id, to_id)`;

const rawJobs = (rows: readonly NewTask[]): unknown[] => [
  rows.map((_, n) => n + 1),
  rows.map((row) => row.task),
  rows.map((row) => row.after.length),
];

const rawEdges = (rows: readonly NewTask[]): unknown[] => [
  rows.flatMap((row) => row.after.map((before) => before + 1)),
  rows.flatMap((row, n) => row.after.map(() => n + 1)),
];
