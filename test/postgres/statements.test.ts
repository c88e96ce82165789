import type { Pool } from "pg";
import { describe, expect, test } from "vitest";
import { insightLimits } from "../../src/insight/insight-limits.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { isElsewhere, type Plan, statementNames, watchPlans } from "./plans.ts";
import { archiveTour } from "./archive-tour.ts";
import { operationsTour } from "./operations-tour.ts";
import { tour } from "./tour.ts";

/** Read everything on purpose: for people, or once a deploy; and the server's own list of tables. */
const mayScan = new Set([
  "schedules",
  "schedules-changed",
  "schedules-search",
  "night-pauses",
  "partition-work",
  "health",
]);

/** Makes tables: it reads the catalog, and all of it again when other tests have just made theirs. */
const readsCatalog = new Set(["partition-make", "partition-drop"]);

/** For people, a bounded number of rows but many: `limits` says how many each looks at. */
const looksAtMany = new Set([
  "due-soon",
  "night-bars",
  "night-cells",
  "live",
  "failure-groups",
  "slots",
  "workers",
  "roll-up",
  "roll-up-end",
  "waiting",
  "requeue-not-yet-due",
]);
const isWide = (name: string): boolean =>
  [mayScan, looksAtMany, readsCatalog].some((wide) => wide.has(name)) || name.startsWith("search-");

/** Holds only what runs now. */
const small = "lease";

/** Pages one execution may touch, whatever lies in the tables: some are for 10 rows with 9 indexes, events and partitions. */
const buffersMax = 600;

/** Counting looks at `countedRowsMax` rows of eight kinds at most, each on a page of its own if need be. */
const ofCounting = 8 * insightLimits.countedRowsMax;
/** A page of messages reaches each of its jobs by the key of that job. */
const ofMessages = 1_000;
const mayTouch = (name: string): number =>
  name === "counts" ? ofCounting : name === "reopen" ? ofMessages : buffersMax;

describe("every statement of the store", () => {
  test("has a name of its own", async () => {
    const names = await statementNames();
    expect(new Set(names).size).toBe(names.length);
  });

  test.each([
    { how: "planned each time", prepare: false, tours: 1 },
    { how: "with plans that were kept since the tables were empty", prepare: true, tours: 7 },
  ])("$how: runs on empty tables, and stays cheap after a burst of rows that no statistics know of", async (way) => {
    const db = await testDatabase({ own: true, connections: 1, prepare: way.prepare });
    await db.pool.query("analyze");
    const { plans } = await watchPlans(db);
    await operationsTour(db.connections);
    await archiveTour(db.connections);
    for (let n = 0; n < way.tours; n += 1) await tour(db.store, db.clock, `before-${n}`);
    // The roll-up stops before the oldest transaction open, also in other tests' databases: let it begin far before that.
    await db.pool.query("update belfry.reader set upto = '3' where name = 'roll-up'");
    await operationsTour(db.connections);
    const seen = new Set(plans.map((plan) => plan.name));
    expect((await statementNames()).filter((name) => !isElsewhere(name) && !seen.has(name))).toEqual([]);
    expect((await keptPlans(db)).includes("belfry_claim")).toBe(way.prepare);
    plans.length = 0;
    await burst(db.pool);
    await tour(db.store, db.clock, "after");
    await operationsTour(db.connections);
    await archiveTour(db.connections);
    expect(
      plans.filter((plan) => plan.scanned.some((table) => table !== small) && !isWide(plan.name)).map(readable),
    ).toEqual([]);
    expect(plans.filter((plan) => plan.buffers > mayTouch(plan.name) && !isWide(plan.name)).map(readable)).toEqual([]);
  });
});

/** Statements whose plan the store's connection made once, without values, and keeps. */
async function keptPlans({ connections }: TestDatabase): Promise<readonly string[]> {
  const { rows } = await connections.main.query<{ name: string }>(
    "select name from pg_prepared_statements where generic_plans > 0",
  );
  return rows.map((row) => row.name);
}

const readable = ({ name, buffers, scanned }: Plan): string => `${name}: ${buffers} pages, scanned ${scanned.join()}`;

