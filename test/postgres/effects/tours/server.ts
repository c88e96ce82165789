import {
  carryReaders,
  moveRollUp,
  raiseSequences,
  readEpoch,
  renewEpoch,
} from "../../../../src/adapters/postgres/sql/epoch.ts";
import {
  acquireFallback,
  endIdleHolders,
  raiseFence,
  readPassed,
} from "../../../../src/adapters/postgres/sql/fence.ts";
import { readHealth } from "../../../../src/adapters/postgres/sql/health.ts";
import { readStreamEnd } from "../../../../src/adapters/postgres/sql/stream.ts";
import { transactionStatus } from "../../../../src/adapters/postgres/sql/transaction.ts";
import { at, change, eventRow, put, send, standIns, withoutIndexes, xid } from "../stage.ts";
import type { Tour, World } from "../tour.ts";

/** Another server, another timeline, copied rows; sessions that hold a fence, old transactions, lost ones. */
export const server: Tour = {
  name: "server",
  alsoWatched: ["epoch"],
  parts: [epochs, copied, sequences, holders, fences, oldest, endOfStream, lostTransactions],
};

const here = "belfry.server()";
const otherTimeline = "split_part(belfry.server(), '/', 1) || '/99'";
const elsewhere = "'7/' || split_part(belfry.server(), '/', 2)";

/** An older epoch stands beside the newest one, on another server. */
async function newest(world: World, on: string, older = "'1/1'"): Promise<void> {
  await change(
    world.pool,
    `delete from belfry.epoch; insert into belfry.epoch (number, name, server, first_event_id, began_at) values
     (4, '0badcafe', ${on}, 30, '${at(-5)}'), (2, '0badcaff', ${older}, 10, '${at(-50)}'), (3, '0badcaf0', ${older}, 20, '${at(-40)}')`,
  );
}

async function epochs(world: World): Promise<void> {
  await withoutIndexes(world);
  await put(world.pool, "event", [eventRow(40, "PENDING", [1]), eventRow(35, "PENDING", [1])]);
  for (const [on, older] of [
    [here, "'1/1'"],
    [otherTimeline, here],
    [elsewhere, here],
    ["'9/9'", otherTimeline],
  ] as const) {
    for (const isRestored of [false, true]) {
      await newest(world, on, older);
      await send(world, readEpoch);
      await send(world, renewEpoch, [isRestored]);
      await send(world, readEpoch);
    }
  }
  await put(
    world.pool,
    "reader",
    ["old~rest", "older~rest", "xold~rest", "old", "other~rest"].map((upto, n) => ({
      name: `r${n}`,
      upto,
      version: n,
    })),
  );
  await send(world, carryReaders, ["old", xid(1)]);
  await put(world.pool, "reader", [{ name: "roll-up", upto: "1" }]);
  await send(world, moveRollUp);
}

/** Rows of another server, with sequences that came along, lie behind by one, or have no event before them. */
async function copied(world: World): Promise<void> {
  await withoutIndexes(world);
  const moved = async (next: number): Promise<void> => {
    await newest(world, elsewhere);
    await change(world.pool, `select setval('belfry.event_id_seq', ${next}, false)`);
    await send(world, renewEpoch, [false]);
  };
  await moved(1);
  await put(world.pool, "event", [{ ...eventRow(40, "PENDING", [1]), xid: xid(8) }, eventRow(35, "PENDING", [1])]);
  for (const next of [39, 40, 41]) await moved(next);
}

/** Each table's sequence behind its column, at it, and ahead; the sequence of a table that is not Belfry's cannot be raised. */
async function sequences(world: World): Promise<void> {
  const { pool } = world;
  await put(pool, "audit", [auditRow(3), auditRow(70)]);
  await put(pool, "outbox", [outboxRow(5)]);
  await put(pool, "quarantine", [{ id: 9, at: at(0), lane: "a", body: "" }]);
  await put(pool, "event", [eventRow(80, "PENDING", [1])]);
  await put(pool, "history", [{ id: 60, job_id: 1, at: at(0), to_state: "PENDING", attempt: 0, generation: 0 }]);
  await change(pool, "select setval('belfry.outbox_id_seq', 5, false), setval('belfry.quarantine_id_seq', 50)");
  await pool.query("create table public.elsewhere (id bigint generated always as identity (maxvalue 5))");
  await pool.query("insert into public.elsewhere overriding system value values (10)");
  await send(world, raiseSequences);
  await send(world, raiseSequences);
}

const auditRow = (id: number) => ({
  id,
  at: at(0),
  caller: "ada",
  action: "POST",
  target: "/",
  status: 200,
  detail: {},
  trace: "t",
});
const outboxRow = (id: number) => ({ id, at: at(0), lane: "a", job_ids: "{1}", generations: "{0}" });

const clockStands =
  "create function told.clock_timestamp() returns timestamptz language sql return '2026-02-28T23:00:00Z'::timestamptz";

