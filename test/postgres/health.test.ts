import { expect, onTestFinished, test } from "vitest";
import { readHealth } from "../../src/insight/health.ts";
import { oneRow } from "../../src/insight/sql-query.ts";
import { testDatabase } from "../support/database.ts";
import { eachTest } from "../support/each-test.ts";

const db = eachTest(() => testDatabase());

test("an occurrence is overdue when its time is past for longer than asked and nothing was decided", async () => {
  await db.pool.query(`
    insert into belfry.schedule (id, app, version, source, spec, enabled, decided_until, ledger_from, created_at, updated_at)
      values ('s', 'a', 1, 'code', '{}', true, belfry.now(), belfry.now(), belfry.now(), belfry.now());
    insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, outcome, schedule_version, planned_at, decided_at)
      select 's', n::text, 0, 'UTC', belfry.now() - n * interval '1 minute', o::belfry.occurrence_outcome, 1, belfry.now(),
        case o when 'PLANNED' then null else belfry.now() end
      from (values (1, 'PLANNED'), (11, 'PLANNED'), (12, 'FIRED'), (13, 'PLANNED')) t (n, o)`);
  const { overdue } = await oneRow(db.insight, readHealth, 600_000);
  expect(overdue).toBe(2);
});

test("a clock that stepped back shows how far it stands behind the newest decision", async () => {
  expect((await oneRow(db.insight, readHealth, 1)).clockBehindMs).toBe(0);
  await db.pool.query(`
    insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, outcome, schedule_version, planned_at, decided_at)
      values ('s', 'a', 0, 'UTC', belfry.now(), 'FIRED', 1, belfry.now(), belfry.now())`);
  expect((await oneRow(db.insight, readHealth, 1)).clockBehindMs).toBe(0);
  await db.clock.advance(-60_000);
  expect((await oneRow(db.insight, readHealth, 1)).clockBehindMs).toBeGreaterThan(50_000);
});

test("an open transaction shows its age, and goes with it", async () => {
  const client = await db.pool.connect();
  onTestFinished(() => client.release());
  await client.query("begin isolation level repeatable read");
  await client.query("select 1");
  expect((await oneRow(db.insight, readHealth, 1)).oldestTransactionMs).toBeGreaterThan(0);
  await client.query("rollback");
  expect((await oneRow(db.insight, readHealth, 1)).oldestTransactionMs).toBe(0);
});

test("the share of dead rows is that of the worst table, once it has ten thousand", async () => {
  const client = await db.pool.connect();
  onTestFinished(() => client.release());
  await client.query("alter table belfry.lane set (autovacuum_enabled = false)");
  await client.query("insert into belfry.lane (name) select n::text from generate_series(1, 20000) n");
  expect((await oneRow(db.insight, readHealth, 1)).deadRowsPercent).toBe(0);
  await client.query("delete from belfry.lane where name::int <= 15000");
  await client.query("select pg_stat_force_next_flush()");
  expect((await oneRow(db.insight, readHealth, 1)).deadRowsPercent).toBeCloseTo(75, 0);
});
