import {
  findCanceling,
  freePassedSlots,
  lockForPage,
  markCanceling,
  openJobs,
  sealOrphans,
} from "../../../../src/adapters/postgres/sql/run.ts";
import type { JobId, RunId } from "../../../../src/core/job/job.ts";
import { runLimits } from "../../../../src/core/ports/run-limits.ts";
import { states } from "../../../../src/core/job/state.ts";
import { aRun, aTask } from "../../../contract/store/run-fixture.ts";
import { jobRow, runRow } from "../rows.ts";
import { send, at, put, type Row, withoutIndexes } from "../stage.ts";
import type { Tour, World } from "../tour.ts";

/** Runs of every state are started, paged, sealed, canceled and skipped, beside others that must stay as they are. */
export const runs: Tour = { name: "runs", parts: [started, orphans, paged, slots, canceling, skipped] };

export const runStates = ["RUNNING", "CANCELING", "DONE", "FAILED", "CANCELED"];

/** By starters with and without a schedule, due before, at and after now; then again, by them and by others. */
async function started({ pool, store }: World): Promise<void> {
  const starters = [null, "mine"].flatMap((schedule) => [null, -1, 0, 1].map((ms) => ({ schedule, ms })));
  await put(
    pool,
    "job",
    starters.map(({ schedule, ms }, n) =>
      jobRow(n, { state: "RUNNING", schedule_id: schedule, scheduled_for: ms === null ? null : at(ms) }),
    ),
  );
  const id = (n: number): JobId => String(1_000 + n) as JobId;
  for (const n of starters.keys())
    await store.startRun(aRun({ key: `of-${n}`, starterId: id(n), sealed: n % 2 === 0 }));
  await store.startRun(aRun({ key: "of-none" }));
  await store.startRun(aRun({ key: "of-gone", starterId: id(99) }));
  const roots = Array.from({ length: runLimits.wideJoinOver + 1 }, (_, n) => aTask(`root-${n}`));
  const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
  const joins = [1, roots.length - 1, roots.length].map((count) => aTask(`join-${count}`, upTo(count)));
  await store.startRun(aRun({ key: "graph", tasks: [...roots, ...joins] }));
  const known = runStates.flatMap((state) =>
    [null, "its starter is gone"].flatMap((error) => [true, false].map((sealed) => ({ state, error, sealed }))),
  );
  await put(
    pool,
    "run",
    known.flatMap((over, n) => [
      runRow(n, { ...over, kind: "again", key: `k-${n}`, starter_id: 1_000 + (n % 8) }),
      runRow(100 + n, { ...over, kind: "other", key: `k-${n}`, starter_id: 1_000 + (n % 8) }),
    ]),
  );
  for (const n of known.keys())
    for (const starter of [n % 8, (n + 1) % 8])
      await store.startRun(aRun({ kind: "again", key: `k-${n}`, starterId: id(starter), sealed: n % 9 === 8 }));
}

async function orphans(world: World): Promise<void> {
  const cases = [...states, "gone", "none"].flatMap((starter) =>
    runStates.flatMap((state) => [true, false].map((sealed) => ({ starter, state, sealed }))),
  );
  const rows = cases.map((one, n) => ({ ...one, id: cases.length - n }));
  await put(
    world.pool,
    "job",
    rows.flatMap(({ starter, id }) =>
      starter === "gone" || starter === "none" ? [] : [jobRow(id, { state: starter })],
    ),
  );
  await put(
    world.pool,
    "run",
    rows.map(({ id, starter, state, sealed }) =>
      runRow(id, { state, sealed, starter_id: starter === "none" ? null : 1_000 + id }),
    ),
  );
  for (const limit of [1, 3, 100]) await send(world, sealOrphans, [limit]);
}

/** A slot that a starter has, one that its run has, and the seat for waiting. */
async function put3(world: World, holders: readonly number[]): Promise<void> {
  const keys = holders.map((_, n) => `slot-${holders.length - n}`);
  await put(
    world.pool,
    "slot_group",
    keys.map((key) => ({ key, size: 4, on_refusal: "hold", reason: "slot" })),
  );
  await put(
    world.pool,
    "slot",
    holders.flatMap((holder, n) =>
      [3, 2, 1, 0].flatMap((slot) => ({
        key: keys[n],
        n: slot,
        job_id: slot === 3 ? null : 1_000 + holder,
        attempt: slot === 2 ? null : 1,
        free_from: at(9),
      })),
    ),
  );
  await put(
    world.pool,
    "slot",
    keys.flatMap((key, n) => [{ key, n: 5, job_id: 1_000 + (holders[n] ?? 0), free_from: at(9) }]),
  );
}

