/** How long a connection, and what is asked of it, may take. */
import { createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openConnections, type PoolOptions } from "../../src/postgres/connect.ts";
import { postgresLimits } from "../../src/postgres/postgres-limits.ts";
import { createPostgresStore } from "../../src/postgres/store.ts";
import { until } from "../local/until.ts";
import { testDatabase } from "../support/database.ts";
import { listening } from "../support/listening.ts";

/** For this test, so that none waits for as long as a process does. */
function limited(over: Partial<Record<keyof typeof postgresLimits, number>>): void {
  const before = { ...postgresLimits };
  Object.assign(postgresLimits, over);
  onTestFinished(() => void Object.assign(postgresLimits, before));
}

function connectionsTo(url: string, options: Partial<PoolOptions> = {}) {
  const connections = openConnections({ url, applicationName: "belfry connect", ...options });
  onTestFinished(() => connections.close());
  return connections;
}

test("a handler's statement may take longer than one of Belfry's own may", async () => {
  limited({ statementMs: 300 });
  const { main, tx } = connectionsTo((await testDatabase()).url);
  await expect(main.query("select pg_sleep(1)")).rejects.toThrow("timeout");
  expect((await tx.query("select 1 as one from pg_sleep(1)")).rows).toEqual([{ one: 1 }]);
});

test("a server that takes connections and says nothing is given up long before a busy pool is", async () => {
  limited({ connectMs: 200 });
  const taken = new Set<Socket>();
  const server = createServer((socket) => taken.add(socket.on("error", () => {})));
  const port = await listening(server);
  onTestFinished(() => {
    for (const socket of taken) socket.destroy();
  });
  const store = createPostgresStore(connectionsTo(`postgresql://u:p@127.0.0.1:${port}/db`));
  await expect(store.now()).rejects.toThrow(`cannot use Postgres at 127.0.0.1:${port}/db`);
}, 20_000);

test("each connection asks for its own password: a token of IAM is good for a quarter of an hour", async () => {
  const { url, pool } = await testDatabase();
  let asked = 0;
  const password = () => ((asked += 1), Promise.resolve(decodeURIComponent(new URL(url).password)));
  const { main } = connectionsTo(url, { password });
  const pidOf = async () => (await main.query<{ pid: number }>("select pg_backend_pid() as pid")).rows[0]?.pid;
  const pid = await pidOf();
  expect([await pidOf(), asked]).toEqual([pid, 1]);
  await pool.query("select pg_terminate_backend($1)", [pid]);
  await until("the pool to notice", () => main.totalCount === 0);
  expect(await pidOf()).not.toBe(pid);
  expect(asked).toBe(2);
});
