import type { PoolClient } from "pg";
import { type Connections, openConnections } from "../../src/postgres/index.ts";
import { createDatabase } from "../../src/postgres/database.ts";
import type { TestClock } from "../../src/postgres/test-clock.ts";
import type { Database as Insight } from "../../src/insight/sql-query.ts";
import { type TestStore, testStore } from "../../test/support/looks.ts";
import { type Plan, watchPlans } from "../../test/postgres/plans.ts";
import type { Database } from "../ground.ts";

type Measured = Pick<Database, "url" | "pool">;

/** A database whose statements are explained by the server while they run. */
export interface World {
  readonly database: Measured;
  readonly connections: Connections;
  readonly store: TestStore;
  readonly insight: Insight;
  readonly clock: TestClock;
  /** What ran since it was emptied, in order. */
  readonly plans: Plan[];
  close(): Promise<void>;
}

export async function openWorld(database: Measured): Promise<World> {
  // What a connection does first with a table reads the catalog too: there is one, and it stays open between two rounds.
  const connections = openConnections({ url: database.url, applicationName: "belfry growth", connections: 1 });
  for (const each of [connections.main, connections.tx]) each.options.idleTimeoutMillis = 0;
  const { plans } = await watchPlans({ pool: database.pool, connections });
  const clock = await sessionClock(database, connections);
  return {
    database,
    connections,
    store: testStore(connections),
    insight: createDatabase(connections),
    clock,
    plans,
    close: () => connections.close(),
  };
}

/** The clock of the tests reads a table, and its pages would hide growth: this one is a setting of each session. */
async function sessionClock({ pool }: Measured, connections: Connections): Promise<TestClock> {
  const shifted = (clock: string): string =>
    `${clock}() + make_interval(secs => coalesce(current_setting('bench.shift', true)::float8, 0))`;
  await pool.query(`
    create or replace function belfry.now() returns timestamptz language sql stable as $$ select ${shifted("statement_timestamp")} $$;
    create or replace function belfry.clock() returns timestamptz language sql volatile as $$ select ${shifted("clock_timestamp")} $$`);
  let seconds = 0;
  const clients = new Set<PoolClient>();
  const shift = (client: PoolClient) => client.query("select set_config('bench.shift', $1, false)", [String(seconds)]);
  for (const each of [connections.main, connections.tx]) {
    each.on("connect", (client) => {
      clients.add(client);
      void shift(client);
    });
    each.on("remove", (client) => clients.delete(client));
  }
  return {
    async advance(ms) {
      seconds += ms / 1_000;
      for (const client of clients) await shift(client);
    },
    set: () => Promise.reject(new Error("this clock only advances")),
  };
}