/** One session that is ended, and one beside it for each thing that spares a session. */
async function holders(world: World): Promise<void> {
  await standIns(world, [
    clockStands,
    "create function told.pg_backend_pid() returns int language sql return 1",
    "create function told.pg_terminate_backend(int) returns text language sql return 'ended ' || $1",
    "create table told.pg_locks (pid int, locktype text, granted bool, database oid, objsubid int, classid oid, objid oid)",
    "create table told.pg_stat_activity (pid int, state text, state_change timestamptz)",
    `insert into told.pg_locks select n, 'advisory', true, (select oid from pg_database where datname = current_database()), 1,
       ((key >> 32) & 4294967295)::oid, (key & 4294967295)::oid
     from generate_series(1, 20) n cross join (select hashtextextended('belfry.fence:relay', 0) as key) k`,
    `insert into told.pg_stat_activity select n, 'idle in transaction', timestamptz '${at(-501)}' from generate_series(1, 20) n`,
    "update told.pg_locks set locktype = 'tuple' where pid = 2",
    "update told.pg_locks set granted = false where pid = 3",
    "update told.pg_locks set database = (select oid from pg_database where datname = 'template1') where pid = 4",
    "update told.pg_locks set objsubid = 2 where pid = 5",
    "update told.pg_locks set classid = classid::bigint + 1 where pid = 6",
    "update told.pg_locks set objid = objid::bigint + 1 where pid = 7",
    "update told.pg_stat_activity set state = 'active' where pid = 8",
    "update told.pg_stat_activity set state = 'idle in transaction (aborted)' where pid = 9",
    `update told.pg_stat_activity set state_change = '${at(-500)}' where pid = 10`,
    `update told.pg_stat_activity set state_change = '${at(-499)}' where pid = 11`,
    "delete from told.pg_stat_activity where pid = 12",
    "delete from told.pg_locks where pid = 13",
    "delete from told.pg_locks where pid > 14",
  ]);
  await send(world, endIdleHolders, ["relay", 500]);
  await send(world, endIdleHolders, ["other", 500]);
  await change(world.pool, "delete from told.pg_locks where pid > 1");
  await send(world, endIdleHolders, ["relay", 500]);
}

async function fences(world: World): Promise<void> {
  const { pool } = world;
  await put(pool, "lock_fence", [
    { name: "now", token: 7, installed_at: at(-9), passed_at: at(0) },
    { name: "before", token: 3, installed_at: at(-9), passed_at: at(-2) },
    { name: "ahead", token: 3, installed_at: at(-9), passed_at: at(2) },
    { name: "never", token: 3, installed_at: at(-9) },
  ]);
  for (const name of ["now", "before", "ahead", "never", "none"]) {
    await send(world, readPassed, [name]);
    await send(world, acquireFallback, [name, "ada", 500]);
    await send(world, acquireFallback, [name, "bob", 500]);
    await send(world, acquireFallback, [name, "ada", 700]);
    for (const token of [3, 2, 8]) await send(world, raiseFence, [name, token]);
    await send(world, acquireFallback, [name, "ada", 900]);
  }
}

async function oldest(world: World): Promise<void> {
  await standIns(world, [
    clockStands,
    "create function told.pg_backend_pid() returns int language sql return 1",
    "create table told.pg_stat_user_tables (schemaname text, n_live_tup bigint, n_dead_tup bigint)",
    "create table told.pg_stat_activity (pid int, datname text, xact_start timestamptz, backend_xmin xid)",
    `insert into told.pg_stat_user_tables values ('belfry', 30, 10), ('belfry', 95, 5), ('belfry', 1, 4), ('public', 0, 9)`,
    `insert into told.pg_stat_activity values (1, current_database(), '${at(-90_000)}', '5'), (2, 'other', '${at(-80_000)}', '5'),
       (3, current_database(), '${at(-70_000)}', null), (4, current_database(), '${at(-4_000)}', '5'), (5, current_database(), '${at(-3_000)}', '5')`,
  ]);
  for (const dead of [4, 5, 6, 10, 11]) await send(world, readHealth, [1, 1, dead, 1]);
}

/** Transactions began after the snapshot. */
async function endOfStream(world: World): Promise<void> {
  await standIns(world, [
    `create function told.pg_current_snapshot() returns pg_snapshot language sql return '${xid(10)}:${xid(20)}:'::pg_snapshot`,
    "create function told.age(xid) returns int language sql return 5",
  ]);
  await send(world, readStreamEnd);
}

async function lostTransactions(world: World): Promise<void> {
  const begun = at(0);
  await standIns(world, [
    "create table told.pg_stat_wal (stats_reset timestamptz)",
    `insert into told.pg_stat_wal values ('${begun}')`,
    "create function told.inet_server_addr() returns text language sql return 'here'",
    "create function told.inet_server_port() returns text language sql return '5432'",
    "create function told.pg_postmaster_start_time() returns text language sql return 'today'",
  ]);
  const { rows } = await world.pool.query("select pg_current_xact_id()::text as xid");
  const [{ xid: ended }] = rows as [{ xid: string }];
  for (const where of ["here 5432 today", "there 5432 today"]) {
    for (const ms of [-1, 0, 1]) await send(world, transactionStatus, [ended, at(ms), where]);
  }
}
