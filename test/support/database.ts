import { Pool } from "pg";
import { expect, inject } from "vitest";
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

/**
 * A migrated, empty database. Making one takes 40 ms and more, so those that only held rows are emptied and used again:
 * a test must not change tables unless it asks for its own.
 */
export async function freshDatabase(options: FreshOptions = {}): Promise<TestDatabase> {
  const isOwn = options.own === true;
  const free = emptiedOf(expect.getState().testPath ?? "");
  const url = (isOwn ? undefined : free.pop()) ?? (await create(inject("postgresTemplate")));
  const pool = new Pool({ connectionString: url, max: 8 });
  pool.on("error", () => {});
  const connections = openConnections({
    url,
    applicationName: "belfry test",
    connections: options.connections ?? 4,
    txConnections: options.txConnections ?? 2,
    prepare: options.prepare ?? true,
  });
  return {
    url,
    pool,
    connections,
    store: testStore(connections, options),
    insight: createDatabase(connections, { ...options, checksRows: true }),
    tally: createTally(createSession(connections.main, connections.where)),
    clock: testClock(pool),
    async close() {
      await connections.close();
      if (!isOwn) await empty(pool);
      await pool.end();
      if (isOwn) await drop(url);
      else free.push(url);
    },
  };
}

/** A database without Belfry's tables. */
export async function blankDatabase(): Promise<{ url: string; close: () => Promise<void> }> {
  const url = await create("template0");
  return { url, close: () => drop(url) };
}

/** Only within one file: the sequences of an emptied database go on, which the first test of the next file need not expect. */
let emptied: { file: string; urls: string[] } = { file: "", urls: [] };
let made = 0;

function emptiedOf(file: string): string[] {
  if (emptied.file !== file) emptied = { file, urls: [] };
  return emptied.urls;
}

async function create(from: string): Promise<string> {
  made += 1;
  const name = `${inject("postgresTemplate")}_${process.pid}_${made}`;
  await onServer(`create database ${name} template ${from}`);
  const url = new URL(inject("postgresUrl"));
  url.pathname = `/${name}`;
  return url.href;
}

const drop = (url: string): Promise<void> => onServer(`drop database ${new URL(url).pathname.slice(1)} with (force)`);

/** Deleting a few rows is much faster than truncating dozens of partitions. */
export async function empty(pool: Pool): Promise<void> {
  await pool.query(`
    delete from belfry.job; delete from belfry.debounce; delete from belfry.lease; delete from belfry.event; delete from belfry.history; delete from belfry.outbox;
    delete from belfry.slot_group; delete from belfry.slot; delete from belfry.lock_fence; delete from belfry.fallback_lock; delete from belfry.queue_observation; delete from belfry.pass_place;
    delete from belfry.kind; delete from belfry.schedule; delete from belfry.schedule_version; delete from belfry.occurrence;
    delete from belfry.run; delete from belfry.edge; delete from belfry.run_done; delete from belfry.run_delta;
    delete from belfry.pred_delta; delete from belfry.quarantine; delete from belfry.lane; delete from belfry.worker;
    delete from belfry.reader; delete from belfry.minute; delete from belfry.hour; delete from belfry.kind_total; delete from belfry.bulk;
    delete from belfry.request_key; delete from belfry.audit; delete from belfry.archive; delete from belfry.batch_count; delete from belfry.circuit; delete from belfry.turn; delete from belfry.turn_lane; delete from belfry.circuit_count; delete from belfry.epoch where number > 1;
    update belfry.test_clock set origin = clock_timestamp(), rate = 1, shift = interval '0'`);
}

let admin: Pool | null = null;

/** One statement on the server's own database; the connection is kept for the life of the test process. */
async function onServer(text: string): Promise<void> {
  if (admin === null) {
    admin = new Pool({ connectionString: inject("postgresUrl"), max: 2, allowExitOnIdle: true });
    admin.on("error", () => {});
  }
  await admin.query(text);
}
