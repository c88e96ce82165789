import { countRemoved } from "../../../../src/adapters/postgres/sql/control.ts";
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
  const removed = (id: string) => scheduleRow(id, { canceled_below: 2, next_at: null });
  await put(pool, "schedule", [removed("s"), removed("t"), scheduleRow("u")]);
  const planned = (id: string, jobId: number | null, version = 1) =>
    occurrenceRow(id, -(jobId ?? 0), { outcome: "PLANNED", job_id: jobId, schedule_version: version });
  await put(pool, "occurrence", [
    ...[101, 102, 103, 104, 105].map((jobId) => planned("s", jobId)),
    planned("s", null),
    planned("s", 106, 2),
    planned("t", 107),
    planned("u", 108),
    occurrenceRow("s", -109, { job_id: 109 }),
  ]);
  await put(pool, "job", [
    ...[101, 102, 103, 104, 106, 107, 108, 109].map((id) => jobRow(id, "PENDING", { schedule_id: "s" })),
    jobRow(105, "CANCELED", { schedule_id: "s" }),
  ]);
  for (const id of [null, "s", "t", "u", "none"])
    for (const limit of [1, 3, 4, 5, 6]) await send(world, countRemoved, [id, limit]);
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
