import { once } from "node:events";
import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import type { Page } from "playwright-core";
import { bundleConsole } from "../../src/bundle-console.ts";
import { listenOnLoopback } from "../../src/local/services/server.ts";
import { openBrowser, openPage } from "../../test/console/browser.ts";
import { apiOn } from "../api-app.ts";
import type { Database, Ground } from "../ground.ts";
import { loadManyJobs, manyJobs } from "../many-jobs.ts";
import { compared, type Figure, rounds } from "../measure.ts";
import { aRun, tasksOf } from "../run-rows.ts";

const runs = 50;
const renderMsMax = 1_000;

/** The element that shows that a screen has drawn the API's answer. */
const screens = [
  { name: "overview", path: "/", sign: ".cards a" },
  { name: "jobs", path: "/jobs", sign: ".row" },
  { name: "jobs that failed", path: "/jobs?q=state%3Afailed", sign: ".row" },
  { name: "one job", path: "/jobs/77", sign: ".facts" },
  { name: "schedules", path: "/schedules", sign: ".empty, .table" },
  { name: "runs", path: "/runs", sign: ".table tbody tr" },
  { name: "dead letters", path: "/dead-letters", sign: ".table tbody tr" },
] as const;

/** Each screen on the real API, beside a million finished jobs and, as the roof, on an empty database. */
export async function loadedScreens(ground: Ground): Promise<readonly Figure[]> {
  const opened = await openBrowser();
  if (typeof opened === "string") throw new Error(`no browser runs here: ${opened}`);
  const full = await serve(await ground.database());
  const small = await serve(await ground.database());
  try {
    await fill(full.database, manyJobs.finished);
    await fill(small.database, 100);
    const { page, close } = await openPage(opened.browser, "http://127.0.0.1");
    const figures: Figure[] = [];
    for (const { name, path, sign } of screens) {
      const pairs: { product: number; roof: number }[] = [];
      for (let round = 0; round <= rounds; round += 1) {
        const product = await timeUntil(page, `${full.url}/console${path}`, sign);
        const roof = await timeUntil(page, `${small.url}/console${path}`, sign);
        if (round > 0) pairs.push({ product, roof });
      }
      figures.push(compared(`console beside 1,000,000 jobs: ${name}`, "ms", pairs, { valueMax: renderMsMax }));
    }
    await close();
    return figures;
  } finally {
    await opened.close();
    await full.stop();
    await small.stop();
  }
}

async function fill({ pool, store }: Database, finished: number): Promise<void> {
  await loadManyJobs(pool, finished);
  const own = store(1);
  for (let n = 0; n < runs; n += 1)
    await own.startRun(aRun(`run-${n}`, tasksOf([[], [0], [0], [1, 2]])), { dispatchWindowMs: 0 });
  await pool.query("analyze");
}

async function timeUntil(page: Page, url: string, sign: string): Promise<number> {
  const begin = performance.now();
  await page.goto(url);
  await page.locator(sign).first().waitFor();
  return performance.now() - begin;
}

async function serve(database: Database) {
  const files = bundleConsole();
  const server = createAdaptorServer({ fetch: apiOn(database, { console: () => files }).fetch }) as Server;
  const port = await listenOnLoopback(server, 0, "the API");
  return {
    database,
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}
