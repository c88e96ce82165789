import { readAudits } from "../../../../src/adapters/postgres/sql/audit.ts";
import {
  advanceBackfill,
  advanceBulk,
  createBulk,
  judgeCanaries,
  readBulks,
  sendCanaries,
  stopBulk,
  takeBulk,
} from "../../../../src/adapters/postgres/sql/bulk.ts";
import { readCellMap, writeCellMap } from "../../../../src/adapters/postgres/sql/cell.ts";
import { readMarks, writeMarks } from "../../../../src/adapters/postgres/sql/secrecy.ts";
import { writeWorker } from "../../../../src/adapters/postgres/sql/worker.ts";
import { heldKeys } from "../../../../src/adapters/postgres/sql/wake.ts";
import { at, change, jobRow, put, send, withoutIndexes } from "../stage.ts";
import type { Tour, World } from "../tour.ts";

/** Bulk actions in each state with each owner, the audit, and the small tables that one row at a time is written of. */
export const steering: Tour = { name: "steering", parts: [created, canaries, taken, advanced, audits, smallTables] };

const bulkRow = (id: number, over: Record<string, unknown> = {}) => ({
  id,
  action: "retry",
  filter: {},
  caller: "ada",
  state: "RUNNING",
  newest: 100,
  next: 50,
  matched: 9,
  is_more: false,
  pace_ms: 0,
  due_at: at(-500),
  canary: "none",
  canaries: "{}",
  changed: 100,
  taken_along: 200,
  refused: 300,
  created_at: at(-9_000),
  updated_at: at(-1_000),
  ...over,
});

async function created(world: World): Promise<void> {
  await withoutIndexes(world);
  const create = (canary: boolean) =>
    send(world, createBulk, ["retry", '{"kind":"mail"}', "ada", 7, canary, 250, canary]);
  await create(false);
  await put(
    world.pool,
    "job",
    [7, 41, 12].map((id) => jobRow(id, "FAILED")),
  );
  await create(true);
  await create(false);
  await put(world.pool, "bulk", [bulkRow(20), bulkRow(10), bulkRow(15, { state: "STOPPED", finished_at: at(-1) })]);
  for (const [id, before, limit] of [
    [null, null, 100],
    [null, "15", 100],
    [null, "20", 2],
    ["15", null, 100],
    ["15", "15", 100],
    ["15", "16", 100],
  ])
    await send(world, readBulks, [id, before, limit]);
}

async function canaries(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  await put(pool, "job", [
    jobRow(1, "SUCCESS"),
    jobRow(2, "SUCCESS"),
    jobRow(3, "FAILED"),
    jobRow(4, "RUNNING"),
    jobRow(5, "CANCELED"),
  ]);
  const out = (id: number, jobs: readonly number[], over: Record<string, unknown> = {}) =>
    bulkRow(id, { canary: "out", canaries: `{${jobs.join(",")}}`, ...over });
  await put(pool, "bulk", [
    out(1, [1, 2]),
    out(2, [1, 3]),
    out(3, [1, 4]),
    out(4, [1, 99]),
    out(5, []),
    out(6, [1], { state: "STOPPED", finished_at: at(-1) }),
    out(7, [2], { canary: "passed" }),
    out(8, [5, 4]),
    out(9, [5]),
  ]);
  await send(world, judgeCanaries);
  await put(
    pool,
    "bulk",
    ["RUNNING", "RUNNING", "STOPPED", "DONE"].map((state, n) =>
      bulkRow(20 + n, { state, owner: "me", canary: "wanted", changed: n, taken_along: n }),
    ),
  );
  for (const [id, owner] of [
    ["20", "me"],
    ["21", "you"],
    ["22", "me"],
    ["23", "me"],
  ])
    await send(world, sendCanaries, [id, owner, ["7", "8"], 5, 6]);
}

