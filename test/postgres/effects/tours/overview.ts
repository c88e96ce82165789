import {
  countLive,
  readFailureGroups,
  readFences,
  readLanes,
  readSlot,
  readSlots,
  readWorkers,
} from "../../../../src/adapters/postgres/sql/overview.ts";
import { minute } from "../../../contract/store/fixture.ts";
import { at, change, jobRow, put, runRow, send, start, withoutIndexes } from "../stage.ts";
import type { Tour, World } from "../tour.ts";

/** What an operator sees at a glance: more of each than is looked at, and what only looks as if it belonged there. */
export const overview: Tour = { name: "overview", parts: [live, slots, workers, failureGroups, locks] };

const lease = (id: number, jobs: readonly number[], over: Record<string, unknown> = {}) => ({
  id,
  worker: "w1",
  lane: "a",
  ms: 20_000,
  until: at(20_000),
  job_ids: `{${jobs.join(",")}}`,
  ...over,
});
const held = (key: string) => ({ hold: key.startsWith("lane:") ? "paused" : "slot", held_on: key });
const sent = (lane: string, n: number, dueMs = n) => ({ lane, dispatched_at: at(n), due_at: at(dueMs) });

async function live(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  await put(
    pool,
    "lane",
    ["x", "a", "z"].map((name) => ({ name })),
  );
  await put(pool, "run", [
    runRow(1, "RUNNING"),
    runRow(2, "CANCELING"),
    runRow(3, "DONE"),
    runRow(4, "RUNNING"),
    runRow(9, "FAILED"),
  ]);
  const blocked = (run: number, lane: string) => ({ blocked: true, run_id: run, lane });
  await put(pool, "job", [
    jobRow(8, "QUEUED", sent("a", 5, 1)),
    jobRow(7, "RUNNING", sent("a", 2, 0)),
    jobRow(6, "QUEUED", sent("a", 9, -1)),
    jobRow(5, "RUNNING", sent("a", 7)),
    jobRow(4, "QUEUED", sent("b", 3, -4)),
    jobRow(3, "RUNNING", sent("d", 1)),
    jobRow(2, "SUCCESS", sent("c", 1)),
    jobRow(22, "RETRY_WAIT", { due_at: at(0), lane: "a" }),
    jobRow(21, "PENDING", { due_at: at(-3), lane: "b" }),
    jobRow(20, "PENDING", { due_at: at(-5), lane: "c" }),
    jobRow(24, "RETRY_WAIT", { due_at: at(-5), lane: "d" }),
    jobRow(23, "PENDING", { due_at: at(-5), lane: "e" }),
    jobRow(33, "RETRY_WAIT", { due_at: at(4), lane: "x", ...held("lane:x") }),
    jobRow(32, "PENDING", { due_at: at(2), lane: "x", ...held("lane:x") }),
    jobRow(31, "RETRY_WAIT", { due_at: at(2), lane: "x", ...held("lane:x") }),
    jobRow(36, "PENDING", { due_at: at(0), lane: "x", ...held("lane:x") }),
    jobRow(35, "PENDING", { due_at: at(1), lane: "x", blocked: true, ...held("lane:x") }),
    jobRow(34, "PENDING", { due_at: at(1), lane: "y", ...held("lane:y") }),
    jobRow(43, "PENDING", { lane: "x", ...held("cap:b") }),
    jobRow(42, "RETRY_WAIT", { lane: "a", ...held("cap:a") }),
    jobRow(41, "PENDING", { lane: "a", blocked: true, ...held("cap:0") }),
    jobRow(52, "PENDING", blocked(1, "a")),
    jobRow(51, "PENDING", blocked(2, "b")),
    jobRow(50, "PENDING", blocked(3, "c")),
    jobRow(55, "PENDING", blocked(4, "d")),
    jobRow(54, "CANCELED", blocked(4, "e")),
    jobRow(53, "PENDING", { run_id: 4, lane: "f" }),
    jobRow(56, "PENDING", { blocked: true, lane: "g" }),
    jobRow(57, "SKIPPED", blocked(1, "a")),
  ]);
  for (const rows of [1, 2, 3, 4, 5, 100]) {
    for (const runs of [1, 2, 3, 4]) await send(world, countLive, [rows, runs]);
  }
}