async function paged(world: World): Promise<void> {
  const { pool, store } = world;
  const cases = runStates.flatMap((state) => [true, false].map((sealed) => ({ state, sealed })));
  await put(
    pool,
    "run",
    cases.map((over, n) => runRow(n, { ...over, starter_id: 1_000 + n })),
  );
  await put(pool, "job", [
    ...cases.map((_, n) => jobRow(n, { state: "RUNNING" })),
    jobRow(50, { state: "QUEUED", attempt: 1 }),
    jobRow(51, { state: "SUCCESS", attempt: 1 }),
  ]);
  await put3(world, [...cases.keys(), 50]);
  for (const n of cases.keys()) await send(world, lockForPage, [1_000 + n, 1_000 + n, 1]);
  for (const [job, attempt] of [
    [1, 2],
    [50, 1],
    [51, 1],
    [99, 1],
  ] as const)
    await send(world, lockForPage, [1_001, 1_000 + job, attempt]);
  for (const n of cases.keys()) await store.sealRun(String(1_000 + n) as RunId, {});
}

async function slots(world: World): Promise<void> {
  const cases = [...runStates, null];
  await put(
    world.pool,
    "run",
    cases.flatMap((state, n) => (state === null ? [] : [runRow(n, { state, starter_id: 1_000 + n })])),
  );
  await put3(world, [...cases.keys()]);
  await world.pool.query("update belfry.slot set attempt = null where key in ('slot-1', 'slot-4') and n = 0");
  await world.pool.query("update belfry.slot set attempt = null where (key, n) in (('slot-3', 3), ('slot-3', 1))");
  await world.pool.query("delete from noted.change");
  await send(world, freePassedSlots, []);
}

/** Jobs of each state in one run, the larger the id the earlier in the table. */
const jobsOf = (run: number, first: number, over: Row = {}): Row[] =>
  states.map((state, n) => jobRow(first + states.length - n, { state, run_id: 1_000 + run, due_at: at(-n), ...over }));

async function canceling(world: World): Promise<void> {
  await withoutIndexes(world);
  const cases = runStates.flatMap((state) =>
    [null, "paused"].flatMap((withdrawn) =>
      ["open", "ended", "none"].flatMap((jobs) => ["stage", "other"].map((kind) => ({ state, withdrawn, jobs, kind }))),
    ),
  );
  const rows = cases.map((one, n) => ({ ...one, id: cases.length - n }));
  await put(
    world.pool,
    "run",
    rows.map(({ id, state, withdrawn, kind }) =>
      runRow(id, { state, withdrawn, kind, canceled_by: id % 2 === 0 ? "ada" : null }),
    ),
  );
  await put(
    world.pool,
    "job",
    rows.flatMap(({ id, jobs }) =>
      jobs === "none"
        ? []
        : jobs === "open"
          ? jobsOf(id, 100 * id)
          : [jobRow(100 * id, { state: "SUCCESS", run_id: 1_000 + id })],
    ),
  );
  for (const kind of [null, "stage", "other"])
    for (const limit of [2, 100]) await send(world, findCanceling, [limit, kind]);
  for (const { id, state, jobs } of rows)
    if (jobs === "open" || state === "CANCELING")
      for (const limit of id % 4 === 0 ? [2, 100] : [100]) await send(world, openJobs, [1_000 + id, limit]);
  for (const { id, jobs } of rows) if (jobs === "none") await send(world, markCanceling, [1_000 + id, "bob"]);
}

/** Under the generation that was asked about, an older one and another job's. */
async function skipped({ pool, store }: World): Promise<void> {
  const rows = states.flatMap((state) => [1, 2].map((generation) => ({ state, generation })));
  await put(
    pool,
    "job",
    rows.map(({ state, generation }, n) =>
      jobRow(rows.length - n, { state, generation, run_id: n % 5 === 0 ? null : 1_001 }),
    ),
  );
  await put(pool, "run", [runRow(1)]);
  const messages = rows.map((_, n) => ({
    jobId: String(1_000 + rows.length - n) as JobId,
    generation: n === 2 ? 2 : (rows[n]?.generation ?? 0),
  }));
  await store.skip(messages.slice(0, -4), { reason: "not wanted" });
  await store.skip(
    rows.map((row, n) => ({ jobId: String(1_000 + rows.length - n) as JobId, generation: row.generation })),
    { reason: "not taken" },
  );
}
