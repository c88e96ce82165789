import { findWaiting } from "../../../../src/adapters/postgres/sql/schedule-control.ts";
import { readRecords } from "../../../../src/adapters/postgres/sql/search.ts";
import { readWaiting } from "../../../../src/adapters/postgres/sql/waiting.ts";
import { operationsLimits } from "../../../../src/core/ports/operations-limits.ts";
import { occurrenceRow, scheduleRow } from "../rows.ts";
import { at, change, jobRow, put, send, withoutIndexes } from "../stage.ts";
import type { Tour, World } from "../tour.ts";

/** Limits of a look that the store sets far above a stage's rows, so that here they are its own. */
export const bounds: Tour = { name: "bounds", parts: [leases, waitingTimes, largePayloads] };

/** Of three leases the job's lane has the one that ends last and the one that ends first. */
async function leases(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  await put(pool, "job", [
    jobRow(1, "QUEUED"),
    jobRow(2, "PENDING"),
    jobRow(3, "SUCCESS"),
    ...[11, 12, 13, 21].map((id) => jobRow(id, "RUNNING", { lease_id: Math.floor(id / 10) })),
    jobRow(31, "RUNNING", { lane: "mail", lease_id: 3 }),
  ]);
  const lease = (id: number, lane: string, untilMs: number, jobs: string) =>
    change(
      pool,
      `insert into belfry.lease (id, worker, lane, ms, until, job_ids) overriding system value
       values (${id}, 'w', '${lane}', 20000, '${at(untilMs)}', '${jobs}')`,
    );
  await lease(1, "default", 1_000, "{11,12,13}");
  await lease(3, "mail", 2_000, "{31}");
  await lease(2, "default", 3_000, "{21}");
  for (const id of [1, 2, 3])
    for (const most of [1, 2, 3, 4]) await send(world, readWaiting, [id, 100, 100, 100, most]);
}

async function waitingTimes(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  await put(pool, "schedule", [scheduleRow("s"), scheduleRow("t"), scheduleRow("u")]);
  await put(pool, "occurrence", [
    ...[-4, -3, 0, 1].map((ms) => occurrenceRow("s", ms, { outcome: "PLANNED", job_id: 100 - ms })),
    occurrenceRow("s", -2, { outcome: "PLANNED" }),
    occurrenceRow("s", -1, { job_id: 90 }),
    occurrenceRow("t", -5, { outcome: "PLANNED", job_id: 80 }),
    occurrenceRow("u", -6, { outcome: "PLANNED", job_id: 70 }),
  ]);
  for (const ids of [["s"], ["s", "t"], ["none"], []])
    for (const limit of [1, 2, 3, 4, null]) await send(world, findWaiting, [ids, limit]);
}

/** Listed jobs whose payload or result has as many bytes as a list shows, one more and one fewer. */
async function largePayloads(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  for (const column of ["payload", "result"])
    await pool.query(`alter table belfry.job alter column ${column} set storage external`);
  // A text has some bytes around it, fewer when it lies outside of its row.
  const lengths = Array.from({ length: 16 }, (_, n) => operationsLimits.listPayloadBytesMax - n);
  const rows = lengths.flatMap((length, n) => [
    jobRow(100 + n, "SUCCESS", { payload: "x".repeat(length) }),
    jobRow(200 + n, "SUCCESS", { result: "x".repeat(length) }),
  ]);
  await put(pool, "job", rows);
  await send(world, readRecords, [rows.map(({ id }) => id)]);
}
