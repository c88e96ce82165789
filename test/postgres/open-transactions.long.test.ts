/** The event stream beside more open transactions than a cursor names. It needs a server that takes so many connections. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openConnections } from "../../src/postgres/connect.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { createDatabase } from "../../src/postgres/database.ts";
import { createPostgresStore } from "../../src/postgres/store.ts";
import type { StreamCursor } from "../../src/insight/event-stream.ts";
import { streamLimits } from "../../src/insight/stream-limits.ts";
import { startPostgres } from "../../src/local/services/postgres.ts";
import { insertOne } from "../contract/store/fixture.ts";
import { readEvents } from "../../src/insight/stream.ts";

const headerBytesMax = 16_384;
const folder = mkdtempSync(join(tmpdir(), "belfry-open-"));
let server: Awaited<ReturnType<typeof startPostgres>>;

beforeAll(async () => {
  server = await startPostgres({ folder, port: 0, settings: { max_connections: "500" } });
  await migrate({ url: server.url });
});
afterAll(async () => {
  await server.stop("immediate");
  rmSync(folder, { recursive: true, force: true });
});

async function openTransactions(count: number): Promise<readonly Client[]> {
  const clients: Client[] = [];
  for (let n = 0; n < count; n += 1) {
    const client = new Client({ connectionString: server.url });
    await client.connect();
    await client.query("begin; select pg_current_xact_id()");
    clients.push(client);
  }
  return clients;
}

test("each event comes once, in time, and a cursor fits into a header", { timeout: 120_000 }, async () => {
  const connections = openConnections({ url: server.url, applicationName: "open", connections: 2, txConnections: 1 });
  const store = createPostgresStore(connections);
  const insight = createDatabase(connections);
  let cursor: StreamCursor = (await readEvents(insight, null, 10)).cursor;
  const seen: string[] = [];
  const look = async (): Promise<void> => {
    for (let more = true; more;) {
      const page = await readEvents(insight, cursor, 1);
      expect(page.isGap).toBe(false);
      seen.push(...page.events.map((event) => event.job));
      ({ cursor, isMore: more } = page);
      expect(cursor.length).toBeLessThan(headerBytesMax / 2);
    }
  };
  const older = await openTransactions(streamLimits.streamOpenMax + 50);
  const first = await insertOne(store);
  const younger = await openTransactions(streamLimits.streamOpenMax);
  const second = await insertOne(store);
  await look();
  expect(seen).toEqual([]);
  for (const client of older.slice(0, 50)) await client.query("commit");
  await look();
  expect(seen).toEqual([first]);
  for (const client of older.slice(50)) await client.query("rollback");
  const third = await insertOne(store);
  await look();
  expect(seen).toEqual([first, second, third]);
  await Promise.all([...older, ...younger].map((client) => client.end()));
  await look();
  expect(seen).toEqual([first, second, third]);
  await connections.close();
});
