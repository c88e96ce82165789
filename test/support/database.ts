import { Pool, type PoolClient } from "pg";
import { inject, onTestFinished } from "vitest";
import { type Connections, openConnections } from "../../src/postgres/connect.ts";
import { createSession } from "../../src/postgres/session.ts";
import { createTally } from "../../src/postgres/tally.ts";
import type { Tally } from "../../src/machine/ports.ts";
import { createDatabase } from "../../src/postgres/database.ts";
import { type TestClock, testClock } from "../../src/postgres/test-clock.ts";
import type { Database } from "../../src/insight/sql-query.ts";
import { type TestStore, testStore } from "./looks.ts";

export interface TestDatabase {
  readonly url: string;
  /** For raw SQL of the test itself; ended by `close`. */
  readonly pool: Pool;
  readonly connections: Connections;
  readonly store: TestStore;
  /** Compares each row with the shape of its query. */
  readonly insight: Database;
  readonly tally: Tally;
  /** Moves and scales `belfry.now()` of this database only. It starts at real time, at rate 1. */
  readonly clock: TestClock;
  close(): Promise<void>;
}

export interface FreshOptions {
  /** Of the store's main pool. */
  readonly connections?: number;
  readonly txConnections?: number;
  /** Of the store; default as in production. */
  readonly dispatchWindowMs?: number;
  /** See `ConnectOptions`. */
  readonly prepare?: boolean;
  /** For a test that changes tables or partitions: the database is made for it alone and dropped afterwards. */
  readonly own?: boolean;
}

/** A database and its connections, between two tests of a file: opening them and learning the tables again costs more than most tests. */
interface Kept {
  readonly url: string;
  readonly pool: Pool;
  readonly connections: Connections;
  /** What its connections were opened with. */
  readonly way: string;
  /** Whether a test gave a connection back inside a transaction. */
  isInTransaction: boolean;
}

let free: Kept[] = [];

/**
 * A migrated, empty database, which a test before may have used with the same connections: a test must not change tables, and what
 * watches new connections sees none, unless it asks for its own.
 */
export async function freshDatabase(options: FreshOptions = {}): Promise<TestDatabase> {
  const { connections: main = 4, txConnections = 2, prepare = true, own: isOwn = false } = options;
  const way = JSON.stringify({ main, txConnections, prepare });
  const place = isOwn ? -1 : free.findLastIndex((each) => each.way === way);
  const kept = free.splice(place, place < 0 ? 0 : 1)[0] ?? (await openNew({ main, txConnections, prepare }, way));
  const { url, pool, connections } = kept;
  let isOpen = true;
  return {
    url,
    pool,
    connections,
    store: testStore(connections, options),
    insight: createDatabase(connections, { ...options, checksRows: true }),
    tally: createTally(createSession(connections.main, connections.where)),
    clock: testClock(pool),
    async close() {
      if (!isOpen) return;
      isOpen = false;
      if (!isOwn && poolsOf(kept).every(isIdle) && !kept.isInTransaction) {
        await empty(pool);
        free.push(kept);
        return;
      }
      await end(kept);
      await drop(url);
      if (kept.isInTransaction) throw new Error("the test gave a connection back to its pool inside a transaction");
    },
  };
}

/** The same, until the test that asks has ended. */
export async function testDatabase(options: FreshOptions = {}): Promise<TestDatabase> {
  const db = await freshDatabase(options);
  onTestFinished(() => db.close());
  return db;
}

/** A session of its own in a transaction. What is still open when the test ends is rolled back. */
export async function otherSession(pool: Pool): Promise<PoolClient> {
  const client = await pool.connect();
  onTestFinished(async () => {
    await client.query("rollback").finally(() => client.release());
  });
  await client.query("begin");
  return client;
}

const poolsOf = ({ pool, connections }: Kept): readonly Pool[] => [pool, connections.main, connections.tx];

/** A client that is still out may do anything, and a test may have closed the pool: such a database is not used again. */
const isIdle = (pool: Pool): boolean => !pool.ending && pool.idleCount === pool.totalCount && pool.waitingCount === 0;

async function end({ connections, pool }: Kept): Promise<void> {
  await connections.close();
  if (!pool.ending) await pool.end();
}

