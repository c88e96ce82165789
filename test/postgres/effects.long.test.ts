import { Pool } from "pg";
import { expect, test } from "vitest";
import { openConnections } from "../../src/adapters/postgres/connect.ts";
import { createOperations } from "../../src/adapters/postgres/operations.ts";
import { createPostgresStore } from "../../src/adapters/postgres/store.ts";
import { testClock } from "../../src/adapters/postgres/test-clock.ts";
import { migrateTemplate, startThrowawayServer } from "../support/postgres-server.ts";
import { effectsTour } from "./effects-tour.ts";
import { watchEffects } from "./effects.ts";
import { operationsTour } from "./operations-tour.ts";
import { tour } from "./tour.ts";

test("each statement answers and writes, row for row, what effects.txt says", { timeout: 120_000 }, async () => {
  // A server of its own: how far the roll-up and the stream read depends on every transaction of the server.
  const { url, stop } = await startThrowawayServer();
  await migrateTemplate(url);
  const pool = new Pool({ connectionString: url, max: 1 });
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
    const seen = await watchEffects(pool, connections);
    const [store, clock, operations] = [
      createPostgresStore(connections),
      testClock(pool),
      createOperations(connections),
    ];
    // Each finds what those before it left: rows in every state that it must not touch.
    for (const tag of ["first", "second"]) {
      await tour(store, clock, tag);
      await operationsTour(operations);
      await effectsTour({ store, operations, clock }, tag);
    }
    const lines = [...seen].flatMap(([name, all]) => all.map((line, n) => `${name} ${n + 1}: ${line}`));
    await expect(`${lines.toSorted().join("\n")}\n`).toMatchFileSnapshot("./effects.txt");
  } finally {
    await connections.close();
    await pool.end();
    await stop();
  }
});