/** Each stands before one that anybody may take. */
async function taken(world: World): Promise<void> {
  await withoutIndexes(world);
  const owned = (owner: string, ms: number) => ({ owner, updated_at: at(ms) });
  const paced = (ms: number, dueMs: number) => ({ pace_ms: ms, due_at: at(dueMs) });
  const firsts: readonly Record<string, unknown>[] = [
    {},
    { state: "STOPPED", finished_at: at(-1) },
    { state: "DONE", finished_at: at(-1) },
    { canary: "out" },
    { canary: "wanted" },
    paced(0, 90_000),
    paced(1, 90_000),
    paced(1, 400),
    paced(5, 401),
    paced(5, 399),
    paced(5, -900),
    owned("me", 0),
    owned("you", 0),
    owned("you", -700),
    owned("you", -699),
    owned("you", -701),
    { canary: "out", ...owned("me", -9_000) },
    { ...owned("you", -9_000), ...paced(1, 90_000) },
  ];
  for (const first of firsts) {
    await put(world.pool, "bulk", [bulkRow(9), bulkRow(3, first), bulkRow(12)]);
    await send(world, takeBulk, ["me", 700, 400]);
    await change(world.pool, "delete from belfry.bulk");
  }
}

async function advanced(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  const cases: readonly (readonly [string, string, boolean, Record<string, unknown>])[] = [
    ["1", "me", false, { pace_ms: 200, due_at: at(-50) }],
    ["2", "me", false, { pace_ms: 200, due_at: at(50) }],
    ["3", "me", true, { pace_ms: 0 }],
    ["4", "you", true, {}],
    ["5", "me", true, { state: "STOPPED", finished_at: at(-7) }],
    ["6", "me", false, { finished_at: at(-3) }],
    ["99", "me", true, {}],
  ];
  const stage = () =>
    put(
      pool,
      "bulk",
      cases.slice(0, -1).map(([id, , , over]) => bulkRow(Number(id), { owner: "me", ...over })),
    );
  await stage();
  for (const [id, owner, isLast] of cases) await send(world, advanceBulk, [id, owner, "40", 7, 11, 13, isLast]);
  await change(pool, "delete from belfry.bulk");
  await stage();
  for (const [id, owner, isLast] of cases) await send(world, advanceBackfill, [id, owner, 7, 13, isLast]);
  await change(pool, "delete from belfry.bulk");
  await stage();
  for (const [id] of cases) await send(world, stopBulk, [id]);
}

async function audits(world: World): Promise<void> {
  await withoutIndexes(world);
  const targets = ["/jobs/1", "/jobs", "/jobs/12", "/jobs/1/retry", "/lanes/a", "/jobs/1", "/job", "/jobs/1/cancel"];
  const ids = [7, 2, 5, 8, 1, 3, 6, 4];
  await put(
    world.pool,
    "audit",
    targets.map((target, n) => ({
      id: ids[n],
      at: at(-n),
      caller: "ada",
      action: "POST",
      target,
      status: 200,
      detail: { n },
      trace: "t",
    })),
  );
  for (const [before, limit, target, looked] of [
    [null, 100, null, 100],
    [null, 3, null, 1],
    ["5", 100, null, 100],
    ["5", 2, "/jobs/1", 3],
    [null, 100, "/jobs/1", 100],
    [null, 2, "/jobs/1", 100],
    [null, 100, "/jobs/1", 3],
    [null, 1, "/jobs/1", 6],
    [null, 100, "/jobs", 100],
    [null, 100, "/none", 100],
  ])
    await send(world, readAudits, [before, limit, target, looked]);
}

async function smallTables(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  for (const version of [3, 2, 3, 4]) {
    await send(world, writeCellMap, [version, `{"v":${version},"n":${version * 7}}`]);
    await send(world, readCellMap);
  }
  await send(world, writeCellMap, [4, `{"v":9}`]);
  await send(world, writeMarks, [
    ["pay", "pay", "mail"],
    ['{"properties":{"pin":{"sensitive":true}}}', "{}", "{}"],
  ]);
  await send(world, writeMarks, [["mail"], ['{"sensitive":true}']]);
  await send(world, readMarks);
  await send(world, writeWorker, ["w", "a", "v1", "eu:one"]);
  await send(world, writeWorker, ["w", "b", "v2", "eu:two"]);
  await put(
    pool,
    "job",
    ["cap:a", "cap:b", "cap:c"].map((key, n) => jobRow(n + 1, "PENDING", { hold: "slot", held_on: key })),
  );
  for (const places of [[], [{ step: "resolve", behind: "cap:b" }], [{ step: "wake", behind: "cap:a" }]]) {
    await put(pool, "pass_place", places);
    await send(world, heldKeys, [100]);
  }
}