/** 60,000 jobs in every state with their history, most of them later, held or finished; and 10,000 open runs of two jobs each. */
async function burst(pool: Pool): Promise<void> {
  await pool.query(`
    insert into belfry.job (kind, payload, lane, state, event_id, hold, held_on, due_at, generation, attempt, max_attempts,
      lease_ms, retention_ms, trace, worker, started_at, lease_id, dispatched_at, finished_at, error_code, created_at, slot_keys)
    select 'burst', '{}', case when n % 7 = 0 then 'mail' else 'default' end, s.state::belfry.job_state, 0,
      case when s.held then 'slot' else 'none' end::belfry.job_hold, case when s.held then 'cap:burst' else '' end,
      belfry.now() + case when s.state = 'PENDING' and not s.held then interval '1 day' else interval '-1 minute' end,
      1, 1, 4, 20000, 2592000000, 't', 'w', belfry.now(), case when s.state = 'RUNNING' then -1 end,
      case when s.state <> 'PENDING' then belfry.now() - interval '1 second' end,
      case when s.state in ('SUCCESS', 'FAILED') then belfry.now() end, case when s.state = 'FAILED' then 'Burst' end, belfry.now(),
      case when s.held then array['cap:burst'] end
    from generate_series(1, 10000) n
    cross join (values ('PENDING', false), ('PENDING', true), ('QUEUED', false), ('RUNNING', false), ('SUCCESS', false),
      ('FAILED', false)) s (state, held);
    with runs as (
      insert into belfry.run (kind, key, version, state, sealed, stopped, total, created_at)
      select 'burst', n::text, 1, case when n % 5000 = 0 then 'CANCELING' else 'RUNNING' end::belfry.run_state, true, n % 500 = 1, 2, belfry.now()
      from generate_series(1, 10000) n returning id
    )
    insert into belfry.job (kind, payload, lane, state, event_id, due_at, generation, attempt, max_attempts, lease_ms, retention_ms,
      trace, created_at, run_id, task)
    select 'burst', '{}', 'default', 'PENDING', 0, belfry.now() + interval '1 day', 1, 0, 4, 20000, 2592000000, 't', belfry.now(), id, t
    from runs cross join (values ('a'), ('b')) tasks (t);
    with leases as (
      insert into belfry.lease (worker, lane, ms, until, job_ids)
      select 'w', 'default', 20000, belfry.now() + interval '1 hour', array_agg(id)
      from belfry.job where kind = 'burst' and state = 'RUNNING' group by id % 1000
      returning id, job_ids
    )
    update belfry.job j set lease_id = l.id from leases l where j.id = any(l.job_ids);
    alter table belfry.event disable trigger event_drawn;
    insert into belfry.event (id, at, from_state, to_state, job_ids, attempts, generations)
      select belfry.draw_event(), belfry.now(), null, 'QUEUED', array[id], array[0], array[1]
      from belfry.job where kind = 'burst';
    alter table belfry.event enable trigger event_drawn;
    insert into belfry.history (job_id, at, from_state, to_state, attempt, generation, worker, started_at)
      select id, belfry.now(), 'RUNNING', 'RETRY_WAIT', 1, 1, 'w', belfry.now() from belfry.job where kind = 'burst';
    insert into belfry.outbox (at, lane, job_ids, generations)
      select belfry.now() + interval '1 hour', 'default', array_agg(id), array_agg(1)
      from belfry.job where kind = 'burst' and state = 'QUEUED' group by id % 500;
    insert into belfry.slot_group (key, size, on_refusal, reason)
      select 'cap:' || n, 20, 'hold', 'slot' from generate_series(1, 200) n;
    insert into belfry.slot (key, n, job_id, attempt)
      select 'cap:' || k, n, k * 100 + n, 1 from generate_series(1, 200) k, generate_series(1, 20) n;
    insert into belfry.schedule (id, app, version, source, spec, enabled, decided_until, next_at, ledger_from, created_at, updated_at)
      select 'burst-' || n, 'burst', 1, 'code', '{}', true, belfry.now(), belfry.now() + interval '1 day', belfry.now(),
        belfry.now(), belfry.now() from generate_series(1, 5000) n;
    insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, outcome, schedule_version, job_id, planned_at)
      select 'burst-' || n % 100, n::text, 0, 'UTC', belfry.now() + n * interval '1 minute', 'PLANNED', 1, n, belfry.now()
      from generate_series(1, 20000) n`);
}
