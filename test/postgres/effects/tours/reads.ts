import {
  countStates,
  readAttempt,
  readFirstHistory,
  readHistory,
  readJob,
  readJobs,
} from "../../../../src/adapters/postgres/sql/read.ts";
import { readFailures, readHealth, readWorstKinds } from "../../../../src/adapters/postgres/sql/health.ts";
import { minute } from "../../../contract/store/fixture.ts";
import { at, change, jobRow, put, runRow, send, withoutIndexes } from "../stage.ts";
import type { Tour, World } from "../tour.ts";

/** Jobs with their attempts, counts by state that stop at a bound, and what the alarms ask. */
export const reads: Tour = {
  name: "reads",
  parts: [lists, attempts, ofOneSort, counts, overdue, failures, worstKinds],
};

async function lists(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  await put(pool, "job", [
    jobRow(5, "PENDING", { key: "one", lane: "a" }),
    jobRow(2, "QUEUED", { kind: "post", key: "one" }),
    jobRow(9, "FAILED", { lane: "a" }),
    jobRow(4, "SUCCESS", { kind: "post", error_code: "E" }),
    jobRow(7, "RUNNING", { key: "two" }),
    jobRow(1, "FAILED", { kind: "post" }),
    jobRow(3, "CANCELED", { key: "three" }),
  ]);
  const none = [null, null, null, null, null, 100, false, false];
  await send(world, readJobs, none);
  for (const [place, value] of [
    [0, ["FAILED", "PENDING"]],
    [0, ["FAILED"]],
    [1, "post"],
    [2, "a"],
    [3, "one"],
    [4, "4"],
    [5, 3],
    [6, true],
    [7, true],
  ] as const)
    await send(world, readJobs, none.with(place, value as never));
  for (const id of ["4", "7", "99"]) await send(world, readJob, [id]);
}

async function attempts(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  const tried = (id: number, state: string, attempt: number, over: Record<string, unknown> = {}) =>
    jobRow(id, state, { attempt, started_at: at(-100 - id), dispatched_at: at(-200), worker: "w1", ...over });
  await put(pool, "worker", [
    { id: "w1", log_group: "one", started_at: at(0), seen_at: at(0) },
    { id: "w2", log_group: "two", started_at: at(0), seen_at: at(0) },
  ]);
  await put(pool, "job", [
    tried(1, "SUCCESS", 2),
    tried(2, "RUNNING", 2, { worker: "w3" }),
    tried(3, "FAILED", 3),
    jobRow(4, "CANCELED", { attempt: 1 }),
    tried(5, "QUEUED", 2),
    jobRow(6, "RETRY_WAIT", { attempt: 1, started_at: at(-100), worker: "w1" }),
    jobRow(7, "PENDING", { attempt: 1, started_at: at(-100), worker: "w1" }),
    jobRow(8, "SUCCESS"),
    tried(9, "SUCCESS", 1, { worker: null }),
  ]);
  let id = 40;
  const entry = (job: number, attempt: number, over: Record<string, unknown> = {}) => ({
    id: (id = (id * 7) % 101),
    job_id: job,
    at: at(-id),
    from_state: "RUNNING",
    to_state: "RETRY_WAIT",
    attempt,
    generation: attempt,
    started_at: at(-300 - id),
    detail: { id },
    ...over,
  });
  await put(pool, "history", [
    entry(1, 1, { worker: "w2" }),
    entry(1, 1, { worker: "w1" }),
    entry(1, 1, { from_state: "RETRY_WAIT", worker: "w2" }),
    entry(1, 2, { from_state: "QUEUED" }),
    entry(1, 3),
    entry(3, 3, { worker: "w2" }),
    entry(3, 1, { worker: null }),
    entry(5, 1),
    entry(6, 1, { worker: "w2", from_state: "QUEUED" }),
    entry(2, 1, { worker: "w9" }),
    entry(4, 1, { from_state: "PENDING" }),
  ]);
  for (const job of ["1", "2", "3", "4", "5", "6", "7", "8", "9", "99"]) {
    for (const attempt of [0, 1, 2, 3]) await send(world, readAttempt, [job, attempt]);
    for (const limit of [100, 2]) await send(world, readHistory, [job, limit]);
  }
  for (const limit of [100, 2]) await send(world, readFirstHistory, [["1", "6", "3"], limit]);
}