async function slots(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  const group = (key: string, size: number) => ({ key, size, on_refusal: "hold", reason: "slot" });
  await put(pool, "slot_group", [group("cap:b", 3), group("cap:a", 2), group("lock:a", 1), group("cap:c", 1)]);
  const slot = (key: string, n: number, over: Record<string, unknown> = {}) => ({ key, n, ...over });
  await put(pool, "job", [
    jobRow(1, "RUNNING"),
    jobRow(2, "RUNNING", { kind: "post", started_at: at(-9) }),
    jobRow(3, "QUEUED"),
    jobRow(11, "PENDING", held("cap:a")),
    jobRow(12, "RETRY_WAIT", held("cap:a")),
    jobRow(13, "PENDING", { blocked: true, ...held("cap:a") }),
    jobRow(14, "PENDING", held("cap:b")),
    jobRow(15, "PENDING", held("cap:a")),
  ]);
  await put(pool, "slot", [
    slot("cap:a", 2, { job_id: 2, attempt: 1 }),
    slot("cap:a", 1, { job_id: 1, attempt: 1, free_from: at(1) }),
    slot("cap:a", 3, { job_id: 3, attempt: 1 }),
    slot("cap:a", 0, { job_id: 3 }),
    slot("cap:a", -1, { job_id: 3 }),
    slot("cap:b", 3, { job_id: 99, attempt: 1 }),
    slot("cap:b", 2, { job_id: 3, free_from: at(0) }),
    slot("cap:b", 1, { job_id: 1, free_from: at(-1) }),
    slot("cap:c", 1),
    slot("lock:a", 1, { job_id: 2 }),
  ]);
  for (const [prefix, groups, holders, waiting] of [
    ["", 100, 100, 100],
    ["cap:", 100, 100, 2],
    ["cap:", 2, 1, 100],
    ["cap:", 100, 2, 3],
    ["lock:", 100, 2, 3],
  ])
    await send(world, readSlots, [prefix, groups, holders, waiting]);
  for (const key of ["cap:a", "cap:b", "cap:c", "lock:a", "none"])
    for (const holders of [1, 100]) await send(world, readSlot, [key, holders]);
}

const workerRow = (id: string, seenMs: number, over: Record<string, unknown> = {}) => ({
  id,
  started_at: at(-90_000),
  seen_at: at(seenMs),
  ended: 3,
  failed: 2,
  lost: 1,
  ...over,
});

