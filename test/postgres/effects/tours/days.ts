import {
  archiveBehind,
  archiveCount,
  archiveEvents,
  archiveFailed,
  archiveForward,
  archiveHistories,
  archiveRestOfEvents,
  archiveRestOfHistories,
  leaveRestOfEvents,
  leaveRestOfHistories,
  readArchive,
} from "../../../../src/adapters/postgres/sql/archive-day.ts";
import type { ArchiveRow } from "../../../../src/adapters/postgres/sql/archive.ts";
import { minute } from "../../../contract/store/fixture.ts";
import { at, eventRow, jobRow, put, send, start, withoutIndexes } from "../stage.ts";
import type { Tour, World } from "../tour.ts";

/** Events and histories of a day, from its first moment to its last, and of the days beside it; and the books of the archive. */
export const days: Tour = { name: "days", parts: [wholeDays, rest, books] };

const hour = 60 * minute;
/** The clock stands at 23:00 UTC. */
const today = -23 * hour;
const moments = [today - 1, today, today + 1, today + hour, hour - 1, hour, hour + 1];
const much = 100_000;

const historyRow = (id: number, job: number, ms: number) => ({
  id,
  job_id: job,
  at: at(ms),
  from_state: "QUEUED",
  to_state: "PENDING",
  attempt: 0,
  generation: 0,
  reason: id % 2 === 0 ? "Ä" : "lane",
});

async function stage(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  await put(pool, "job", [jobRow(2, "QUEUED", { kind: "a" }), jobRow(3, "SUCCESS", { kind: "b" })]);
  const order = [4, 1, 6, 3, 0, 5, 2];
  await put(
    pool,
    "event",
    order.map((n) => eventRow(10 + n, "PENDING", [n, 2], { ms: moments[n] ?? 0, over: { reason: n % 2 ? "Ä" : "a" } })),
  );
  await put(
    pool,
    "history",
    order.flatMap((n) => [
      historyRow(20 + n, 3, moments[n] ?? 0),
      historyRow(30 - n, 2 + 2 * (n % 2), moments[n] ?? 0),
    ]),
  );
}

async function wholeDays(world: World): Promise<void> {
  await stage(world);
  const upto = async (page: (rows: number, bytes: number) => Promise<readonly ArchiveRow[]>): Promise<void> => {
    const whole = await page(100, much);
    let bytes = 0;
    for (const { line } of whole) {
      bytes += Buffer.byteLength(line);
      for (const limit of [bytes, bytes + 1]) await page(100, limit);
    }
    for (const rows of [1, 2, 3]) await page(rows, much);
  };
  for (const begin of [today, today - 24 * hour, hour, 25 * hour].map((ms) => start + ms)) {
    for (const after of ["0", "11", "12", "15"]) {
      await upto((rows, bytes) => send(world, archiveEvents, [rows, bytes, begin, after]));
    }
    for (const [job, id] of [
      ["0", "0"],
      ["2", "26"],
      ["2", "28"],
      ["3", "22"],
      ["3", "25"],
      ["9", "0"],
    ])
      await upto((rows, bytes) => send(world, archiveHistories, [rows, bytes, begin, job, id]));
  }
}

async function rest(world: World): Promise<void> {
  await stage(world);
  for (const retention of [-hour - 1, -hour, 0, 22 * hour, 23 * hour - 1, 23 * hour, 23 * hour + 1]) {
    for (const rows of [1, 2, 3, 4, 5, 6, 7, 9, 100]) {
      await send(world, archiveRestOfEvents, [rows, much, retention]);
      await send(world, archiveRestOfHistories, [rows, much, retention]);
    }
  }
  for (const bytes of [1, 200, 201, 500, 700, 1_000]) {
    await send(world, archiveRestOfEvents, [100, bytes, -2 * hour]);
    await send(world, archiveRestOfHistories, [100, bytes, -2 * hour]);
  }
  for (const [table, leave] of [
    ["event_rest", leaveRestOfEvents],
    ["history_rest", leaveRestOfHistories],
  ] as const) {
    const { rows } = await world.pool.query(
      `select ctid::text as place, xmin::text as version from belfry.${table} order by id limit 3`,
    );
    const read = rows as { place: string; version: string }[];
    await send(world, leave, [read.map(({ place }) => place), read.map(({ version }, n) => (n === 1 ? "1" : version))]);
  }
}

async function books(world: World): Promise<void> {
  const { clock } = world;
  const count = (part: string, of: readonly [number, number, number, number]) =>
    send(world, archiveCount, [part, ...of]);
  await send(world, archiveFailed, ["jobs", "NoSuchBucket"]);
  await clock.advance(1_000);
  await send(world, archiveFailed, ["jobs", "AccessDenied"]);
  await send(world, archiveForward, ["events", "", "20260201 1"]);
  await send(world, archiveForward, ["events", "20260201 0", "20260201 2"]);
  await send(world, archiveForward, ["events", "20260201 1", "20260201 3"]);
  await send(world, archiveFailed, ["events", "NoSuchBucket"]);
  for (const part of ["events", "jobs", "runs"]) {
    await send(world, archiveBehind, [part]);
    await count(part, [1, 20, 300, start + 9]);
    await count(part, [2, 30, 400, start + 5]);
    await count(part, [3, 40, 500, start + 19]);
    await send(world, archiveFailed, [part, "SlowDown"]);
    await send(world, readArchive);
  }
}
