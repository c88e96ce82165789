import { archiveLag } from "../../../../src/adapters/postgres/sql/archive-day.ts";
import { minute } from "../../../contract/store/fixture.ts";
import { occurrenceRow, scheduleRow } from "../rows.ts";
import { at, change, jobRow, put, runRow, send, withoutIndexes } from "../stage.ts";
import type { Tour, World } from "../tour.ts";

/** How long the first row past its retention waits: of each part that the archive has, with nothing past it and with much. */
export const archiveLags: Tour = { name: "archive-lags", parts: [ofRows, ofDays] };

const hour = 60 * minute;
const day = 24 * hour;
const auditMs = 400 * day;

async function lags(world: World, retentions: readonly number[]): Promise<void> {
  for (const retention of retentions) await send(world, archiveLag, [retention]);
}

const parts = (world: World, names: readonly string[]): Promise<void> =>
  put(
    world.pool,
    "archive",
    names.map((part) => ({ part })),
  );

async function ofRows(world: World): Promise<void> {
  const { pool } = world;
  await withoutIndexes(world);
  await parts(world, ["runs", "audit", "occurrences", "jobs"]);
  await lags(world, [hour]);
  const ended = (id: number, retention: number, ms: number, over = {}) =>
    jobRow(id, "SUCCESS", { retention_ms: retention, finished_at: at(ms), ...over });
  await put(pool, "job", [
    ended(1, 10_000, -10_300),
    ended(2, 10_000, -10_700),
    ended(3, hour, -hour - 900),
    ended(4, hour, -hour - 500),
    ended(5, 2 * hour, -hour),
    ended(6, 10_000, -2 * hour, { run_id: 1 }),
  ]);
  const run = (id: number, retention: number, ms: number) =>
    runRow(id, "DONE", { retention_ms: retention, finished_at: at(ms) });
  await put(pool, "run", [
    run(1, 10_000, -10_400),
    run(2, 10_000, -10_600),
    run(3, hour, -hour - 1_100),
    run(4, 2 * hour, -hour),
  ]);
  await put(pool, "schedule", [scheduleRow("s")]);
  await put(pool, "occurrence", [
    occurrenceRow("s", -hour - 200, { outcome: "PLANNED" }),
    occurrenceRow("s", -hour - 100, { decided_at: at(-hour - 800) }),
    occurrenceRow("s", -hour - 300),
  ]);
  const asked = { caller: "ada", action: "POST /jobs", target: "/jobs", status: 201, detail: {}, trace: "t" };
  const audited = (id: number, ms: number) => ({ id, at: at(ms), ...asked });
  await put(pool, "audit", [audited(2, -auditMs - 50), audited(1, -auditMs - 77), audited(3, -auditMs - 90)]);
  await lags(world, [hour, hour + 799, hour + 800, 2 * hour, 0]);
}

/** Days of events that are older than those of histories, and one that ends when its retention does. */
async function ofDays(world: World): Promise<void> {
  const { pool } = world;
  const { rows } = await pool.query(
    "select inhrelid::regclass::text as name from pg_inherits where inhrelid::regclass::text ~ '_[0-9]{8}$'",
  );
  // Those of the day on which the test runs.
  for (const { name } of rows as { name: string }[]) await change(pool, `drop table ${name}`);
  await parts(world, ["events", "history"]);
  await lags(world, [hour]);
  const dayOf = (table: string, first: number): Promise<void> => {
    const [from, to] = [first, first + day].map((ms) => at(ms));
    const name = `belfry.${table}_${(from ?? "").slice(0, 10).replaceAll("-", "")}`;
    return change(pool, `create table ${name} partition of belfry.${table} for values from ('${from}') to ('${to}')`);
  };
  const today = -23 * hour;
  for (const ago of [2, 4, 3]) await dayOf("event", today - ago * day);
  for (const ago of [1, 3]) await dayOf("history", today - ago * day);
  await lags(world, [0, hour, day - hour, 2 * day - hour - 1, 2 * day - hour, 2 * day, 5 * day]);
}