/** After each file: what is left open would keep its process alive. */
export async function endKept(): Promise<void> {
  const ending = free;
  free = [];
  await Promise.all(ending.map(end));
}

async function openNew(
  { main, txConnections, prepare }: { main: number; txConnections: number; prepare: boolean },
  way: string,
): Promise<Kept> {
  const url = await create(inject("postgresTemplate"));
  const pool = new Pool({ connectionString: url, max: 8 });
  pool.on("error", () => {});
  const connections = openConnections({
    url,
    applicationName: "belfry test",
    connections: main,
    txConnections,
    prepare,
  });
  const kept: Kept = { url, pool, connections, way, isInTransaction: false };
  for (const each of poolsOf(kept)) {
    // With an error the pool ends it.
    each.on("release", (error, client) => {
      if (!error && ["T", "E"].includes(client.getTransactionStatus() ?? "")) kept.isInTransaction = true;
    });
  }
  return kept;
}

/** A database without Belfry's tables. */
export async function blankDatabase(): Promise<{ url: string; close: () => Promise<void> }> {
  const url = await create("template0");
  return { url, close: () => drop(url) };
}

let made = 0;

async function create(from: string): Promise<string> {
  made += 1;
  const name = `${inject("postgresTemplate")}_${process.pid}_${made}`;
  await onServer(`create database ${name} template ${from} strategy file_copy`);
  const url = new URL(inject("postgresUrl"));
  url.pathname = `/${name}`;
  return url.href;
}

const drop = (url: string): Promise<void> => onServer(`drop database ${new URL(url).pathname.slice(1)} with (force)`);

/**
 * Deleting a few rows is much faster than truncating dozens of partitions. Ids begin at 1 again.
 * @throws Error that names the sessions whose transaction a test left open, so that no test waits for them.
 */
export async function empty(pool: Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(emptying).catch(async (error: unknown) => {
      const { rows } = await client.query(holders);
      throw new Error(`a test left its database in use: ${JSON.stringify(rows)}`, { cause: error });
    });
  } finally {
    client.release();
  }
}

const holders = `
  select pid, application_name, state, query from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null`;

const emptying = `
    set local lock_timeout = '5s'; set local session_replication_role = replica;
    do $$ declare each record; begin
      for each in select sequencename as name, start_value as start from pg_sequences where schemaname = 'belfry'
      loop perform setval(format('belfry.%I', each.name), each.start, false); end loop;
    end $$;
    delete from belfry.job; delete from belfry.debounce; delete from belfry.lease; delete from belfry.event; delete from belfry.history; delete from belfry.outbox;
    delete from belfry.slot_group; delete from belfry.slot; delete from belfry.lock_fence; delete from belfry.fallback_lock; delete from belfry.queue_observation; delete from belfry.pass_place;
    delete from belfry.kind; delete from belfry.schedule; delete from belfry.schedule_version; delete from belfry.occurrence;
    delete from belfry.run; delete from belfry.edge; delete from belfry.run_done; delete from belfry.run_delta;
    delete from belfry.pred_delta; delete from belfry.quarantine; delete from belfry.lane; delete from belfry.worker;
    delete from belfry.reader; delete from belfry.minute; delete from belfry.hour; delete from belfry.usage; delete from belfry.kind_total; delete from belfry.bulk;
    delete from belfry.request_key; delete from belfry.sensitive; delete from belfry.stage_key; delete from belfry.cell_map; delete from belfry.audit; delete from belfry.archive; delete from belfry.batch_count; delete from belfry.circuit; delete from belfry.turn; delete from belfry.turn_lane; delete from belfry.circuit_count; delete from belfry.epoch where number > 1;
    update belfry.test_clock set origin = clock_timestamp(), rate = 1, shift = interval '0'`;

let admin: Pool | null = null;

/** One statement on the server's own database; the connection is kept for the life of the test process. */
async function onServer(text: string): Promise<void> {
  if (admin === null) {
    admin = new Pool({ connectionString: inject("postgresUrl"), max: 2, allowExitOnIdle: true });
    admin.on("error", () => {});
  }
  await admin.query(text);
}
