import {
  makePartition,
  partitionWork,
  pruneAudit,
  pruneCounts,
  pruneJobs,
  prunePast,
  pruneQuarantine,
  pruneRest,
} from "../../../../src/adapters/postgres/sql/prune.ts";
import { pruneRuns } from "../../../../src/adapters/postgres/sql/prune-run.ts";
import { dayMs } from "../../../../src/core/job/units.ts";
import { minute } from "../../../contract/store/fixture.ts";
import { jobRow, runRow } from "../rows.ts";
import { send, at, put, type Row, withoutIndexes } from "../stage.ts";
import type { Tour, World } from "../tour.ts";

/** What is past its retention, what is past it by nothing or a millisecond less, and what is kept for another reason. */
export const prunes: Tour = { name: "prunes", parts: [jobs, runs, counts, rest, partitions] };

const retentions = [2 * minute, minute, 4 * minute];

/** Ended in turn just past the retention, at it, and before it. */
const ages = (retention: number): readonly number[] => [-retention - 1, -retention, -retention + 1, -retention - 9_000];

async function jobs(world: World): Promise<void> {
  const rows = retentions.flatMap((retention_ms) =>
    ages(retention_ms).flatMap((ms) =>
      ["SUCCESS", "FAILED", ...(retention_ms === minute ? [] : ["PENDING"])].flatMap((state) =>
        ["none", "run", "starts open", "started"].map((of) => ({ retention_ms, ms, state, of })),
      ),
    ),
  );
  const cases = rows.map((one, n) => ({ ...one, id: rows.length - n }));
  await put(
    world.pool,
    "job",
    cases.map(({ id, retention_ms, ms, state, of }) =>
      jobRow(id, {
        state,
        retention_ms,
        run_id: of === "run" ? 1 : null,
        ...(state === "PENDING" ? {} : { finished_at: at(ms) }),
      }),
    ),
  );
  await put(world.pool, "job", [
    jobRow(900, { state: "SUCCESS", retention_ms: 3 * minute, run_id: 1, finished_at: at(-9 * minute) }),
    jobRow(901, { retention_ms: 5 * minute }),
    jobRow(902, { state: "SUCCESS", retention_ms: 100 * minute, finished_at: at(-99 * minute) }),
    jobRow(903, { state: "SUCCESS", retention_ms: 90 * minute, finished_at: at(-99 * minute) }),
  ]);
  await put(
    world.pool,
    "run",
    cases.flatMap(({ id, of }) =>
      of === "starts open" || of === "started"
        ? [runRow(id, { state: of === "started" ? "DONE" : "CANCELING", starter_id: 1_000 + id })]
        : [],
    ),
  );
  for (const limit of [1, 2, 7, 100]) await send(world, pruneJobs, [limit]);
}

async function runs(world: World): Promise<void> {
  const cases = retentions.flatMap((retention_ms) =>
    ages(retention_ms).flatMap((ms) =>
      ["DONE", ...(retention_ms === minute ? [] : ["RUNNING"])].flatMap((state) =>
        [0, 1, 3].map((jobsOf) => ({ retention_ms, ms, state, jobsOf })),
      ),
    ),
  );
  const rows = cases.map((one, n) => ({ ...one, id: cases.length - n }));
  await put(
    world.pool,
    "run",
    rows.map(({ id, retention_ms, ms, state }) =>
      runRow(id, { state, retention_ms, ...(state === "DONE" ? { finished_at: at(ms) } : {}) }),
    ),
  );
  await put(world.pool, "run", [
    runRow(901, { retention_ms: 9 * minute }),
    runRow(902, { state: "DONE", retention_ms: 90 * minute, finished_at: at(-99 * minute) }),
  ]);
  const tasks = rows.flatMap(({ id, jobsOf }) =>
    Array.from({ length: jobsOf }, (_, n) => jobRow(10 * id + n, { state: "SUCCESS", run_id: 1_000 + id })),
  );
  await put(world.pool, "job", tasks);
  await put(
    world.pool,
    "edge",
    tasks.map((row) => ({ from_id: 9, to_id: row["id"], run_id: row["run_id"] })),
  );
  for (const [most, ofRuns] of [
    [100, 7],
    [1, 1],
    [2, 2],
    [100, 3],
    [4, 100],
    [100, 100],
  ])
    await send(world, pruneRuns, [most, ofRuns]);
}

