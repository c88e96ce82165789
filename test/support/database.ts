import pg from "pg";
import { inject } from "vitest";
import { type Connections, connect } from "../../src/adapters/postgres/connect.ts";
import { createPostgresStore } from "../../src/adapters/postgres/store.ts";
import { type TestClock, testClock } from "../../src/adapters/postgres/test-clock.ts";
import type { Store } from "../../src/core/ports.ts";

export interface TestDatabase {
  readonly url: string;
  /** For raw SQL of the test itself; ended by `close`. */
  readonly pool: pg.Pool;
  readonly connections: Connections;
  readonly store: Store;
  /** Moves and scales `belfry.now()` of this database only. */
  readonly clock: TestClock;
  close(): Promise<void>;
}

let made = 0;

/** A database of its own: migrated, empty, with a clock the test moves. */
export async function freshDatabase(options: { connections?: number; txConnections?: number } = {}): Promise<TestDatabase> {
  const { url, drop } = await emptyDatabase(inject("postgresTemplate"));
  const pool = new pg.Pool({ connectionString: url, max: 8 });
  pool.on("error", () => {});
  const connections = connect({
    url,
    applicationName: "belfry test",
    connections: options.connections ?? 4,
    txConnections: options.txConnections ?? 2,
  });
  return {
    url,
    pool,
    connections,
    store: createPostgresStore(connections),
    clock: testClock(pool),
    async close() {
      await Promise.all([pool.end(), connections.close()]);
      await drop();
    },
  };
}

/** A database copied from `template`; without one it has no tables at all. */
export async function emptyDatabase(template = "template0"): Promise<{ url: string; drop: () => Promise<void> }> {
  made += 1;
  const name = `belfry_${process.pid}_${made}_${Math.floor(performance.timeOrigin + performance.now()) % 1_000_000}`;
  const server = inject("postgresUrl");
  await onServer(server, `create database ${name} template ${template}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(server, `drop database ${name} with (force)`) };
}

let admin: pg.Pool | null = null;

/** One statement on the server's own database; the connection is kept for the life of the test process. */
async function onServer(url: string, text: string): Promise<void> {
  if (admin === null) {
    admin = new pg.Pool({ connectionString: url, max: 2, allowExitOnIdle: true });
    admin.on("error", () => {});
  }
  await admin.query(text);
}
