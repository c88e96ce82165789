import { get } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startApi } from "../../src/local/api-process.ts";
import { Children, withLastWords } from "../../src/local/process/children.ts";
import { freshDatabase } from "../support/database.ts";
import { freshFolder } from "./folder.ts";
import { slowMs } from "./greeting-system.ts";
import { writeGreetingApp } from "./greeting-app.ts";
import { until } from "./until.ts";
import { keepCode } from "../../src/local/code.ts";

async function begin() {
  const { url: database, pool, close } = await freshDatabase({ own: true });
  onTestFinished(close);
  await pool.query(
    `do $$ begin execute format('alter database %I set synchronous_commit = on', current_database()); end $$`,
  );
  const folder = freshFolder();
  const children = new Children(freshFolder(), withLastWords);
  const app = writeGreetingApp(folder, "hello");
  const env = {
    PATH: process.env["PATH"] ?? "",
    DATABASE_URL: database,
    AWS_ENDPOINT_URL: "http://127.0.0.1:9",
    BELFRY_APPS: app.href,
  };
  const api = await startApi({ children, env, ports: [0] });
  onTestFinished(() => api.stop());
  /** The API's next code: the app's module holds this, whatever its file does. */
  const exchange = async (source: string): Promise<void> => {
    const modules = { [app.href]: { format: "module-typescript", source } };
    (await api.prepare(keepCode(folder, { modules, imports: {} }).file)).takeOver();
  };
  return { api, children, exchange };
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
