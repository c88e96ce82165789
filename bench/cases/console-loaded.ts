import { once } from "node:events";
import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import type { Page } from "playwright-core";
import { bundleConsole } from "../../src/bundle-console.ts";
import { listenOnLoopback } from "../../src/local/services/server.ts";
import { openBrowser, openPage } from "../../test/console/browser.ts";
import { apiOn } from "../api-app.ts";
import type { Database, Ground } from "../ground.ts";
import { busiestTaskMs } from "../main-thread.ts";
import { loadManyJobs, manyJobs } from "../many-jobs.ts";
import { loadManySchedules, manySchedules } from "../many-schedules.ts";
import { compared, type Figure, measured, rounds } from "../measure.ts";
import { aRun, tasksOf } from "../run-rows.ts";

const runs = 50;
const wideRun = "wide";
const wideTasks = 10_000;
const renderMsMax = 1_000;
const taskCpuMsMax = 50;
const firstRequestsMax = 3;
const refreshRequestsMax = 1;
/** Lists ask again at most once a second after a change. */
const refreshMs = 2_500;

interface Screen {
  readonly name: string;
  /** `WIDE` stands for the id of the run of 10,000 tasks. */
  readonly path: string;
  /** The element that shows that the screen has drawn the API's answer. */
  readonly sign: string;
}

const jobScreens: readonly Screen[] = [
  { name: "overview", path: "/", sign: ".cards a" },
  { name: "jobs", path: "/jobs", sign: ".row" },
  { name: "jobs that failed", path: "/jobs?q=state%3Afailed", sign: ".row" },
  { name: "one job", path: "/jobs/77", sign: ".facts" },
  { name: "kinds", path: "/kinds", sign: ".table tbody tr, .empty" },
  { name: "dead letters", path: "/dead-letters", sign: ".table tbody tr" },
  { name: "lanes", path: "/lanes", sign: ".table tbody tr" },
  { name: "locks", path: "/locks", sign: ".table tbody tr, .empty" },
];
const planScreens: readonly Screen[] = [
  { name: "10,000 schedules", path: "/schedules", sign: ".row" },
  { name: "one schedule", path: "/schedules/schedule-00100", sign: ".table tbody tr" },
  { name: "upcoming", path: "/upcoming?hours=24", sign: ".table tbody tr" },
  { name: "runs", path: "/runs", sign: ".table tbody tr" },
  { name: "a run of 10,000 tasks", path: "/runs/WIDE", sign: ".row" },
  { name: "its graph", path: "/runs/WIDE?view=graph", sign: ".graph-size a, .group-node" },
];

/** Each screen on the real API, beside a million finished jobs, 10,000 schedules and a run of 10,000 tasks; the roof is a small database. */
async function loadedScreens(ground: Ground, screens: readonly Screen[]): Promise<readonly Figure[]> {
  const opened = await openBrowser();
  if (typeof opened === "string") throw new Error(`no browser runs here: ${opened}`);
  const full = await serve(await ground.database());
  const small = await serve(await ground.database());
  try {
    const wide = await fill(full.database, { finished: manyJobs.finished, schedules: manySchedules, tasks: wideTasks });
    const few = await fill(small.database, { finished: 100, schedules: 100, tasks: 100 });
    const { page, close } = await openPage(opened.browser, "http://127.0.0.1");
    const figures: Figure[] = [];
    for (const { name, path, sign } of screens) {
      const at = `${full.url}/console${path.replace("WIDE", wide)}`;
      const atFew = `${small.url}/console${path.replace("WIDE", few)}`;
      const pairs: { product: number; roof: number }[] = [];
      const busiest: number[] = [];
      for (let round = 0; round <= rounds; round += 1) {
        const product = await timeUntil(page, at, sign);
        const roof = await timeUntil(page, atFew, sign);
        if (round > 0) pairs.push({ product, roof });
        if (round > 0) busiest.push(await busiestTaskMs(opened.browser, page, () => timeUntil(page, at, sign)));
      }
      const asked = await requestsOf(page, { url: full.url, at, sign });
      figures.push(
        compared(`${name}: shown beside 1,000,000 jobs`, "ms", pairs, { valueMax: renderMsMax }),
        measured(`${name}: busiest task of the page`, "CPU ms", busiest, { valueMax: taskCpuMsMax }),
        measured(`${name}: requests to the first content`, "", [asked.first], { valueMax: firstRequestsMax }),
        measured(`${name}: requests of a refresh`, "", [asked.refresh], { valueMax: refreshRequestsMax }),
      );
    }
    await close();
    return figures;
  } finally {
    await opened.close();
    await full.stop();
    await small.stop();
  }
}

export const screensOfJobs = (ground: Ground): Promise<readonly Figure[]> => loadedScreens(ground, jobScreens);
export const screensOfPlans = (ground: Ground): Promise<readonly Figure[]> => loadedScreens(ground, planScreens);

/** @returns the id of the wide run. */
async function fill(
  { pool, store }: Database,
  { finished, schedules, tasks }: { finished: number; schedules: number; tasks: number },
): Promise<string> {
  await loadManyJobs(pool, finished);
  await loadManySchedules(pool, schedules);
  const own = store(1);
  for (let n = 0; n < runs; n += 1) await own.startRun(aRun(`run-${n}`, tasksOf([[], [0], [0], [1, 2]])));
  const layer = Math.min(100, tasks / 10);
  const layers = Array.from({ length: tasks }, (_, n) => (n < layer ? [] : [n - layer]));
  await own.startRun(aRun(wideRun, tasksOf(layers)));
  const [wide] = await own.runs({ key: wideRun, limit: 1 });
  if (wide === undefined) throw new Error("the run is not there");
  await pool.query("analyze");
  return wide.id;
}

/** Requests of the API, without the page's own files and the stream of events. */
async function requestsOf(page: Page, { url, at, sign }: { url: string; at: string; sign: string }) {
  // What the page before still asks is not counted.
  await page.goto("about:blank");
  let asked = 0;
  const count = (request: { url(): string }): void => {
    const { pathname } = new URL(request.url());
    if (!pathname.startsWith("/console") && pathname !== "/events") asked += 1;
  };
  page.on("request", count);
  await timeUntil(page, at, sign);
  const first = asked;
  await page.waitForTimeout(refreshMs);
  asked = 0;
  const headers = { "content-type": "application/json" };
  await fetch(`${url}/jobs`, { method: "POST", headers, body: JSON.stringify({ kind: "ping", delay: "1h" }) });
  await page.waitForTimeout(refreshMs);
  page.off("request", count);
  return { first, refresh: asked };
}

async function timeUntil(page: Page, url: string, sign: string): Promise<number> {
  const begin = performance.now();
  await page.goto(url);
  await page
    .locator(sign)
    .first()
    .waitFor()
    .catch(async (cause: unknown) => {
      const shows = await page.locator("main").innerText();
      throw new Error(`${url} did not show ${sign}, but: ${shows.slice(0, 1_000)}`, { cause });
    });
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
