import { parameter } from "../../../../src/adapters/postgres/search-store.ts";
import {
  countMatches,
  findEdgeAbove,
  findEdgeBelow,
  findMatches,
  readRecords,
  searchDue,
  searchKey,
  searchNewest,
  searchOldest,
} from "../../../../src/adapters/postgres/sql/search.ts";
import type { JobSearch } from "../../../../src/core/ports/job-search.ts";
import { at, change, jobRow, put, runRow, send, start, withoutIndexes } from "../stage.ts";
import type { Tour, World } from "../tour.ts";

const top = "9000";

/** Jobs that differ in each field that a search asks for, one of them at each bound. */
export const search: Tour = {
  name: "search",
  alsoWatched: [
    "search-edge-below",
    "search-edge-above",
    "search-newest",
    "search-oldest",
    "search-due",
    "search-key",
    "search-count",
    "search-ids",
  ],
  parts: [searches, pages, keys, afterDue, dueBounds],
};

const jobs = [
  jobRow(1, "PENDING", { kind: "mail", lane: "a", key: "one", payload: { who: "ada", in: { n: 1 } } }),
  jobRow(2, "PENDING", { kind: "post", lane: "a", blocked: true, run_id: 5, payload: { who: "bob" } }),
  jobRow(3, "PENDING", { kind: "mail", lane: "b", hold: "slot", held_on: "cap:a", schedule_id: "s1" }),
  jobRow(4, "RETRY_WAIT", { kind: "mail", lane: "b", error_code: "E_ONE", error_message: "went wrong", worker: "w1" }),
  jobRow(5, "RETRY_WAIT", { kind: "post", lane: "a", hold: "paused", held_on: "lane:a", error_code: "E_TWO" }),
  jobRow(6, "QUEUED", { kind: "mail", lane: "a", key: "two", schedule_id: "s2", payload: { who: "ada" } }),
  jobRow(7, "QUEUED", { kind: "text", lane: "c" }),
  jobRow(8, "RUNNING", { kind: "mail", lane: "a", worker: "w1", run_id: 5 }),
  jobRow(9, "RUNNING", { kind: "post", lane: "b", worker: "w2", key: "one", not_taken: true }),
  jobRow(10, "SUCCESS", { kind: "mail", lane: "a", key: "10-x", worker: "w1", payload: { who: "ada", in: { n: 2 } } }),
  jobRow(11, "SUCCESS", { kind: "post", lane: "b", error_code: "E_ONE", run_id: 6, not_taken: true }),
  jobRow(12, "FAILED", { kind: "mail", lane: "a", error_message: "Went Wrong" }),
  jobRow(13, "FAILED", { kind: "post", lane: "b", error_code: "E_TWO", error_message: "later 12", run_id: 5 }),
  jobRow(14, "FAILED", { kind: "mail", lane: "a", error_code: "E_TWO", error_message: null, not_taken: true }),
  jobRow(15, "CANCELED", { kind: "mail", lane: "a", blocked: true, error_code: "E_ONE", payload: { who: null } }),
  jobRow(16, "CANCELED", { kind: "text", lane: "c", key: "three" }),
  jobRow(17, "SKIPPED", { kind: "mail", lane: "b", blocked: true, schedule_id: "s1", key: "MAIL-17" }),
  jobRow(18, "SUCCESS", { kind: "mail", lane: "a", key: "id 10", payload: { who: "ada" } }),
];

async function stage(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  await put(pool, "lease", [{ id: 1, worker: "w1", lane: "a", ms: 20_000, until: at(20_000), job_ids: "{8,9}" }]);
  await put(pool, "job", shuffled(jobs));
}

/** Not in the order of anything that they are asked for. */
const shuffled = <T>(rows: readonly T[]): readonly T[] =>
  rows
    .map((row, n) => ({ row, place: (n * 7) % rows.length }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ row }) => row);

