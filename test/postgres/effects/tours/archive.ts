import {
  archiveAudit,
  archiveJobs,
  archiveOccurrences,
  type ArchiveRow,
  archiveRuns,
  leaveAudit,
  leaveJobs,
  leaveOccurrences,
  leaveRuns,
  readInUtc,
} from "../../../../src/adapters/postgres/sql/archive.ts";
import type { Statement } from "../../../../src/adapters/postgres/statement.ts";
import { minute } from "../../../contract/store/fixture.ts";
import { at, change, jobRow, put, runRow, send, withoutIndexes } from "../stage.ts";
import type { Tour, World } from "../tour.ts";

/** What is past its retention and what is not, by a millisecond, on several days, beside what must stay. */
export const archive: Tour = { name: "archive", parts: [jobs, runs, occurrences, audit] };

const hour = 60 * minute;
const day = 24 * hour;
const much = 100_000;

/** With bytes that end before, at and behind the end of each line. */
async function fitted(
  world: World,
  statement: Statement<ArchiveRow>,
  [rows, ...more]: readonly number[],
): Promise<readonly ArchiveRow[]> {
  const whole = await send(world, statement, [rows, much, ...more]);
  let bytes = 0;
  for (const { line } of whole) {
    bytes += Buffer.byteLength(line);
    for (const limit of [bytes, bytes + 1]) await send(world, statement, [rows, limit, ...more]);
  }
  return whole;
}

async function versions(world: World, table: string, place = "id::text"): Promise<ReadonlyMap<string, string>> {
  const { rows } = await world.pool.query(`select ${place} as place, xmin::text as version from belfry.${table}`);
  return new Map((rows as { place: string; version: string }[]).map(({ place: of, version }) => [of, version]));
}

/** The places with their versions, but of the last one a wrong version. */
const named = (all: ReadonlyMap<string, string>, places: readonly string[]): [string[], string[]] => [
  [...places],
  places.map((place, n) => (n === places.length - 1 ? "1" : (all.get(place) ?? "0"))),
];

const retained = (ms: number, finishedMs: number, over = {}) => ({
  retention_ms: ms,
  finished_at: at(finishedMs),
  created_at: at(finishedMs - 5_000),
  ...over,
});

const historyRow = (id: number, job: number, ms: number) => ({
  id,
  job_id: job,
  at: at(ms),
  to_state: "PENDING",
  attempt: 0,
  generation: 0,
});

async function jobs(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  await put(pool, "job", [
    jobRow(9, "SUCCESS", retained(10_000, -10_001, { payload: { name: "Ä" } })),
    jobRow(2, "SUCCESS", retained(10_000, -10_000)),
    jobRow(3, "FAILED", retained(10_000, -9_999)),
    jobRow(4, "CANCELED", retained(10_000, -2 * hour)),
    jobRow(1, "SKIPPED", retained(hour, -hour - 1)),
    jobRow(6, "SUCCESS", retained(hour, -day)),
    jobRow(7, "SUCCESS", retained(hour, -day - 1, { run_id: 1 })),
    jobRow(5, "SUCCESS", retained(hour, -day - hour)),
    jobRow(8, "SUCCESS", retained(10_000, -3 * hour)),
    jobRow(10, "SUCCESS", retained(2 * hour, -day - 9)),
    jobRow(11, "PENDING", { retention_ms: 10_000, due_at: at(-day) }),
    jobRow(12, "SUCCESS", retained(10_000, -4 * hour)),
    jobRow(13, "SUCCESS", retained(2 * hour, -23 * hour)),
    jobRow(14, "SUCCESS", retained(2 * hour, -23 * hour - 1)),
  ]);
  await put(pool, "run", [runRow(1, "RUNNING", { starter_id: 8 }), runRow(2, "DONE", { starter_id: 4 })]);
  await put(pool, "edge", [
    { from_id: 7, to_id: 5, run_id: 1 },
    { from_id: 3, to_id: 5, run_id: 1 },
    { from_id: 5, to_id: 6, run_id: 1 },
  ]);
  const [created, finished] = [-day - hour - 5_000, -day - hour];
  await put(
    pool,
    "history",
    [
      [9, 5, created - hour],
      [3, 5, created - hour - 1],
      [4, 5, finished + hour],
      [2, 5, finished + hour + 1],
      [1, 5, finished],
      [6, 6, finished],
    ].map(([id = 0, job = 0, ms = 0]) => historyRow(id, job, ms)),
  );
  await send(world, readInUtc);
  for (const rows of [1, 4, 6, 7, 8, 9, 10, 12, 13, 100]) {
    for (const wait of [0, 9 * minute, 22 * hour, day - hour, 2 * day])
      await send(world, archiveJobs, [rows, much, wait]);
  }
  for (const wait of [hour - 1, hour, hour + 1, 1, day]) await send(world, archiveJobs, [100, much, wait]);
  for (const rows of [3, 8]) await fitted(world, archiveJobs, [rows, 2 * day]);
  await fitted(world, archiveJobs, [100, 0]);
  await change(pool, "delete from belfry.job where id in (5, 6, 10)");
  await send(world, archiveJobs, [100, much, 0]);
  const known = await versions(world, "job");
  await send(world, leaveJobs, named(known, ["9", "7", "8", "11", "99", "4", "2", "1"]));
}