const held = (key: string) => ({ hold: key.startsWith("lane:") ? "paused" : "slot", held_on: key });

const waiting = [
  jobRow(14, "RETRY_WAIT", { due_at: at(0) }),
  jobRow(13, "PENDING", { due_at: at(1) }),
  jobRow(12, "RETRY_WAIT", { due_at: at(1) }),
  jobRow(11, "PENDING", { due_at: at(-1) }),
  jobRow(10, "RETRY_WAIT", { due_at: at(2) }),
];
const heldRows = [
  jobRow(24, "PENDING", { due_at: at(2), ...held("cap:b") }),
  jobRow(23, "RETRY_WAIT", { due_at: at(3), ...held("cap:a") }),
  jobRow(22, "RETRY_WAIT", { due_at: at(1), ...held("lane:a") }),
  jobRow(21, "PENDING", { due_at: at(3), ...held("cap:a") }),
  jobRow(25, "RETRY_WAIT", { due_at: at(1), ...held("cap:a") }),
  jobRow(20, "PENDING", { due_at: at(2), blocked: true, ...held("cap:0") }),
];

/** Only rows of one sort, so that no other hides which of them were counted. */
async function ofOneSort(world: World): Promise<void> {
  await withoutIndexes(world);
  for (const rows of [waiting, heldRows]) {
    await put(world.pool, "job", rows);
    for (const limit of [1, 2, 3, 4, 5, 6]) await send(world, countStates, [limit]);
    await change(world.pool, "delete from belfry.job");
  }
}

async function counts(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  const lease = (id: number, jobs: readonly number[]) => ({
    id,
    worker: "w",
    lane: "a",
    ms: 1,
    until: at(1),
    job_ids: `{${jobs.join(",")}}`,
  });
  const out = (lane: string, ms: number, dueMs: number) => ({ lane, dispatched_at: at(ms), due_at: at(dueMs) });
  await put(pool, "run", [runRow(3, "RUNNING"), runRow(4, "DONE"), runRow(1, "CANCELING"), runRow(9, "FAILED")]);
  await put(pool, "lease", [lease(2, [98, 99, 31, 32, 33]), lease(1, [34, 35, 99]), lease(3, [36])]);
  await put(pool, "job", [
    ...waiting,
    ...heldRows,
    jobRow(45, "QUEUED", out("a", 5, 1)),
    jobRow(43, "QUEUED", out("a", 1, -1)),
    jobRow(44, "QUEUED", out("b", 2, 2)),
    jobRow(42, "QUEUED", out("b", 0, 5)),
    ...[36, 35, 33, 34, 32, 31].map((id) => jobRow(id, "RUNNING", { lease_id: 1, ...out("a", id, 0) })),
    jobRow(56, "PENDING", { blocked: true, run_id: 3 }),
    jobRow(55, "PENDING", { blocked: true, run_id: 4 }),
    jobRow(54, "PENDING", { blocked: true, run_id: 1 }),
    jobRow(53, "PENDING", { run_id: 3, due_at: at(9) }),
    jobRow(52, "SKIPPED", { blocked: true, run_id: 3 }),
    jobRow(63, "FAILED"),
    jobRow(61, "FAILED", { dispatched_at: at(0) }),
    jobRow(62, "CANCELED", { error_code: "E" }),
    jobRow(66, "SUCCESS", { dispatched_at: at(0) }),
    jobRow(64, "SKIPPED"),
    jobRow(65, "SUCCESS"),
    jobRow(60, "SUCCESS"),
  ]);
  for (const limit of [1, 2, 3, 4, 5, 6, 7, 100]) await send(world, countStates, [limit]);
  await put(pool, "run", [runRow(10, "RUNNING")]);
  await change(pool, "delete from belfry.job where dispatched_at is null and finished_at is null and not blocked");
  for (const limit of [1, 2, 3, 4]) await send(world, countStates, [limit]);
}