const retention = 10 * minute;
async function counts(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  const past = [-retention - 9_000, -retention - 5_000, -retention - 1, -retention, -retention + 1];
  const each = past.toReversed();
  await put(
    pool,
    "quarantine",
    each.flatMap((ms, n) => [2, 1].map((i) => ({ id: 2 * n + i, at: at(ms), lane: "default", body: `b${n}-${i}` }))),
  );
  await put(
    pool,
    "worker",
    each.map((ms, n) => ({ id: `w-${9 - n}`, started_at: at(-99), seen_at: at(ms) })),
  );
  const bulk = { action: "retry", filter: {}, caller: "ada", newest: 1, next: 1, matched: 1, is_more: false };
  const times = { due_at: at(0), created_at: at(-99), updated_at: at(-99) };
  await put(
    pool,
    "bulk",
    [...each, null].map((ms, n) => ({
      id: 9 - n,
      ...bulk,
      ...times,
      state: ms === null ? "RUNNING" : "DONE",
      finished_at: ms === null ? null : at(ms),
    })),
  );
  const keys = each.flatMap((ms) =>
    ["b", "a"].flatMap((kind) => ["y", "x"].map((lane) => ({ at: at(ms), kind, lane }))),
  );
  await put(pool, "minute", keys);
  await put(
    pool,
    "hour",
    keys.flatMap((key) => [4, 2, 3, 1].map((bucket) => ({ ...key, bucket }))),
  );
  await put(
    pool,
    "audit",
    [-401, -399, -402, -400].map((days, n) => ({
      id: 9 - n,
      at: at(days * dayMs),
      caller: "ada",
      action: "POST /jobs",
      target: "/jobs",
      status: 201,
      detail: {},
      trace: "t",
    })),
  );
  for (const limit of [1, 3, 100]) {
    await send(world, pruneQuarantine, [retention, limit]);
    await send(world, prunePast, [retention, limit]);
    await send(world, pruneAudit, [limit]);
  }
  for (const limit of [1, 2, 3, 5, 100]) await send(world, pruneCounts, [retention, retention + 1, limit]);
}

/** Events and history of days without a partition, in no order of theirs. */
async function rest(world: World): Promise<void> {
  await withoutIndexes(world);
  const past = [-retention - 1, -retention, -retention + 1, -retention - 9_000];
  const order = [5, 2, 7, 1, 6, 3, 8, 4];
  const row: Row = { to_state: "CANCELED" };
  await put(
    world.pool,
    "event_rest",
    order.map((n, i) => ({
      ...row,
      id: n,
      xid: String(100 + (i % 2)),
      at: at(past[n % 4] ?? 0),
      job_ids: [n],
      attempts: [0],
      generations: [1],
    })),
  );
  await put(
    world.pool,
    "history_rest",
    order.map((n, i) => ({
      ...row,
      id: n,
      job_id: i % 3,
      at: at(n % 2 === 1 ? -retention - 1 : (past[(n / 2) % 4] ?? 0)),
      attempt: 0,
      generation: 1,
    })),
  );
  for (const limit of [1, 2, 3, 2, 100]) await send(world, pruneRest, [retention, limit]);
}

/** Days that are missing, and days that are past. A table of others looks like a day of ours. */
async function partitions(world: World): Promise<void> {
  await world.pool.query(
    `create table other (at timestamptz) partition by range (at);
     create table other_20260101 partition of other for values from ('2026-01-01') to ('2026-01-02')`,
  );
  for (const day of ["20260226", "20260227", "20260228", "20260302"])
    for (const parent of ["event", "history"]) await send(world, makePartition, [parent, day]);
  for (const [ahead, kept] of [
    [3, 100 * dayMs],
    [0, dayMs],
    [1, dayMs + 23 * 60 * minute],
    [1, dayMs + 23 * 60 * minute - 1],
  ] as const)
    await send(world, partitionWork, [ahead, kept]);
}
