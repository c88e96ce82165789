import type { Pool } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { openApi } from "./harness.ts";

/** A hang detector, not a measure: a statement gives up after 20 s, a request after 5 s, a probe after 2 s. */
const timeout = 18_000;

type Call = readonly [method: string, path: string, body?: unknown];

const calls: readonly Call[] = [
  ["GET", "/readyz"],
  ["GET", "/health"],
  ["GET", "/jobs"],
  ["GET", "/summary"],
  ["GET", "/schedules"],
  ["POST", "/jobs", { kind: "ping" }],
  ["POST", "/jobs", { kind: "ping", key: "once" }],
  ["POST", "/jobs/1/cancel", {}],
  ["POST", "/lanes/default/pause", {}],
  ["POST", "/schedules/ping-often/trigger", {}],
];

test(
  "each route answers 503 while Postgres stands still, and a write says that it may have happened",
  { timeout },
  async () => {
    const { call, database } = await openApi(undefined, { own: true });
    const rows = await everyBackend(database.connections.main);
    signal(rows, "SIGSTOP");
    // Before the harness closes its pools.
    onTestFinished(() => signal(rows, "SIGCONT"));
    const answers = await Promise.all(calls.map(([method, path, body]) => call(method, path, body)));
    signal(rows, "SIGCONT");
    expect(answers).toEqual(
      calls.map(([method]) =>
        expect.objectContaining({
          status: 503,
          body: expect.objectContaining({ code: method === "GET" ? "store-away" : "outcome-unknown" }) as unknown,
        }),
      ),
    );
    await expect.poll(async () => (await call("GET", "/jobs?kind=ping")).status).toBe(200);
    // What was answered as unknown happened once it went on; the key makes a repeat safe.
    expect((await call("POST", "/jobs", { kind: "ping", key: "once" })).status).toBe(200);
  },
);

/** Opens each connection that the pool may have, so that no request gets one that was not stopped. */
async function everyBackend(pool: Pool): Promise<readonly { pid: number }[]> {
  const clients = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
  const pids = await Promise.all(
    clients.map((client) => client.query<{ pid: number }>("select pg_backend_pid() as pid")),
  );
  for (const client of clients) client.release();
  return pids.flatMap(({ rows }) => rows);
}

function signal(rows: readonly { readonly pid: number }[], name: "SIGSTOP" | "SIGCONT"): void {
  for (const { pid } of rows) process.kill(pid, name);
}