async function searches(world: World): Promise<void> {
  await stage(world);
  const { rows } = await world.pool.query("select belfry.fingerprint('mail', 'E_ONE', 'Went Wrong') as print");
  const [{ print }] = rows as [{ print: string }];
  const asked: readonly JobSearch[] = [
    {},
    { states: ["PENDING", "RUNNING"] },
    { states: ["SUCCESS", "CANCELED"] },
    { states: ["FAILED"] },
    { states: ["QUEUED", "SUCCESS"], kind: "mail" },
    { kind: "post" },
    { taken: true },
    { kinds: ["mail", "text"] },
    { scheduleId: "s1" },
    { lane: "b" },
    { key: "one" },
    { errorCode: "E_ONE" },
    { worker: "w1" },
    { dueFrom: start + 9 },
    { dueTo: start + 9 },
    { held: true },
    { held: false },
    { fingerprints: [print] },
    { words: ["10"] },
    { words: ["11"] },
    { words: ["wrong", "MAIL"] },
    { words: ["mail", "one"] },
    { words: ["e_two"] },
    { words: ["nothing"] },
    { payload: [{ path: ["who"], value: "ada" }] },
    {
      payload: [
        { path: ["who"], value: "ada" },
        { path: ["in", "n"], value: "2" },
      ],
    },
    { runId: "5" as never },
    { id: "13" as never },
  ] as readonly JobSearch[];
  for (const each of asked) {
    const search = parameter(each);
    await send(world, findMatches, [search, top, "0", 100]);
    await send(world, searchNewest, [search, top, "0", 100]);
    await send(world, findEdgeBelow, [search, top, 1]);
    await send(world, findEdgeAbove, [search, "0", 2]);
    await send(world, searchDue, ["0", "0", 100, 100, 100, search, 100, 100]);
  }
}

/** Each bound lies on a row. */
async function pages(world: World): Promise<void> {
  await stage(world);
  const asks = [{}, { kind: "mail" }, { states: ["FAILED"] }, { states: ["PENDING", "QUEUED"] }, { runId: "5" }];
  for (const search of asks) {
    const asked = parameter(search as JobSearch);
    for (const [below, from, limit] of [
      ["14", "4", 100],
      ["14", "4", 3],
      ["18", "16", 3],
      ["6", "1", 2],
    ] as const) {
      await send(world, searchNewest, [asked, below, from, limit]);
      await send(world, searchOldest, [asked, from, below, limit]);
      await send(world, countMatches, [asked, below, from, limit]);
      await send(world, findMatches, [asked, below, from, limit]);
    }
    for (const edge of ["0", "1", "6", "14", "18", top]) {
      for (const offset of [0, 1]) {
        await send(world, findEdgeBelow, [asked, edge, offset]);
        await send(world, findEdgeAbove, [asked, edge, offset]);
      }
    }
  }
  await send(world, readRecords, [["3", "17", "9", "99"]]);
}

const keyed = (n: number, kind: string, key: string | null) =>
  jobRow(n, n % 3 === 0 ? "FAILED" : "PENDING", {
    kind,
    ...(key === null ? {} : { key }),
    ...(n < 12 ? { run_id: 5 } : {}),
  });

/** The same key in kinds of every place of the alphabet, beside other keys and none. */
async function keys(world: World): Promise<void> {
  await withoutIndexes(world);
  await put(world.pool, "job", [keyed(40, "solo", "same"), keyed(41, "solo", null)]);
  const asked = { key: "same" };
  await send(world, searchKey, [parameter(asked), top, 100]);
  const kinds = ["zeta", "alpha", "gamma", "beta"];
  await put(world.pool, "job", [
    ...kinds.map((kind, n) => keyed(10 + n, kind, "same")),
    ...kinds.map((kind, n) => keyed(20 + n, kind, "other")),
    keyed(30, "delta", null),
    keyed(31, "eta", "single"),
    keyed(32, "zzz", null),
  ]);
  await send(world, searchKey, [parameter(asked), top, 100]);
  await put(world.pool, "job", [keyed(33, "aaa", null)]);
  for (const [search, below, limit] of [
    [asked, top, 100],
    [asked, top, 2],
    [asked, "12", 100],
    [{ key: "same", kind: "beta" }, top, 100],
    [{ key: "same", states: ["FAILED"] }, top, 100],
    [{ key: "same", runId: "5" }, top, 100],
    [{ key: "single" }, top, 100],
    [{ key: "none" }, top, 100],
  ] as const)
    await send(world, searchKey, [parameter(search as JobSearch), below, limit]);
}

const due = (n: number): { due_at: string } => ({ due_at: at(n * 10) });

