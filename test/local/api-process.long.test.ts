import { get } from "node:http";
import { bareEnvironment } from "../support/bare-environment.ts";
import { setImmediate as turn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startApi } from "../../src/local/api-process.ts";
import { Children, withLastWords } from "../../src/local/process/children.ts";
import { testDatabase } from "../support/database.ts";
import { freshFolder } from "./folder.ts";
import { slowMs } from "./greeting-system.ts";
import { writeGreetingApp } from "./greeting-app.ts";
import { until } from "./until.ts";
import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { keepCode } from "../../src/local/code.ts";

async function begin(more = "") {
  const { url: database, pool } = await testDatabase({ own: true });
  await pool.query(
    `do $$ begin execute format('alter database %I set synchronous_commit = on', current_database()); end $$`,
  );
  const folder = freshFolder();
  const children = new Children(freshFolder(), withLastWords);
  const app = writeGreetingApp(folder, "hello");
  appendFileSync(fileURLToPath(app), more);
  const env = {
    ...bareEnvironment,
    DATABASE_URL: database,
    AWS_ENDPOINT_URL: "http://127.0.0.1:9",
    BELFRY_APPS: app.href,
  };
  const hung: string[] = [];
  const api = await startApi({ children, env, ports: [0], onHung: (why) => hung.push(why) });
  onTestFinished(() => api.stop());
  /** The API's next code: the app's module holds this, whatever its file does. */
  const exchange = async (source: string): Promise<void> => {
    const modules = { [app.href]: { format: "module-typescript", source } };
    (await api.prepare(keepCode(folder, { modules, imports: {} }).file)).takeOver();
  };
  return { api, children, exchange, hung, folder };
}

/** One request on a connection of its own, as curl makes it. */
const ask = (url: string): Promise<number | string> =>
  new Promise((answered) => {
    get(`${url}/livez`, { agent: false }, (response) => {
      response.resume().once("end", () => answered(response.statusCode ?? 0));
    }).once("error", ({ message }) => answered(message));
  });

/** Asks again and again, one request after another, until `work` has ended. */
async function askDuring(url: string, work: Promise<unknown>): Promise<ReadonlySet<number | string>> {
  const seen = new Set<number | string>();
  const over = new AbortController();
  const ended = work.finally(() => over.abort());
  while (!over.signal.aborted) {
    seen.add(await ask(url));
    seen.add((await fetch(`${url}/livez`)).status);
    await turn();
  }
  await ended;
  return seen;
}

test(
  "an exchange of its code never takes the API off its port, and code that cannot start leaves the old one serving",
  async () => {
    const { api, children, exchange } = await begin();
    const pids = () => children.running().map(({ pid }) => pid);
    const before = pids();
    expect(await askDuring(api.url, exchange("export default [];"))).toEqual(new Set([200]));
    const after = await until("the old process's end", () => (pids().length === 1 ? pids() : null), slowMs);
    expect(after).not.toEqual(before);

    const refused = exchange("export default [").then(
      () => "it came up",
      (error: Error) => error.message,
    );
    expect(await askDuring(api.url, refused)).toEqual(new Set([200]));
    expect(await refused).toMatch(/the API ended with code 1/);
    expect(pids()).toEqual(after);
  },
  2 * slowMs,
);

test(
  "requests that arrive while the API is started again after its death wait for it",
  async () => {
    const { api, children } = await begin();
    for (const { pid } of children.running()) process.kill(pid, "SIGKILL");
    await until("its end", () => children.running().length === 0, slowMs);
    expect(await Promise.all([ask(api.url), ask(api.url)])).toEqual([200, 200]);
  },
  2 * slowMs,
);

/** Blocks the event loop for this long again and again, with a turn between. */
const busy = `
const spin = () => {
  const untilMs = performance.now() + 250;
  while (performance.now() < untilMs);
  setTimeout(spin, 0).unref();
};
spin();
`;

test(
  "an API that is only busy is not ended, however many callers give up before it takes them",
  async () => {
    const { api, children, hung } = await begin(busy);
    const [{ pid } = { pid: -1 }] = children.running();
    const port = Number(new URL(api.url).port);
    let gaveUp = 0;
    // Ten crowds: the way to the process was blocked for ten seconds by the first of them.
    for (let crowd = 0; crowd < 10; crowd += 1) {
      gaveUp += (await Promise.all(Array.from({ length: 200 }, () => askAndLeave(port)))).length;
    }
    expect(gaveUp).toBe(2_000);
    expect(await ask(api.url)).toBe(200);
    expect([hung, children.running().map((one) => one.pid)]).toEqual([[], [pid]]);
  },
  2 * slowMs,
);

/** A caller that leaves after two seconds without reading an answer. */
function askAndLeave(port: number): Promise<void> {
  const socket = createConnection({ port, host: "127.0.0.1" });
  socket.on("error", () => {});
  socket.write("GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
  const closed = new Promise<void>((resolve) => void socket.once("close", () => resolve()));
  setTimeout(() => socket.destroy(), 2_000);
  return closed;
}

test(
  "an API in an endless loop is replaced, and its callers are answered by the next",
  async () => {
    const loop = `
import { existsSync } from "node:fs";
const trap = new URL("./loop", import.meta.url);
setInterval(() => { while (existsSync(trap)) continue; }, 50).unref();
`;
    const { api, hung, folder } = await begin(loop);
    writeFileSync(join(folder, "loop"), "");
    await until("it to be ended", () => hung.length > 0, slowMs);
    expect(hung).toEqual([expect.stringMatching(/^ran for \d+ s without a turn of its event loop$/)]);
    rmSync(join(folder, "loop"));
    expect(await ask(api.url)).toBe(200);
  },
  4 * slowMs,
);