const member = (id: number, run: number) => jobRow(id, "SUCCESS", { run_id: run, kind: `task-${id}`, retention_ms: 1 });
const endedRun = (id: number, ms: number, finishedMs: number, over = {}) =>
  runRow(id, "DONE", { retention_ms: ms, finished_at: at(finishedMs), created_at: at(finishedMs - 1), ...over });

async function runs(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  await put(pool, "run", [
    endedRun(7, 10_000, -10_001, { starter_id: 77 }),
    endedRun(2, 10_000, -10_000),
    endedRun(3, hour, -day, { parent_id: 7 }),
    endedRun(4, hour, -day - 7),
    runRow(5, "RUNNING", { retention_ms: 10_000, created_at: at(-day) }),
    endedRun(6, 10_000, -2 * hour),
    endedRun(1, hour, -day - 3),
    endedRun(8, 2 * hour, -23 * hour),
    endedRun(9, 2 * hour, -23 * hour - 1),
  ]);
  await put(pool, "job", [
    ...[24, 21, 23].map((id) => member(id, 4)),
    ...[12, 11].map((id) => member(id, 3)),
    ...[35, 36].map((id) => member(id, 7)),
    member(41, 2),
    member(42, 5),
    member(10, 1),
    jobRow(50, "SUCCESS"),
    jobRow(51, "QUEUED", { run_id: 6 }),
  ]);
  await put(pool, "edge", [
    { from_id: 21, to_id: 23, run_id: 4 },
    { from_id: 24, to_id: 23, run_id: 4 },
    { from_id: 23, to_id: 51, run_id: 4 },
  ]);
  for (const rows of [1, 2, 3, 5, 6, 7, 100]) {
    for (const most of [1, 2, 3, 4, 5, 6, 7, 100]) await send(world, archiveRuns, [rows, much, 2 * day, most]);
    for (const wait of [0, 9 * minute, 22 * hour, 23 * hour, 23 * hour + 1, day]) {
      await send(world, archiveRuns, [rows, much, wait, 100]);
    }
  }
  await fitted(world, archiveRuns, [100, 0, 100]);
  await fitted(world, archiveRuns, [4, 2 * day, 6]);
  await change(pool, "update belfry.run set trace = 'later' where id = 9");
  const [ofJobs, ofRuns] = [await versions(world, "job"), await versions(world, "run")];
  const later = ofRuns.get("9");
  await send(world, leaveRuns, [[], [], ["8", "9"], [later, later]]);
  const leave = (jobIds: readonly string[], runIds: readonly string[]) =>
    send(world, leaveRuns, [...named(ofJobs, jobIds), ...named(ofRuns, runIds)]);
  await leave(["21", "12", "11", "41", "42", "50", "99", "24"], ["3", "4", "5", "7", "8", "2"]);
  await leave(["23", "24", "35", "36", "42"], ["4", "7", "9", "5", "6"]);
  const single = ofJobs.get("10");
  await send(world, leaveRuns, [["10"], [single], [], []]);
  await send(world, leaveRuns, [["10"], [single], ["1"], [ofRuns.get("1")]]);
}

const occurrenceRow = (n: number, decidedMs: number, nominalMs: number, over = {}) => ({
  schedule_id: "s",
  local_time: `2026-01-01T00:00:${String(n).padStart(2, "0")}`,
  fold: 0,
  timezone: "UTC",
  nominal_at: at(nominalMs),
  outcome: "FIRED",
  schedule_version: 1,
  planned_at: at(decidedMs),
  decided_at: at(decidedMs),
  ...over,
});

