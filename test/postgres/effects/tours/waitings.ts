import type { JobId } from "../../../../src/core/job/job.ts";
import type { NewTask } from "../../../../src/core/ports/ports.ts";
import { dispatchWindowMs } from "../../../contract/store/fixture.ts";
import { aTask, failed, workbench, type Workbench } from "../../../contract/store/run-fixture.ts";
import { aSpec } from "../../../contract/store/schedule-fixture.ts";
import type { Tour, World } from "../tour.ts";
import { at, claim, job, put, set, turned } from "../jobs.ts";
import { withoutIndexes } from "../stage.ts";

/** Why a job does not run: what lies before it in its lane, at its slot and in its run, beside what lies elsewhere. */
export const waitings: Tour = { name: "waitings", parts: [inLanes, inRuns] };

async function askAll({ operations }: World, ids: readonly JobId[], limits = [100]): Promise<void> {
  for (const id of ids) for (const limit of limits) await operations.waiting(id, limit);
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
  await store.installSchedules([aSpec({ id: "on" }), aSpec({ id: "off", enabled: false })]);
  await store.pauseSchedule("off", { by: "ada", reason: "why", until: null });
  for (const [n, id] of ["on", "off", "no such schedule"].entries())
    await job(world, [at(far, n + 1)], `schedule_id = '${id}'`);
  await store.retry([at(ids, 20)], { caller: "bob" });
  await askAll(world, [...ids.slice(0, 4), ...ids.slice(16), ...far], [1, 2, 100]);
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
  for (const task of ["good", "bad", "late", "worse", "bad-later"])
    for (const bench of benches.toReversed()) {
      await clock.advance(1_000);
      if (task === "late") await store.cancel(await named(world, bench, "gone"));
      await bench.end(task, task === "good" ? {} : failed);
    }
  for (const bench of benches) await bench.resolve();
  const all: JobId[] = [...starters];
  for (const bench of benches)
    for (const task of ["middle", "last", "of-gone", "of-bad-later", "waits", "waits-for-any"])
      all.push(...(await named(world, bench, task)));
  await askAll(world, all);
  for (const change of [
    "task = null, key = 'target-' || id",
    "finished_at = now",
    "finished_at = now - id * interval '1 s'",
  ]) {
    await set(
      world,
      `update belfry.job set ${change} from (select belfry.now() as now) clock
       where finished_at is not null and (task is null or task not in ('middle', 'last', 'of-gone', 'of-bad-later'))`,
    );
    await turned(world, "job", "id");
    await askAll(world, all);
  }
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
    aTask("bad-later", [2], { join: "allDone" }),
    aTask("of-bad-later", [8]),
    ...(isOpen
      ? [
          aTask("open"),
          aTask("open-too"),
          aTask("waits", [10, 11, 1]),
          aTask("waits-for-any", [2, 10], { join: "any" }),
        ]
      : []),
  ];
}
