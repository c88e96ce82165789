import type { Pool } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { endpointsOf } from "../../src/api/api.ts";
import type { Endpoint } from "../../src/api/endpoint.ts";
import { openApi } from "./harness.ts";

/** A hang detector, not a measure: a statement gives up after 20 s, a request within 5 s, a probe within 2 s. */
const timeout = 18_000;

/** What asks nothing of the database. */
const answered = ["getLive", "listKinds"];

const known = (example: object | undefined): string =>
  JSON.stringify(example ?? {})
    .replaceAll('"hello"', '"ping"')
    .replaceAll('"report"', '"shout"');

/** Each operation as the document shows it, by the kinds that the harness has. */
function requestsOf(endpoints: readonly Endpoint[]) {
  return endpoints.map(({ name, method, path, example = {} }) => {
    const { params, query, body } = example;
    const own = JSON.parse(known(params)) as Record<string, string>;
    const search = new URLSearchParams(JSON.parse(known(query)) as Record<string, string>).toString();
    const at = path.replaceAll(/:(\w+)/g, (_, each: string) => own[each] ?? "1");
    return { name, method, path: search === "" ? at : `${at}?${search}`, ...(body && { body: known(body) }) };
  });
}

test(
  "each route answers 503 while Postgres stands still, the probe first, and a write says that it may have happened",
  { timeout },
  async () => {
    const { call, database, options } = await openApi(undefined, { own: true });
    const requests = requestsOf(endpointsOf(options));
    const rows = await everyBackend(database.connections.main);
    signal(rows, "SIGSTOP");
    // Before the harness closes its pools.
    onTestFinished(() => signal(rows, "SIGCONT"));
    const order: string[] = [];
    const keyless = call("POST", "/jobs", { kind: "ping" });
    const answers = await Promise.all(
      requests.map(async ({ name, method, path, body }) => {
        const answer = await call(method, path, body);
        order.push(name);
        return { name, status: answer.status, code: answer.body.code };
      }),
    );
    expect((await keyless).body.detail).toContain("it came without a key");
    signal(rows, "SIGCONT");
    expect(answers).toEqual(
      requests.map(({ name, method }) => ({
        name,
        ...(answered.includes(name)
          ? { status: 200, code: undefined }
          : { status: 503, code: method === "GET" ? "store-away" : "outcome-unknown" }),
      })),
    );
    expect(order.filter((name) => !answered.includes(name))[0]).toBe("getReady");
    await expect.poll(async () => (await call("GET", "/jobs?kind=ping")).status, { timeout: 10_000 }).toBe(200);
    // What was answered as unknown happened once it went on; the key makes a repeat safe.
    expect((await call("POST", "/jobs", { kind: "ping", key: "first-hello" })).status).toBe(200);
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