async function occurrences(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  const keep = hour;
  await put(pool, "job", [jobRow(1, "SUCCESS"), jobRow(2, "QUEUED")]);
  await put(
    pool,
    "schedule",
    ["s", "t"].map((id) => scheduleRow(id)),
  );
  const same = -day - 50;
  await put(pool, "occurrence", [
    occurrenceRow(1, -keep - 1, -keep - 2, { job_id: 1 }),
    occurrenceRow(2, -keep, -keep - 3),
    occurrenceRow(3, -keep - 9, -keep),
    occurrenceRow(4, -keep - 8, -keep - 1, { job_id: 2 }),
    occurrenceRow(5, -keep - 7, -keep - 4, { job_id: 99 }),
    occurrenceRow(6, -day, -keep - 5),
    occurrenceRow(7, -day - 5, -day - 40, { schedule_id: "t" }),
    occurrenceRow(8, -day - 5, -day - 40),
    occurrenceRow(9, -day - 10, same, { outcome: "COALESCED", local_time: "x", timezone: "UTC" }),
    occurrenceRow(9, -day - 9, same, { outcome: "COALESCED", local_time: "x", timezone: "Asia/Seoul" }),
    occurrenceRow(9, -day - 11, same, { outcome: "COALESCED", local_time: "x", fold: 1 }),
    occurrenceRow(9, -day - 12, same, { outcome: "COALESCED", local_time: "a", fold: 1 }),
    occurrenceRow(11, -keep - 3, -keep - 90_000, { reason: "Ä" }),
    occurrenceRow(12, -keep - 3, -keep - 90_001),
    { ...occurrenceRow(10, 0, -day - 90), outcome: "PLANNED", decided_at: null, planned_at: at(-day) },
    occurrenceRow(13, -23 * hour, -keep - 9),
    occurrenceRow(14, -23 * hour - 1, -keep - 8),
  ]);
  for (const rows of [1, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14, 100]) {
    for (const wait of [0, 1, 2, 22 * hour, 23 * hour + 30, day, 2 * day])
      await send(world, archiveOccurrences, [rows, much, wait, keep]);
  }
  await fitted(world, archiveOccurrences, [100, 0, keep]);
  await fitted(world, archiveOccurrences, [10, 2 * day, keep]);
  await change(pool, `delete from belfry.occurrence where decided_at < '${at(-23 * hour)}'`);
  await send(world, archiveOccurrences, [100, much, 0, keep]);
  const known = await versions(world, "occurrence", "ctid::text");
  await send(world, leaveOccurrences, named(known, [...known.keys()]));
}

const scheduleRow = (id: string) => ({
  id,
  app: "a",
  version: 1,
  source: "code",
  spec: {},
  enabled: true,
  decided_until: at(0),
  ledger_from: at(-9 * day),
  created_at: at(-9 * day),
  updated_at: at(-9 * day),
});

const auditRow = (id: number, ms: number) => ({
  id,
  at: at(ms),
  caller: id % 2 === 0 ? "ada" : "Änne",
  action: "POST /jobs",
  target: "/jobs",
  status: 201,
  detail: {},
  trace: "t",
});

async function audit(world: World): Promise<void> {
  await withoutIndexes(world);
  const keep = 400 * day;
  await put(world.pool, "audit", [
    auditRow(6, -keep - 1),
    auditRow(2, -keep),
    auditRow(3, -keep - 23 * hour),
    auditRow(7, -keep - 23 * hour - 1),
    auditRow(4, -keep - day),
    auditRow(5, -keep - day - 1),
    auditRow(1, -keep - 8),
    auditRow(8, -keep - 23 * hour - 2),
    auditRow(9, -1),
  ]);
  for (const rows of [1, 2, 3, 5, 6, 7, 8, 9, 100]) {
    for (const wait of [0, 1, 2, 7, 8, 23 * hour + 1, 23 * hour + 2, day, day + 1, 2 * day])
      await send(world, archiveAudit, [rows, much, wait]);
  }
  await fitted(world, archiveAudit, [100, 0]);
  await fitted(world, archiveAudit, [5, 2 * day]);
  await send(world, leaveAudit, [["1", "2", "9", "99", "7"]]);
}
