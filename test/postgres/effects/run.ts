import { Pool } from "pg";
import { openConnections } from "../../../src/adapters/postgres/connect.ts";
import { createOperations } from "../../../src/adapters/postgres/operations.ts";
import { createPostgresStore } from "../../../src/adapters/postgres/store.ts";
import { testClock } from "../../../src/adapters/postgres/test-clock.ts";
import { databaseOf, runOnce } from "../../../src/testing/server.ts";
import { migrateTemplate, startThrowawayServer } from "../../support/postgres-server.ts";
import type { Tour, World } from "./tour.ts";
import { type Before, type Effects, type Watch, watchEffects } from "./watch.ts";

/** A server of its own: how far the roll-up and the stream read depends on every transaction of the server. */
export async function openServer(): Promise<{
  run(tour: Tour, before?: Before): Promise<string>;
  close(): Promise<void>;
}> {
  // Statistics that are taken now and then change a plan, and with it which rows a limit takes.
  const { url, stop } = await startThrowawayServer({ autovacuum: "off" });
  await migrateTemplate(url);
  return {
    /**
     * @param before is called with each statement, before it is sent.
     * @returns a line for each thing that a statement answered and wrote, with how often it did.
     */
    async run({ name, parts, alsoWatched = [] }, before = async () => {}) {
      const seen: Effects = new Map();
      for (const [number, part] of parts.entries())
        await inWorld(url, `tour_${name.replaceAll("-", "_")}_${number}`, { seen, before, alsoWatched }, part);
      const lines = [...seen].flatMap(([statement, all]) =>
        [...all].map(([line, times], n) => `${statement} ${n + 1}, ${times} x: ${line}`),
      );
      return `${lines.toSorted().join("\n")}\n`;
    },
    close: stop,
  };
}

async function inWorld(
  server: string,
  name: string,
  watched: Watch,
  work: (world: World) => Promise<void>,
): Promise<void> {
  await runOnce(
    databaseOf(server, "postgres"),
    `create database ${name} template ${new URL(server).pathname.slice(1)}`,
  );
  const url = databaseOf(server, name);
  const pool = new Pool({ connectionString: url, max: 1 });
  // What is not yet gone when the database is dropped ends with an error.
  pool.on("error", () => {});
  pool.on("connect", (client) => void client.on("error", () => {}));
  const connections = openConnections({
    url,
    applicationName: "effects",
    connections: 1,
    txConnections: 1,
    prepare: false,
  });
  try {
    // Time stands still, so that what lies at a bound lies there exactly.
    await pool.query("update belfry.test_clock set origin = '2026-02-28T23:00:00Z', shift = interval '0', rate = 0");
    // In place of the one that is drawn at its first use.
    await pool.query("insert into belfry.stage_key (key) values ('drawn')");
    await watchEffects(pool, connections, watched);
    await work({
      store: createPostgresStore(connections),
      operations: createOperations(connections),
      clock: testClock(pool),
      connections,
      pool,
      url,
    });
  } finally {
    await connections.close();
    await pool.end();
    // Some sixty databases of 2,000 files each would be deleted at the end.
    await runOnce(databaseOf(server, "postgres"), `drop database ${name} with (force)`);
  }
}
