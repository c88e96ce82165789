import { expect, test } from "vitest";
import type { Pool } from "pg";
import { claimOne, failure, insertMany, insertOne, moves, running, settleOne } from "../contract/store/fixture.ts";
import { testDatabase } from "../support/database.ts";

/**
 * What `pg_dump --data-only` and a restore do, in SQL: the binaries of the tests have no pg_dump. Rows of each table as they
 * are, and the sequences after them.
 */
async function copyRows(from: Pool, to: Pool): Promise<void> {
  const { rows: tables } = await from.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'belfry'::regnamespace and relkind in ('r', 'p') and not relispartition
       and relname not in ('migration', 'test_clock', 'epoch')`,
  );
  for (const { name } of tables) {
    const { rows } = await from.query<{ all: string | null }>(`select json_agg(t)::text as all from belfry.${name} t`);
    const [all] = rows;
    if (all?.all == null) continue;
    await to.query(
      `insert into belfry.${name} overriding system value select * from json_populate_recordset(null::belfry.${name}, $1::json)`,
      [all.all],
    );
  }
  const { rows: sequences } = await from.query<{ name: string; last: string | null }>(
    "select sequencename as name, last_value::text as last from pg_sequences where schemaname = 'belfry'",
  );
  for (const { name, last } of sequences) {
    if (last !== null) await to.query("select setval(('belfry.' || $1)::regclass, $2::bigint)", [name, last]);
  }
}

test("rows that are loaded into an empty database write no event, and their jobs go on where they were", async () => {
  const [source, copy] = [await testDatabase({ own: true }), await testDatabase({ own: true })];
  // As in production: the check is a part of test databases only.
  await copy.pool.query("drop trigger job_inserts_verified on belfry.job");
  const [queued] = await insertMany(source.store, [{}, { delayMs: 3_600_000 }]);
  const held = await running(source.store);
  await settleOne(source.store, await claimOne(source.store, await insertOne(source.store)), failure);
  await settleOne(source.store, await running(source.store));
  await copyRows(source.pool, copy.pool);

  const counts = `select (select count(*)::int from belfry.job) as jobs, (select count(*)::int from belfry.event) as events,
    (select count(*)::int from belfry.history) as history, (select count(*)::int from belfry.lease) as leases,
    (select count(*)::int from belfry.outbox) as outbox`;
  const before = (await source.pool.query(counts)).rows;
  expect((await copy.pool.query(counts)).rows).toEqual(before);

  await settleOne(copy.store, await claimOne(copy.store, queued));
  expect((await settleOne(copy.store, held)).settled).toEqual([held.jobId]);
  expect(await moves(copy.store, queued)).toEqual(await moves(copy.store, held.jobId));
  await insertOne(copy.store);
});

test("each day of events and history keeps its lists out of the compressor, and has no index but its parent's", async () => {
  const db = await testDatabase({ own: true });
  await db.store.prune({ limit: 1 });
  const { rows } = await db.pool.query<{ days: number; compressed: number; indexes: number }>(`
    with day as (
      select inhrelid as oid, inhparent as parent from pg_inherits
      where inhparent in ('belfry.event'::regclass, 'belfry.history'::regclass)
    )
    select (select count(*)::int from day) as days,
      (select count(*)::int from day join pg_attribute a on a.attrelid = day.oid
       where a.attname in ('job_ids', 'attempts', 'generations') and a.attndims > 0 and a.attstorage <> 'e') as compressed,
      (select count(*)::int from day
       where (select count(*) from pg_index where indrelid = day.oid) <> (select count(*) from pg_index where indrelid = day.parent))
        as indexes`);
  expect(rows).toMatchObject([{ compressed: 0, indexes: 0 }]);
  expect(rows[0]?.days).toBeGreaterThan(2);
});
