import type { JobId } from "../../../../src/core/job/job.ts";
import type { NewTask } from "../../../../src/core/ports/ports.ts";
import { operationsLimits } from "../../../../src/core/ports/operations-limits.ts";
import { dispatchWindowMs } from "../../../contract/store/fixture.ts";
import { aTask, failed, workbench, type Workbench } from "../../../contract/store/run-fixture.ts";
import type { Tour, World } from "../tour.ts";
import { at, claim, job, put, set, withoutIndexes } from "./stage.ts";

/** Why a job does not run: what lies before it in its lane, at its slot and in its run, beside what lies elsewhere. */
export const waitings: Tour = { name: "waitings", parts: [inLanes, inRuns, large] };

async function askAll({ operations }: World, ids: readonly JobId[]): Promise<void> {
  for (const id of ids) for (const limit of [1, 2, 100]) await operations.waiting(id, limit);
}

/** Rows of three lanes, dispatched and due at different times; leases and workers of each. */
async function inLanes(world: World): Promise<void> {
  const { store } = world;
  await withoutIndexes(world);
  const lanes = ["alpha", "default", "mail"];
  const ids = await put(
    world,
    Array.from({ length: 24 }, (_, n) => ({ lane: at(lanes, n % 3) })),
  );
  for (const [n, id] of ids.entries())
    await job(
      world,
      [id],
      `dispatched_at = belfry.now() - interval '${n % 5} s', due_at = belfry.now() - interval '${n} s'`,
    );
  await job(world, ids.slice(0, 3), "due_at = belfry.now() + interval '1 s'");
  await job(world, ids.slice(3, 6), "due_at = belfry.now()");
  for (const id of ids.slice(6, 16)) await claim(world, [id]);
  await claim(world, ids.slice(16, 19));
  await store.cancel([at(ids, 6), at(ids, 20)], { caller: "ada" });
  await set(
    world,
    "update belfry.lease set until = until + id % 4 * interval '1 s' + case lane when 'mail' then interval '9 s' else '0' end",
  );
  await set(
    world,
    `insert into belfry.worker (id, lane, started_at, seen_at)
     select lane || n, lane, belfry.now(), belfry.now() - n * interval '1 s' - length(lane) * interval '1 minute'
     from unnest($1::text[]) lane, generate_series(1, 2) n`,
    [lanes],
  );
  const far = await put(
    world,
    Array.from({ length: 8 }, () => ({ delayMs: 3 * dispatchWindowMs })),
  );
  for (const [n, id] of far.entries())
    await job(
      world,
      [id],
      `hold = 'slot', held_on = '${n < 5 ? "cap" : "other"}', due_at = belfry.now() - interval '${n % 3} s'`,
    );
  await job(world, far.slice(0, 1), "blocked = true");
  await store.retry([at(ids, 20)], { caller: "bob" });
  await askAll(world, [...ids, ...far]);
}

/** Tasks that wait, that are skipped because of one before them, and runs that failed, by another starter or not at all. */
async function inRuns(world: World): Promise<void> {
  const { store, clock } = world;
  await withoutIndexes(world);
  const starters = await put(world, [{}, {}, {}]);
  const benches: Workbench[] = [];
  for (const [n, starterId] of starters.entries()) {
    const bench = await workbench(store, { key: `run-${n}`, starterId, tasks: graph(n === 2) });
    benches.push(bench);
  }
  for (const task of ["good", "bad", "late", "worse"])
    for (const bench of benches.toReversed()) {
      await clock.advance(1_000);
      if (task === "late") await store.cancel(await named(world, bench, "gone"));
      await bench.end(task, task === "good" ? {} : failed);
    }
  for (const bench of benches) await bench.resolve();
  const all: JobId[] = [...starters];
  for (const { runId } of benches) all.push(...(await store.tasks(runId, { limit: 100 })).map(({ jobId }) => jobId));
  await askAll(world, all);
  await set(world, "update belfry.job set task = null, key = 'target-' || id where task in ('bad', 'worse')");
  await askAll(world, all);
  await set(world, "update belfry.job set finished_at = belfry.now() where finished_at is not null");
  await askAll(world, all);
  await set(
    world,
    "update belfry.job set finished_at = finished_at - id * interval '1 s' where finished_at is not null",
  );
  await askAll(world, all);
}

async function named({ store }: World, bench: Workbench, name: string): Promise<readonly JobId[]> {
  const tasks = await store.tasks(bench.runId, { limit: 100 });
  return tasks.filter(({ task }) => task === name).map(({ jobId }) => jobId);
}

function graph(isOpen: boolean): readonly NewTask[] {
  return [
    aTask("gone"),
    aTask("good"),
    aTask("bad"),
    aTask("late"),
    aTask("worse"),
    aTask("middle", [1, 2, 3, 4]),
    aTask("last", [5]),
    aTask("of-gone", [0, 1]),
    ...(isOpen ? [aTask("open"), aTask("open-too"), aTask("waits", [8, 9, 1])] : []),
  ];
}

/** Payloads at the size that a list shows, and beyond it. */
async function large(world: World): Promise<void> {
  const { listPayloadBytesMax } = operationsLimits;
  const [few] = await put(world, [{ payload: "x" }]);
  const { rows } = await world.pool.query<{ extra: number }>(
    "select pg_column_size(payload) - 1 as extra from belfry.job where id = $1",
    [few],
  );
  const size = listPayloadBytesMax - (rows[0]?.extra ?? 0);
  await set(world, "alter table belfry.job alter column payload set storage external");
  await put(
    world,
    [-9, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4].map((more) => ({ payload: "y".repeat(size + more) })),
  );
  await world.operations.jobs({ search: {}, sort: "newest", cursor: null, limit: 50 });
  await world.store.jobs({ limit: 50 });
}