async function workers(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world, ["mergejoin"]);
  const runs = (id: number, leaseId: number, startedMs: number, over: Record<string, unknown> = {}) =>
    jobRow(id, "RUNNING", { lease_id: leaseId, started_at: at(startedMs), attempt: id, ...over });
  await put(pool, "worker", [
    ...["late", "tie", "even", "same", "equal"].map((id) => workerRow(id, -5)),
    workerRow("idle", -5, { lane: "z", version: "v1", lost_at: at(-7) }),
    workerRow("w1", -50_000),
    workerRow("w2", -2, { lane: "own" }),
    workerRow("bound", -60_000),
    workerRow("gone", -60_001),
    workerRow("alone", -4, { lane: "z" }),
    workerRow("first", -1),
  ]);
  await put(pool, "lease", [
    lease(3, [7, 6], { until: at(30_000) }),
    lease(1, [2, 1, 3], { until: at(15_000), ms: 20_000 }),
    lease(2, [5], { worker: "w2", lane: "b", until: at(9_000), ms: 20_000 }),
    lease(4, [8], { worker: "w3", lane: "c", until: at(20_005), ms: 10_000 }),
    lease(5, [9], { worker: "w4", lane: "c", until: at(19_995), ms: 20_000 }),
  ]);
  await put(pool, "job", [
    runs(3, 1, -1_000),
    runs(2, 1, -9_000, { progress: 0.5 }),
    runs(1, 1, -5_000),
    runs(5, 2, -30_000),
    runs(7, 3, 0),
    runs(6, 3, -9),
    runs(8, 4, -20_000),
    runs(9, 5, -2_000),
    runs(10, 5, -2_000),
    jobRow(4, "QUEUED"),
  ]);
  for (const [since, most, running] of [
    [-60_000, 100, 100],
    [-59_999, 100, 100],
    [-5, 100, 100],
    [-60_000, 2, 100],
    [-60_000, 3, 100],
    [-60_000, 5, 100],
    [-60_000, 100, 1],
    [-60_000, 100, 2],
    [-60_000, 100, 3],
    [-60_000, 100, 4],
    [-60_000, 100, 5],
    [60_000, 3, 3],
  ] as const)
    await send(world, readWorkers, [start + since, most, running]);
}

/** Groups of the same size, of which one failed last and another has the newest job. */
async function failureGroups(world: World): Promise<void> {
  await withoutIndexes(world);
  const failed = (id: number, kind: string, code: string, ms: number, message: string | null = "went wrong") =>
    jobRow(id, "FAILED", { kind, error_code: code, error_message: message, finished_at: at(ms) });
  await put(world.pool, "job", [
    failed(2, "a", "E_ONE", -1),
    failed(9, "a", "E_ONE", -30),
    failed(5, "a", "E_ONE", -2, "took 7 s"),
    failed(3, "a", "E_ONE", 5, "took 12 s"),
    failed(8, "b", "E_ONE", -8),
    failed(4, "b", "E_ONE", -3),
    failed(7, "b", "E_TWO", -7, null),
    failed(10, "c", "E_TWO", -9, null),
    failed(1, "c", "E_TWO", 10, null),
    failed(6, "c", "E_TWO", -20, null),
    jobRow(11, "CANCELED", { error_code: "E_ONE" }),
    jobRow(12, "RETRY_WAIT", { error_code: "E_ONE" }),
  ]);
  for (const [looked, kind, groups, samples] of [
    [100, null, 100, 100],
    [100, null, 100, 1],
    [100, null, 100, 2],
    [100, null, 1, 100],
    [100, null, 2, 100],
    [100, null, 3, 100],
    [100, null, 4, 100],
    [5, null, 100, 100],
    [4, null, 2, 1],
    [100, "a", 100, 100],
    [100, "b", 1, 1],
  ])
    await send(world, readFailureGroups, [looked, kind, groups, samples]);
}

async function locks(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  await put(
    pool,
    "lock_fence",
    ["d", "b", "a", "c", "e"].map((name, n) => ({ name, token: n + 5, installed_at: at(n) })),
  );
  const lock = (name: string, owner: string | null, ms: number) => ({ name, owner, fence: 1, lease_until: at(ms) });
  await put(pool, "fallback_lock", [
    lock("b", "ada", 1),
    lock("a", "bob", 0),
    lock("c", "eve", -1),
    lock("d", null, 1),
  ]);
  for (const limit of [100, 3]) await send(world, readFences, [limit]);
  await put(
    pool,
    "lane",
    [1, 0, -1].map((ms) => ({
      name: `l${ms + 2}`,
      paused_until: at(ms * minute),
      paused_at: at(-9),
      paused_by: "ada",
      pause_reason: "",
    })),
  );
  await put(pool, "lane", [{ name: "k" }]);
  await change(pool, "insert into belfry.lane (name, paused_until) values ('ever', 'infinity')");
  for (const limit of [100, 3]) await send(world, readLanes, [limit]);
}