/** Of what waits, is held, is out and is blocked, with due times that are the same in two of them. */
async function dueStage(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world, ["presorted_aggregate"]);
  await put(pool, "lease", [{ id: 1, worker: "w", lane: "a", ms: 1, until: at(1), job_ids: "{}" }]);
  await put(pool, "run", [
    runRow(1, "RUNNING"),
    runRow(2, "CANCELING"),
    runRow(3, "DONE"),
    runRow(4, "FAILED"),
    runRow(5, "RUNNING"),
  ]);
  const held = (key: string) => ({ hold: key.startsWith("lane") ? "paused" : "slot", held_on: key });
  const sent = (lane: string, n: number) => ({ lane, dispatched_at: at(n) });
  await put(pool, "job", [
    jobRow(1, "PENDING", due(5)),
    jobRow(13, "RETRY_WAIT", due(3)),
    jobRow(8, "PENDING", due(3)),
    jobRow(7, "PENDING", { ...due(3), ...held("cap:a") }),
    jobRow(5, "RETRY_WAIT", { ...due(1), ...held("cap:b") }),
    jobRow(6, "PENDING", { ...due(9), ...held("lane:x") }),
    jobRow(3, "PENDING", { ...due(3), ...held("cap:a") }),
    jobRow(4, "QUEUED", { ...due(3), ...sent("a", 3) }),
    jobRow(9, "QUEUED", { ...due(2), ...sent("a", 1) }),
    jobRow(10, "RUNNING", { ...due(2), ...sent("a", 2) }),
    jobRow(11, "QUEUED", { ...due(0), ...sent("b", 9) }),
    jobRow(12, "QUEUED", { ...due(7), ...sent("c", 4) }),
    jobRow(2, "PENDING", { ...due(3), blocked: true, run_id: 1 }),
    jobRow(14, "PENDING", { ...due(4), blocked: true, run_id: 2 }),
    jobRow(15, "PENDING", { ...due(4), blocked: true, run_id: 3 }),
    jobRow(16, "CANCELED", { ...due(4), blocked: true, run_id: 1 }),
    jobRow(17, "PENDING", { ...due(6), run_id: 1 }),
    jobRow(18, "SUCCESS", { ...due(2), dispatched_at: at(2), lane: "a" }),
    jobRow(19, "FAILED", { ...due(2) }),
    jobRow(20, "PENDING", { ...due(8), blocked: true, run_id: 5 }),
    jobRow(21, "RUNNING", { ...due(8), ...sent("b", 5) }),
    jobRow(22, "SKIPPED", { ...due(8), ...sent("d", 5) }),
    jobRow(25, "PENDING", { ...due(20), blocked: true, run_id: 1 }),
    jobRow(24, "PENDING", { ...due(20), blocked: true, run_id: 1 }),
    jobRow(26, "PENDING", { ...due(30), blocked: true, ...held("cap:z") }),
    jobRow(23, "PENDING", { due_at: new Date(start + 30).toISOString().replace("Z", "400Z") }),
  ]);
}

const first = "-210866803200000000";

async function afterDue(world: World): Promise<void> {
  await dueStage(world);
  const us = (ms: number): string => `${start + ms}000`;
  const all: readonly JobSearch[] = [
    {},
    { states: ["PENDING"] },
    { states: ["RETRY_WAIT"] },
    { states: ["QUEUED"] },
    { states: ["RUNNING"] },
    { states: ["SUCCESS", "FAILED"] },
    { lane: "default" },
  ];
  for (const each of all) {
    for (const [from, id] of [
      [first, "0"],
      [us(30), "3"],
      [us(30), "7"],
      [us(30), "8"],
      [us(20), "9"],
      [us(80), "20"],
      [us(29), "0"],
      [us(150), "0"],
    ]) {
      const asked = parameter(each);
      await send(world, searchDue, [from, id, 100, 100, 100, asked, 100, 100]);
      for (const look of [1, 2, 3, 5]) await send(world, searchDue, [from, id, look, 100, 100, asked, 3, 100]);
    }
  }
}

async function dueBounds(world: World): Promise<void> {
  const { pool } = world;
  await dueStage(world);
  for (const [look, holds, out, wanted, runs] of [
    [100, 1, 100, 100, 100],
    [100, 3, 100, 100, 100],
    [100, 4, 100, 100, 100],
    [100, 5, 100, 100, 100],
    [100, 100, 1, 100, 100],
    [100, 100, 2, 100, 100],
    [100, 100, 3, 100, 100],
    [100, 100, 4, 100, 100],
    [100, 100, 100, 100, 1],
    [100, 100, 100, 100, 2],
    [100, 100, 100, 100, 3],
    [100, 100, 100, 100, 4],
    [2, 100, 100, 100, 100],
    [1, 100, 100, 2, 100],
    [100, 100, 100, 5, 100],
  ])
    await send(world, searchDue, [first, "0", look, holds, out, parameter({}), wanted, runs]);
  await change(pool, "delete from belfry.job where held_on = '' and dispatched_at is null and finished_at is null");
  for (const holds of [3, 4]) await send(world, searchDue, [first, "0", 100, holds, 100, parameter({}), 100, 100]);
  await change(pool, "delete from belfry.job");
  await send(world, searchDue, [first, "0", 2, 2, 2, parameter({}), 2, 2]);
}