async function overdue(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  const occurrence = (n: number, nominalMs: number, decidedMs: number | null) => ({
    schedule_id: "s",
    local_time: String(n),
    fold: 0,
    timezone: "UTC",
    nominal_at: at(nominalMs),
    outcome: decidedMs === null ? "PLANNED" : "FIRED",
    schedule_version: 1,
    planned_at: at(-minute),
    ...(decidedMs === null ? {} : { decided_at: at(decidedMs) }),
  });
  const ask = (overdue: number, limit: number, long: number) =>
    send(world, readHealth, [overdue, limit, 1_000_000_000, long]);
  await ask(1, 100, 1);
  await put(pool, "occurrence", [
    occurrence(1, -10, null),
    occurrence(2, -11, null),
    occurrence(3, -9, null),
    occurrence(4, -12, -5),
    occurrence(5, -13, 700),
    occurrence(6, 20, null),
  ]);
  await put(pool, "run", [
    runRow(5, "RUNNING", { created_at: at(-10) }),
    runRow(4, "CANCELING", { created_at: at(-11) }),
    runRow(3, "DONE", { created_at: at(-50) }),
    runRow(7, "RUNNING", { created_at: at(-12) }),
    runRow(6, "CANCELED", { created_at: at(-50) }),
    runRow(2, "RUNNING", { created_at: at(-9) }),
  ]);
  for (const bound of [9, 10, 11, 12]) {
    for (const limit of [1, 2, 3, 100]) await ask(bound, limit, bound);
  }
}

async function failures(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  const minuteRow = (n: number, failed: number) => ({ at: at(n * minute), kind: "a", lane: "x", failed });
  await send(world, readFailures, [1, 100]);
  await put(pool, "minute", [minuteRow(0, 1), minuteRow(-5, 10), minuteRow(-6, 100), minuteRow(-4, 1_000)]);
  const run = (id: number, state: string, retention: number, ms: number) =>
    runRow(id, state, { retention_ms: retention, finished_at: at(ms) });
  await put(pool, "run", [
    run(3, "DONE", 500, -1),
    run(1, "FAILED", 500, -5 * minute),
    run(2, "FAILED", 500, -5 * minute - 1),
    run(4, "FAILED", 700, -2),
    run(5, "CANCELED", 700, -1),
    run(6, "FAILED", 900, 0),
    run(7, "FAILED", 900, -4 * minute),
    run(11, "FAILED", 50, -3 * minute),
    runRow(8, "RUNNING", { retention_ms: 100 }),
    runRow(9, "RUNNING", { retention_ms: 600 }),
    runRow(10, "CANCELING", { retention_ms: 1_000 }),
  ]);
  await put(
    pool,
    "job",
    [3, 1, 2].map((id) => jobRow(id, "FAILED")),
  );
  for (const ms of [5 * minute - 1, 5 * minute, 5 * minute + 1, 6 * minute, 0]) {
    for (const limit of [1, 2, 100]) await send(world, readFailures, [ms, limit]);
  }
}

/** Kinds that are worst in one figure, equally bad, or too rare to be judged. */
async function worstKinds(world: World): Promise<void> {
  await withoutIndexes(world);
  const row = (kind: string, over: Record<string, number>, n = 0, lane = "x") => ({
    at: at(n * minute),
    kind,
    lane,
    ...over,
  });
  await put(world.pool, "minute", [
    row("z", { failed: 3, succeeded: 1, items: 4, items_failed: 1, slow: 1, retried: 2, late: 1, started: 4 }),
    row("c", { failed: 6, succeeded: 2, items: 8, items_failed: 2, slow: 3, retried: 4, late: 2, started: 8 }),
    row("c", { lock_failed: 3, locked: 3 }, 0, "y"),
    row("b", { failed: 2, succeeded: 0, items: 2, items_failed: 1, slow: 1, retried: 0, late: 1, started: 1 }, -5),
    row("a", { failed: 9, lock_failed: 3, locked: 1, slow: 1, late: 1, items_failed: 1 }, -6),
    row("d", { lock_failed: 3, locked: 1 }),
    row("e", { lock_failed: 2, locked: 0, items: 1, items_failed: 1, started: 1, late: 1 }),
    row("f", { lock_failed: 6, locked: 2 }),
    row("g", { slow: 2, late: 3, items_failed: 4 }),
    row("h", { retried: 1, slow: 1, started: 9, late: 9, succeeded: 5, failed: 2 }),
  ]);
  for (const ms of [5 * minute, 4 * minute, 6 * minute]) {
    for (const least of [1, 2, 3, 4, 6, 7, 0]) await send(world, readWorstKinds, [ms, least]);
  }
}
